//go:build linux

// Package cover makes the mounts with which a sandbox hides parts of a
// workspace: an empty directory over each, and on that what is shown or
// writable after all.
package cover

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"harness/internal/temp"
	"harness/sandbox/internal/pins"
	"harness/sandbox/internal/view"
)

// Cover is what lies over the hidden parts of one workspace.
type Cover struct {
	// Broken says why something is not covered; empty if all is.
	Broken string

	dir    string
	view   *view.View
	hidden []string  // that are covered, relative
	empty  *temp.Dir // nil if nothing is
}

// New makes a cover for the workspace in dir, which must be free of links. What
// is hidden and not there is made, empty: it could not be held otherwise. A link
// is not covered.
func New(dir string, v *view.View, p *pins.Pins) (c *Cover, err error) {
	c = &Cover{Broken: v.Broken, dir: dir, view: v}
	if len(v.Hidden) == 0 {
		return c, nil
	}
	for _, name := range v.Hidden {
		if err := c.make(name); errors.Is(err, errLink) {
			c.Broken = err.Error()
			continue
		} else if err != nil {
			return nil, fmt.Errorf("hide %s: %w", name, err)
		}
		c.hidden = append(c.hidden, name)
		p.Above(filepath.Join(dir, name))
	}
	if c.empty, err = temp.New(); err != nil {
		return nil, err
	}
	if err := os.WriteFile(c.file(), nil, 0o444); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

var errLink = errors.New("is a link")

// make sees to it that a hidden path is there, and is no link.
func (c *Cover) make(name string) error {
	path := filepath.Join(c.dir, name)
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		if err := root.MkdirAll(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if real != path {
		return fmt.Errorf("%s %w", path, errLink)
	}
	return nil
}

// file is what lies over a file.
func (c *Cover) file() string { return filepath.Join(c.empty.Path, "file") }

// Mounts returns the mounts, outermost first. They come after all others of the
// workspace.
func (c *Cover) Mounts() (mounts []pins.Mount, err error) {
	if err := c.view.Check(); err != nil {
		return nil, err
	}
	for i, name := range c.hidden {
		if err := c.make(name); err != nil {
			return nil, fmt.Errorf("%w: hide %s: %w", fs.ErrPermission, name, err)
		}
		path := filepath.Join(c.dir, name)
		info, err := os.Lstat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			mounts = append(mounts, pins.Mount{Path: path, From: c.file(), ReadOnly: true})
			continue
		}
		empty := filepath.Join(c.empty.Path, fmt.Sprint(i))
		inner, err := c.inner(path, empty)
		if err != nil {
			return nil, err
		}
		mounts = append(append(mounts, pins.Mount{Path: path, From: empty, ReadOnly: true}), inner...)
	}
	return mounts, nil
}

// inner returns what is mounted on the cover of a path, and makes the places for
// it there.
func (c *Cover) inner(path, empty string) (mounts []pins.Mount, err error) {
	err = os.MkdirAll(empty, 0o755)
	add := func(p string, readOnly bool) {
		rel, outside := filepath.Rel(path, p)
		if outside != nil || !filepath.IsLocal(rel) {
			return
		}
		err = errors.Join(err, os.MkdirAll(filepath.Join(empty, rel), 0o755))
		mounts = append(mounts, pins.Mount{Path: p, ReadOnly: readOnly})
	}
	for _, name := range c.view.Shown {
		p := filepath.Join(c.dir, name)
		if real, err := filepath.EvalSymlinks(p); err != nil || real != p {
			continue // it is not there, or leads elsewhere
		}
		if info, err := os.Stat(p); err == nil && info.IsDir() {
			add(p, true)
		}
	}
	for _, p := range c.view.Writable {
		add(p, false)
	}
	slices.SortStableFunc(mounts, func(a, b pins.Mount) int { return len(a.Path) - len(b.Path) })
	return mounts, err
}

// Elsewhere returns what is writable outside of the workspace.
func (c *Cover) Elsewhere() []string {
	return slices.DeleteFunc(slices.Clone(c.view.Writable), func(p string) bool {
		rel, err := filepath.Rel(c.dir, p)
		return err == nil && filepath.IsLocal(rel)
	})
}

// Close removes what was made to cover with. No process may have it any more.
func (c *Cover) Close() error {
	if c.empty == nil {
		return nil
	}
	return c.empty.Remove()
}
