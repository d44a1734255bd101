package task

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"harness"
)

// copier copies a tree, sharing the content of files where the file system can.
type copier struct {
	from, to *os.Root
	files    int
	bytes    int64
	skipped  int
	links    bool // a .git that points elsewhere was left out
	modes    []dirMode
	own      os.FileInfo // where tasks are kept
	leave    []string
}

type dirMode struct {
	path string
	mode fs.FileMode
}

// copy copies the source as it is. Links stay links; sockets, pipes and devices
// are left out, and so is a .git that is a file: it stands for a repository
// elsewhere, which the copy must not reach.
func (t *Tasks) copy(ctx context.Context, task *Task) (err error) {
	if err := os.Mkdir(task.Root, 0o700); err != nil {
		return err
	}
	c := &copier{files: t.opts.MaxFiles, bytes: t.opts.MaxBytes, leave: t.opts.Leave}
	if c.own, err = os.Stat(t.dir); err != nil {
		return err
	}
	if c.from, err = os.OpenRoot(task.Source); err != nil {
		return err
	}
	defer c.from.Close()
	if c.to, err = os.OpenRoot(task.Root); err != nil {
		return err
	}
	defer c.to.Close()
	err = fs.WalkDir(c.from.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		return c.entry(path, e)
	})
	for i := len(c.modes) - 1; i >= 0 && err == nil; i-- {
		err = c.to.Chmod(c.modes[i].path, c.modes[i].mode)
	}
	if err != nil {
		return fmt.Errorf("copy of %s: %w", task.Source, err)
	}
	task.Kind, task.Directory = Copy, task.Root
	if c.skipped > 0 {
		task.Notes = append(task.Notes, fmt.Sprintf("%d sockets, pipes or devices were left out", c.skipped))
	}
	if c.links {
		task.Notes = append(task.Notes, "a .git that stands for a repository elsewhere was left out")
	}
	return nil
}

func (c *copier) entry(path string, e fs.DirEntry) error {
	info, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if slices.Contains(c.leave, path) {
		if info.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	if c.files--; c.files < 0 {
		return fmt.Errorf("files: %w", harness.ErrTooLarge)
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		if os.SameFile(info, c.own) {
			return fs.SkipDir
		}
		if path != "." {
			err = c.to.Mkdir(path, 0o700)
		}
		c.modes = append(c.modes, dirMode{path, mode.Perm()})
		return err
	case mode.IsRegular():
		if filepath.Base(path) == ".git" {
			c.links = true
			return nil
		}
		return c.file(path, info)
	case mode&fs.ModeSymlink != 0:
		to, err := c.from.Readlink(path)
		if err != nil {
			return err
		}
		return c.to.Symlink(to, path)
	}
	c.skipped++
	return nil
}

func (c *copier) file(path string, info fs.FileInfo) error {
	in, err := c.from.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	if c.bytes -= info.Size(); c.bytes < 0 {
		return fmt.Errorf("bytes: %w", harness.ErrTooLarge)
	}
	out, err := c.to.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if !reflink(out, in) {
		_, err = io.Copy(out, io.LimitReader(in, c.bytes+info.Size()))
	}
	return errors.Join(err, out.Chmod(info.Mode().Perm()), out.Close())
}
