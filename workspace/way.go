package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"harness/workspace/folder"
	"harness/workspace/object"
)

// restorer writes into the tree, through open directories only.
type restorer struct {
	store *object.Store
	root  *folder.Folder
	now   *dir
	temp  string         // the name of stage
	stage *folder.Folder // where files are made before they get their place; opened when needed
	count int
	spare string // a file on the stage that may be made another one
	moves bool   // names cannot be exchanged here

	path   string // of the directory that is open
	opened []*folder.Folder
	modes  map[string]uint32 // of directories, to be set at the end
	read   []byte
}

func (t *Tree) restorer(s *object.Store, now *dir, temp string) (*restorer, error) {
	root, err := folder.Open(t.root)
	if err != nil {
		return nil, err
	}
	return &restorer{store: s, root: root, now: now, temp: temp, modes: map[string]uint32{}}, nil
}

func (r *restorer) close() {
	r.leave()
	r.unstage()
	r.root.Close()
}

func (r *restorer) leave() {
	for _, f := range r.opened {
		f.Close()
	}
	r.opened, r.path = nil, ""
}

// in opens the directory at path, one name at a time, never through a link. It
// stays open until another one is asked for.
func (r *restorer) in(path string) (*folder.Folder, error) {
	if path == "" {
		return r.root, nil
	}
	if len(r.opened) > 0 && r.path == path {
		return r.opened[len(r.opened)-1], nil
	}
	r.leave()
	f := r.root
	for name := range strings.SplitSeq(path, "/") {
		if _, never := private(name); never {
			return nil, fmt.Errorf("%s: %w", name, folder.ErrName)
		}
		sub, err := f.Open(name)
		if err != nil {
			r.leave()
			return nil, err
		}
		r.opened = append(r.opened, sub)
		f = sub
	}
	r.path = path
	return f, nil
}

// change runs do in the directory of path, which may have to allow it first.
func (r *restorer) change(path string, do func(f *folder.Folder, name string) error) error {
	dir, name := split(path)
	if _, never := private(name); never {
		return folder.ErrName
	}
	f, err := r.in(dir)
	if err != nil {
		return err
	}
	return r.allow(f, dir, func() error { return do(f, name) })
}

// allow runs do in the directory f at dir. If the directory forbids it, it is
// made to allow it for the time being.
func (r *restorer) allow(f *folder.Folder, dir string, do func() error) error {
	err := do()
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	self, statErr := f.Self()
	if statErr != nil || self.Mode&0o700 == 0o700 || f.Chmod(self.Mode|0o700) != nil {
		return err
	}
	if _, planned := r.modes[dir]; !planned {
		r.modes[dir] = self.Mode
	}
	return do()
}

// setModes gives directories their modes, children before parents: a mode may
// forbid what comes after.
func (r *restorer) setModes() {
	paths := slices.Collect(maps.Keys(r.modes))
	slices.SortFunc(paths, func(a, b string) int { return depth(b) - depth(a) })
	for _, p := range paths {
		if f, err := r.in(p); err == nil {
			f.Chmod(r.modes[p])
		}
	}
	r.leave()
}
