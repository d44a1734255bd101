package workspace

import (
	"errors"
	"io/fs"
	"math"
	"strconv"

	"harness/workspace/folder"
)

// unstage removes the stage, on which at most a spare file is left.
func (r *restorer) unstage() {
	if r.stage != nil {
		if r.spare != "" {
			r.stage.Remove(r.spare, false)
			r.spare = ""
		}
		r.stage.Close()
		r.root.Remove(r.temp, true)
		r.stage = nil
	}
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
	if spare := r.spare; spare != "" && want.Kind == File {
		r.spare = ""
		ok, err := r.stage.Refill(spare, data, want.Mode)
		if ok && err == nil {
			return spare, nil
		}
		if err := errors.Join(err, r.stage.Remove(spare, false)); err != nil {
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

// place gives what was made on the stage its name in f, at one instant. The file
// that had the name and that the plan saw, if c says so, may then be made another
// one; a different one gets its name back.
func (r *restorer) place(f *folder.Folder, staged, name string, c Change) error {
	if c.now == nil || c.now.Kind != File || r.moves {
		return f.Move(r.stage, staged, name)
	}
	err := f.Swap(r.stage, staged, name)
	if errors.Is(err, errors.ErrUnsupported) {
		r.moves = true
		return f.Move(r.stage, staged, name)
	}
	if err != nil {
		return err
	}
	old, err := r.stage.Stat(staged)
	if err != nil {
		return err
	}
	if n := r.now.find(c.path); n == nil || old.Kind != folder.File || old.Inode != n.inode || old.Mtime != n.mtime || old.Size != n.Size {
		if err := f.Move(r.stage, staged, name); err != nil {
			return err
		}
		return errChanged
	}
	if r.spare == "" {
		r.spare = staged
		return nil
	}
	return r.stage.Remove(staged, false)
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
	names, err := f.Names(make([]byte, nameSpace), math.MaxInt)
	for _, name := range names {
		err = errors.Join(err, f.Remove(name, false))
	}
	return errors.Join(err, r.root.Remove(r.temp, true))
}
