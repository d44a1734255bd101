//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package temp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Dir is a directory of this process.
type Dir struct {
	Path string
	held *os.File // with the lock
}

// attempts bounds how often somebody else may take a new directory, which is
// not locked yet, for one that was left.
const attempts = 10

// New makes a directory where the system has temporary files, and removes those
// that were left there. Its path has at most [MaxPath] bytes, unless no place is
// short enough and can be written.
func New() (dir *Dir, err error) {
	for _, place := range places(os.TempDir()) {
		if dir, err = newIn(place); err == nil {
			break
		}
	}
	return dir, err
}

func newIn(place string) (*Dir, error) {
	reclaim(place)
	for range attempts {
		path, err := os.MkdirTemp(place, prefix)
		if err != nil {
			return nil, err
		}
		if f, ok := claim(path); ok {
			return &Dir{path, f}, nil
		}
		_ = os.Remove(path)
	}
	return nil, fmt.Errorf("make a temporary directory: %w", syscall.EBUSY)
}

// claim locks a directory. It fails if somebody else has it, or it is gone.
func claim(path string) (*os.File, bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, false
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	mine, err1 := f.Stat()
	there, err2 := os.Lstat(path)
	if errors.Join(err, err1, err2) != nil || !os.SameFile(mine, there) {
		f.Close()
		return nil, false
	}
	return f, true
}

// reclaim removes the directories of this user in place that nobody has locked.
func reclaim(place string) {
	entries, _ := os.ReadDir(place)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) || !e.IsDir() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue
		}
		if s, ok := info.Sys().(*syscall.Stat_t); !ok || int(s.Uid) != os.Geteuid() {
			continue
		}
		path := filepath.Join(place, e.Name())
		if f, ok := claim(path); ok {
			_ = (&Dir{path, f}).Remove()
		}
	}
}

// Remove removes the directory with everything in it. Nobody may be at work
// there any more.
func (d *Dir) Remove() error {
	defer d.held.Close()
	err := os.RemoveAll(d.Path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	// There are directories that forbid even their owner to enter.
	root, err := os.OpenRoot(d.Path)
	if err != nil {
		return err
	}
	defer root.Close()
	_ = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, _ error) error {
		if e != nil && e.IsDir() {
			_ = root.Chmod(name, 0o700)
		}
		return nil
	})
	return os.RemoveAll(d.Path)
}
