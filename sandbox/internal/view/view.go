// Package view says what of a workspace its processes do not get as it is on
// the host: what a spec hides, what it shows of that, and what it adds.
package view

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"harness"
)

// View is the parts of a workspace, with names relative to it and slashes, and
// what is elsewhere, with absolute ones.
type View struct {
	Hidden   []string // no one is below another
	Shown    []string // below what is hidden; read-only
	ReadOnly []string // elsewhere, or in the workspace and not hidden
	Writable []string // elsewhere, or below what is hidden
	// Broken says why something is not hidden; empty if all is.
	Broken string
}

// Of reads a spec.
func Of(spec harness.WorkspaceSpec) (*View, error) {
	v := &View{Writable: spec.Writable}
	for _, name := range spec.Hidden {
		rel, in, err := inside(spec.Directory, name)
		switch {
		case err != nil:
			return nil, fmt.Errorf("hide %q: %w", name, err)
		case in && rel == ".":
			v.Broken = "the workspace itself cannot be hidden"
		case in:
			v.Hidden = append(v.Hidden, rel)
		}
	}
	slices.Sort(v.Hidden) // whoever is above another comes first
	all := v.Hidden
	v.Hidden = nil
	for _, name := range all {
		if !v.covers(name) {
			v.Hidden = append(v.Hidden, name)
		}
	}
	for _, name := range spec.ReadOnly {
		if filepath.IsAbs(name) {
			v.ReadOnly = append(v.ReadOnly, name)
			continue
		}
		rel, _, err := inside(spec.Directory, name)
		if err == nil && !v.covers(rel) {
			err = fmt.Errorf("%w: it is not hidden", fs.ErrInvalid)
		}
		if err != nil {
			return nil, fmt.Errorf("show %q: %w", name, err)
		}
		v.Shown = append(v.Shown, rel)
	}
	return v, v.Check()
}

// inside returns the name of a path in dir, if it is there. Relative ones must be.
func inside(dir, name string) (rel string, in bool, err error) {
	if !filepath.IsAbs(name) {
		if rel = filepath.ToSlash(name); !fs.ValidPath(rel) || rel == "." {
			return "", false, fs.ErrInvalid
		}
		return rel, true, nil
	}
	for _, base := range []string{dir, resolve(dir)} {
		for _, p := range []string{name, resolve(name)} {
			if rel, err := filepath.Rel(base, p); err == nil && filepath.IsLocal(rel) {
				return filepath.ToSlash(rel), true, nil
			}
		}
	}
	return "", false, nil
}

// resolve follows the links of a path, or returns it if it is not there.
func resolve(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	return name
}

// Check reports whether what is writable is still what it was meant to be: a
// link in its place would open another directory.
func (v *View) Check() error {
	for _, name := range v.Writable {
		real, err := filepath.EvalSymlinks(name)
		switch {
		case err != nil:
			return fmt.Errorf("open %q for writing: %w", name, err)
		case real != name || name == "/" || !filepath.IsAbs(name):
			return fmt.Errorf("open %q for writing: %w: want the absolute path of a directory, without links", name, fs.ErrPermission)
		}
		if info, err := os.Stat(name); err != nil || !info.IsDir() {
			return fmt.Errorf("open %q for writing: %w", name, errors.Join(err, fs.ErrInvalid))
		}
	}
	return nil
}

// Hides reports whether a name is hidden, in whatever case it is written: there
// are file systems that make no difference.
func (v *View) Hides(name string) bool {
	return v.covers(name) && !slices.ContainsFunc(v.Shown, func(s string) bool { return below(name, s) })
}

// Holds reports whether a name may not be changed from outside: also what is
// shown of the hidden.
func (v *View) Holds(name string) bool { return v.covers(name) }

// Lists reports whether something that is directly in the directory is hidden.
func (v *View) Lists(dir string) bool {
	return slices.ContainsFunc(v.Hidden, func(h string) bool { return strings.EqualFold(path.Dir(h), dir) })
}

func (v *View) covers(name string) bool {
	return slices.ContainsFunc(v.Hidden, func(h string) bool { return below(name, h) })
}

// below reports whether name is dir or below it.
func below(name, dir string) bool {
	return len(name) >= len(dir) && strings.EqualFold(name[:len(dir)], dir) && (len(name) == len(dir) || name[len(dir)] == '/')
}
