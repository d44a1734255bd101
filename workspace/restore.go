package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"harness/workspace/folder"
	"harness/workspace/object"
)

// errChanged says that a path is no longer as the plan saw it.
var errChanged = errors.New("changed meanwhile")

// restorer writes into the tree, through open directories only.
type restorer struct {
	store *object.Store
	root  *folder.Folder
	now   *dir
	temp  string         // the name of stage
	stage *folder.Folder // where files are made before they get their place; opened when needed
	count int

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

// unstage removes the stage, on which nothing is left.
func (r *restorer) unstage() {
	if r.stage != nil {
		r.stage.Close()
		r.root.Remove(r.temp, true)
		r.stage = nil
	}
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

// makeWay removes what must go, children before parents: what was created
// since, and what stands where another kind of thing stood. It returns an
// outcome for every path it tried.
func (r *restorer) makeWay(ctx context.Context, p Plan) map[string]error {
	gone := slices.Clone(p.Delete)
	for _, c := range p.Restore {
		if c.now != nil && isDir(c.now) != isDir(c.want) {
			gone = append(gone, c)
		}
	}
	slices.SortStableFunc(gone, func(a, b Change) int { return depth(b.path) - depth(a.path) })
	tried := make(map[string]error, len(gone))
	for _, c := range gone {
		if err := ctx.Err(); err != nil {
			tried[c.path] = err
			continue
		}
		tried[c.path] = r.change(c.path, func(f *folder.Folder, name string) error {
			if err := r.unchanged(f, name, c); err != nil {
				return err
			}
			if c.now.Kind != Dir {
				return f.Remove(name, false)
			}
			err := f.Remove(name, true)
			if err == nil {
				r.leave() // the directory that is open may be the one that is gone
			}
			return notEmpty(err)
		})
	}
	return tried
}

// notEmpty turns the refusal to remove a directory into errChanged: it has
// something in it that the plan did not know.
func notEmpty(err error) error {
	if errors.Is(err, fs.ErrExist) { // ENOTEMPTY is one of its kinds
		return errChanged
	}
	return err
}

// unchanged returns errChanged unless name is as the plan saw it.
func (r *restorer) unchanged(f *folder.Folder, name string, c Change) error {
	st, err := f.Stat(name)
	if c.now == nil || err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			if c.now == nil {
				return nil
			}
			return errChanged
		}
		if err != nil {
			return err
		}
		return errChanged
	}
	if c.now.Kind == Dir {
		if st.Kind != folder.Dir {
			return errChanged
		}
		return nil
	}
	if c.now.Kind == Skipped { // forced
		return nil
	}
	n := r.now.find(c.path)
	if n == nil || !n.looks(&st) {
		return errChanged
	}
	if n.racy && n.Kind == File {
		return r.sameContent(f, name, n)
	}
	return nil
}

// sameContent reads the file again: its times cannot be trusted.
func (r *restorer) sameContent(f *folder.Folder, name string, n *node) error {
	if int64(len(r.read)) <= n.Size {
		r.read = make([]byte, n.Size+1)
	}
	got, _, _, err := f.ReadFull(name, r.read[:n.Size+1])
	if err != nil {
		return err
	}
	if int64(got) != n.Size || object.Sum(r.read[:got]) != n.ID {
		return errChanged
	}
	return nil
}

// restore makes path what the mark says. Whoever looks sees the old or the new.
func (r *restorer) restore(c Change) error {
	if isDir(c.want) {
		return r.restoreDir(c)
	}
	present := c
	if c.now != nil && isDir(c.now) {
		present.now = nil // it was removed by makeWay
	}
	data := c.data
	modeOnly := c.now != nil && c.now.Kind == File && c.want.Kind == File && c.now.ID == c.want.ID
	if c.want.Kind == File && !modeOnly && data == nil {
		var err error
		if data, err = r.store.Get(c.want.ID); err != nil {
			return err
		}
	}
	return r.change(c.path, func(f *folder.Folder, name string) error {
		if err := r.unchanged(f, name, present); err != nil {
			return err
		}
		if modeOnly {
			if f.ChmodFile(name, c.want.Mode) == nil {
				return nil
			}
			var err error
			if data, err = r.store.Get(c.want.ID); err != nil {
				return err
			}
		}
		staged, err := r.make(c.want, data)
		if err != nil {
			return err
		}
		if err = r.unchanged(f, name, present); err == nil { // writing took its time
			err = f.Move(r.stage, staged, name)
		}
		if err != nil {
			r.stage.Remove(staged, false)
		}
		return err
	})
}

// make makes a file or a link on the stage: a directory at the top of the tree,
// so that it is on the same file system, and all new files are in one place.
func (r *restorer) make(want *Entry, data []byte) (name string, err error) {
	if r.stage == nil {
		err := r.allow(r.root, "", func() error { return r.root.Mkdir(r.temp, 0o700) })
		if err != nil {
			return "", err
		}
		if r.stage, err = r.root.Open(r.temp); err != nil {
			return "", err
		}
	}
	r.count++
	name = strconv.Itoa(r.count)
	if want.Kind == Link {
		return name, r.stage.Symlink(want.Target, name)
	}
	return name, r.stage.Create(name, data, want.Mode)
}

func (r *restorer) restoreDir(c Change) error {
	if !isDir(c.now) {
		err := r.change(c.path, func(f *folder.Folder, name string) error {
			err := f.Mkdir(name, 0o700)
			if errors.Is(err, fs.ErrExist) {
				return errChanged
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	r.modes[c.path] = c.want.Mode
	return nil
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

// sweep removes the stage of a rewind that was killed.
func (r *restorer) sweep() error {
	f, err := r.root.Open(r.temp)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	names, err := f.Names(make([]byte, nameSpace))
	for _, name := range names {
		err = errors.Join(err, f.Remove(name, false))
	}
	return errors.Join(err, r.root.Remove(r.temp, true))
}
