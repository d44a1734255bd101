// Package files gives access to the files of a workspace from outside, while
// what runs in it may be hostile.
//
// No name leaves the directory, through links or otherwise (os.Root). Opening
// never blocks: only regular files and directories open. Writing replaces, so
// that it cannot reach through a hard link, and leaves git's own files alone.
// What is hidden is neither read, listed nor written.
package files

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"

	"harness/sandbox/internal/view"
)

// Tree is the files of one directory. It is an fs.FS.
type Tree struct {
	root *os.Root
	view *view.View
}

// Open opens a directory. "/" is refused: it is nobody's workspace.
func Open(dir string, v *view.View) (*Tree, error) {
	if path.Clean(dir) == "/" || !path.IsAbs(dir) {
		return nil, fmt.Errorf("open workspace %q: want the absolute path of a directory that is not the root", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	return &Tree{root, v}, nil
}

// Close gives the directory back.
func (t *Tree) Close() error { return t.root.Close() }

// Open opens a regular file or a directory for reading.
func (t *Tree) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, err := t.open(name)
	if err != nil {
		return nil, err
	}
	if len(t.view.Hidden) > 0 {
		if where := t.where(f); t.view.Lists(where) {
			return &listing{f, where, t.view}, nil
		}
	}
	return f, nil
}

func (t *Tree) open(name string) (*os.File, error) {
	if t.view.Hides(name) {
		return nil, hidden("open", name)
	}
	f, err := t.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if len(t.view.Hidden) > 0 && t.view.Hides(t.where(f)) {
		err = hidden("open", name)
	}
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("%w: %s", fs.ErrInvalid, info.Mode().Type())}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// MaxRead is the size of the largest file that ReadFile reads: what is larger
// is not for anybody's memory. Open has no such bound.
const MaxRead = 64 << 20

// ReadFile returns what is in a regular file, or EFBIG if it is larger than
// MaxRead, also if it grows while it is read. It makes fs.ReadFile do so.
func (t *Tree) ReadFile(name string) ([]byte, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	f, err := t.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > MaxRead {
		return nil, &fs.PathError{Op: "read", Path: name, Err: syscall.EFBIG}
	}
	var b bytes.Buffer
	b.Grow(int(info.Size()) + bytes.MinRead)
	n, err := b.ReadFrom(io.LimitReader(f, MaxRead+1))
	if err == nil && n > MaxRead {
		err = &fs.PathError{Op: "read", Path: name, Err: syscall.EFBIG}
	}
	if err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// maxLinks is how many links in a row WriteFile follows, as the kernel does.
const maxLinks = 40

// WriteFile replaces the file name, or the file that name links to inside the
// tree. An existing file keeps its mode. Missing directories are made.
func (t *Tree) WriteFile(name string, data []byte, perm fs.FileMode) error {
	for range maxLinks {
		if !fs.ValidPath(name) || name == "." {
			return &fs.PathError{Op: "write", Path: name, Err: fs.ErrInvalid}
		}
		link, err := t.write(name, data, perm)
		if err != nil || link == "" {
			return err
		}
		if path.IsAbs(link) {
			return &fs.PathError{Op: "write", Path: name, Err: fmt.Errorf("%w: link out of the workspace", fs.ErrPermission)}
		}
		name = path.Join(path.Dir(name), link)
	}
	return &fs.PathError{Op: "write", Path: name, Err: syscall.ELOOP}
}

// write replaces one file, or returns the target if it is a link.
func (t *Tree) write(name string, data []byte, perm fs.FileMode) (link string, err error) {
	dir, base := path.Split(name)
	parent, err := t.directory(path.Clean(dir), name)
	if err != nil {
		return "", err
	}
	defer parent.Close()
	switch info, err := parent.Lstat(base); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink != 0:
		return parent.Readlink(base)
	case !info.Mode().IsRegular():
		return "", &fs.PathError{Op: "write", Path: name, Err: fmt.Errorf("%w: %s", fs.ErrInvalid, info.Mode().Type())}
	default:
		perm = info.Mode().Perm()
	}
	return "", replace(parent, base, data, perm)
}

func replace(dir *os.Root, base string, data []byte, perm fs.FileMode) error {
	temp := ".harness-" + rand.Text()[:10]
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(perm), f.Close())
	if err == nil {
		err = dir.Rename(temp, base)
	}
	if err != nil {
		_ = dir.Remove(temp)
	}
	return err
}
