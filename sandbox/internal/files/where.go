package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"harness/sandbox/internal/view"
)

// directory opens the directory of the file name, and makes it where it is
// missing, if that file may be written.
func (t *Tree) directory(dir, name string) (*os.Root, error) {
	if err := t.writable(nil, name); err != nil {
		return nil, err
	}
	at, missing := dir, ""
	parent, err := t.root.OpenRoot(at)
	for errors.Is(err, fs.ErrNotExist) && at != "." {
		at, missing = path.Dir(at), path.Join(path.Base(at), missing)
		parent, err = t.root.OpenRoot(at)
	}
	if err != nil {
		return nil, err
	}
	if err := t.writable(parent, name); err != nil || missing == "" {
		return keep(parent, err)
	}
	defer parent.Close()
	if err := parent.MkdirAll(missing, 0o755); err != nil {
		return nil, err
	}
	made, err := parent.OpenRoot(missing)
	if err != nil {
		return nil, err
	}
	return keep(made, t.writable(made, name))
}

func keep(dir *os.Root, err error) (*os.Root, error) {
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// writable refuses names that are hidden, and those in or at a .git: by their
// text and by where the directory really is, which links in between could hide.
func (t *Tree) writable(parent *os.Root, name string) error {
	if t.view.Holds(name) {
		return hidden("write", name)
	}
	parts := name
	if parent != nil {
		f, err := parent.Open(".")
		if err != nil {
			return err
		}
		defer f.Close()
		where := t.where(f)
		if t.view.Holds(path.Join(where, path.Base(name))) || t.view.Holds(where) {
			return hidden("write", name)
		}
		parts += "/" + where
	}
	for part := range strings.SplitSeq(parts, "/") {
		if strings.EqualFold(part, ".git") {
			return &fs.PathError{Op: "write", Path: name, Err: fmt.Errorf("%w: git's own files", fs.ErrPermission)}
		}
	}
	return nil
}

func hidden(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("%w: hidden", fs.ErrPermission)}
}

// where returns the name of an open file in the tree, without links.
func (t *Tree) where(f *os.File) string {
	root, err := t.root.Open(".")
	if err != nil {
		return ""
	}
	defer root.Close()
	rel, err := filepath.Rel(realPath(root), realPath(f))
	if err != nil {
		return ""
	}
	return filepath.ToSlash(rel)
}

// realPath is the path of an open file, as the system has it where it says so.
func realPath(f *os.File) string {
	if real, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd())); err == nil {
		return real
	}
	real, _ := filepath.EvalSymlinks(f.Name())
	return real
}

// listing is a directory with something in it that is hidden.
type listing struct {
	dir  *os.File
	name string
	view *view.View
}

func (l *listing) Stat() (fs.FileInfo, error) { return l.dir.Stat() }

func (l *listing) Read(p []byte) (int, error) { return l.dir.Read(p) }

func (l *listing) Close() error { return l.dir.Close() }

// ReadDir leaves out what is hidden.
func (l *listing) ReadDir(n int) (seen []fs.DirEntry, err error) {
	for {
		entries, err := l.dir.ReadDir(n)
		for _, e := range entries {
			if !l.view.Hides(path.Join(l.name, e.Name())) {
				seen = append(seen, e)
			}
		}
		if err != nil || n <= 0 || len(seen) > 0 {
			return seen, err
		}
	}
}
