package workspace

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"harness"
	"harness/workspace/object"
)

// Restore makes a directory that is not here of the last mark that was taken of
// it elsewhere, if one was: the whole of it at one instant. Its owner is whoever
// runs this; what was not kept is not in it.
func (t *Trees) Restore(ctx context.Context, dir string) error {
	if _, err := os.Lstat(dir); err == nil || t.opts.Depot == nil || !filepath.IsAbs(dir) {
		return nil
	}
	root := withoutLinks(filepath.Clean(dir))
	p, err := t.opts.Depot.Place(ctx, treePlace(treeName(root)), 0)
	if err != nil {
		return err
	}
	last, of := "", harness.SessionID("")
	for _, f := range p.Files {
		if _, id := path.Split(f.Name); strings.HasPrefix(f.Name, marksAt) && id > last {
			last, of = id, f.Session
		}
	}
	if last == "" {
		return nil
	}
	temp := root + ".part-" + strings.ToLower(rand.Text()[:8])
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	tree := newTree(t.data, root, &t.opts)
	if err := tree.again(ctx, of, last, temp); err != nil {
		return fmt.Errorf("make %s again of what was kept: %w", dir, err)
	}
	return os.Rename(temp, root)
}

// again writes the tree as it was at a mark into an empty directory.
func (t *Tree) again(ctx context.Context, session harness.SessionID, mark, into string) error {
	leave, err := t.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	m, want, err := t.read(session, mark)
	if err != nil {
		return err
	}
	s, err := object.Open(ctx, t.objects(), t.storeOptions())
	if err != nil {
		return err
	}
	defer s.Close()
	empty := *t
	empty.root = into
	_, now, _, err := empty.scan(ctx, s, nil, object.ID{})
	if err != nil {
		return err
	}
	p, err := makePlan(s, m, now.id, want, nil, true)
	if err != nil {
		return err
	}
	r, err := empty.restorer(s, now, ours+"again")
	if err != nil {
		return err
	}
	defer r.close()
	for _, c := range p.Restore {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := r.restore(c); err != nil {
			return fmt.Errorf("%s: %w", Printable(c.Path), err)
		}
	}
	r.unstage()
	r.setModes()
	return os.Chmod(into, os.FileMode(m.Mode)|0o700)
}

// withoutLinks is an absolute path without the links in what of it is there.
func withoutLinks(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil || filepath.Dir(dir) == dir {
		return cmp.Or(real, dir)
	}
	return filepath.Join(withoutLinks(filepath.Dir(dir)), filepath.Base(dir))
}
