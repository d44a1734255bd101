package workspace

import (
	"errors"
	"io/fs"
	"math"
	"strconv"
)

// unstage removes the stage, on which nothing is left.
func (r *restorer) unstage() {
	if r.stage != nil {
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
	r.count++
	name = strconv.Itoa(r.count)
	if want.Kind == Link {
		return name, r.stage.Symlink(want.Target, name)
	}
	return name, r.stage.Create(name, data, want.Mode)
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
