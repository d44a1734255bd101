package secret

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"harness"
)

// MaxFile bounds a file of secrets: a thousand tokens are a fifth of it.
const MaxFile = 1 << 20

// Read is the content of a file that only this user can read. It refuses links,
// files of others, files that others can read or write, and what is no file.
// A file that is not there is fs.ErrNotExist.
func Read(path string) ([]byte, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := Check(path, info); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, err)
	case len(b) > MaxFile:
		return nil, fmt.Errorf("%s is larger than %d bytes: %w", path, MaxFile, harness.ErrTooLarge)
	}
	return b, nil
}

// Check refuses a file that others could read or have made, with what to do
// about it.
func Check(path string, info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file: %w", path, harness.ErrInvalid)
	case info.Mode().Perm()&0o077 != 0 && permissions:
		return fmt.Errorf("%s can be read or changed by others (mode %04o); run chmod 600 on it, and replace what was in it: %w", path, info.Mode().Perm(), harness.ErrInvalid)
	case !ours(info):
		return fmt.Errorf("%s belongs to another user: %w", path, harness.ErrInvalid)
	}
	return nil
}

// Create makes a file that only this user can read, with all of its content at
// once. If it is there already, it stays as it is: fs.ErrExist.
func Create(path string, content []byte) error {
	temp, err := write(path, content)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	if err := os.Link(temp, path); err != nil { // unlike a rename it replaces nothing
		return fmt.Errorf("create %s: %w", path, err)
	}
	return syncDir(filepath.Dir(path))
}

// Write puts content in the place of a file at once, readable only by this user.
func Write(path string, content []byte) error {
	temp, err := write(path, content)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		os.Remove(temp)
		return fmt.Errorf("write %s: %w", path, err)
	}
	return syncDir(filepath.Dir(path))
}

// write makes a durable file beside path, under a name that nobody can guess.
func write(path string, content []byte) (temp string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // 0600, and never one that is there
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		os.Remove(f.Name())
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	return f.Name(), nil
}
