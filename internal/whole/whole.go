// Package whole writes files that are whole or not there.
package whole

import (
	"errors"
	"io/fs"
	"os"
	"path"

	"harness/internal/mint"
)

// Part begins the names of files that are being written. One that is left is of
// a process that was killed, and nobody's.
const Part = ".part-"

// Write puts data in the place of a file below root. It is durable when Write
// returns; if it fails, or the process is killed, the file is what it was.
func Write(root *os.Root, name string, data []byte) error {
	part := path.Join(path.Dir(name), mint.ID(Part))
	err := fill(root, part, data)
	if err == nil {
		err = root.Rename(part, name)
	}
	if err != nil {
		if gone := root.Remove(part); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
		return err
	}
	return Sync(root, path.Dir(name))
}

func fill(root *os.Root, name string, data []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// Sync makes the names in a directory durable.
func Sync(root *os.Root, name string) error {
	d, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
