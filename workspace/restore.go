package workspace

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"harness/workspace/folder"
	"harness/workspace/object"
)

// errChanged says that a path is no longer as the plan saw it.
var errChanged = errors.New("changed meanwhile")

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
			return notEmpty(f.Remove(name, true))
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
			err = r.place(f, staged, name, present)
		}
		if err != nil {
			r.stage.Remove(staged, false)
		}
		return err
	})
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
