//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package temp

import "os"

// Dir is a directory of this process.
type Dir struct{ Path string }

// New makes a directory where the system has temporary files.
func New() (*Dir, error) {
	path, err := os.MkdirTemp("", prefix)
	return &Dir{path}, err
}

// Remove removes the directory with everything in it.
func (d *Dir) Remove() error { return os.RemoveAll(d.Path) }
