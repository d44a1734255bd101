package jsonl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"harness"
	"harness/internal/flock"
)

// The names inside the directory, and inside a thread's.
const (
	lockFile    = "lock"
	ignoreFile  = ".gitignore"
	rulesFile   = "rules.jsonl"
	threadsDir  = "threads"
	removedName = ".removed-" // no id begins with a dot

	logFile      = "events.jsonl"
	metaFile     = "meta.json"
	snapshotsDir = "snapshots"
)

// claim makes the directory if it is missing and takes its lock.
func claim(dir string) (*flock.Lock, error) {
	threads := filepath.Join(dir, threadsDir)
	if err := makeDirs(threads); err != nil {
		return nil, err
	}
	l, err := flock.Take(filepath.Join(dir, lockFile))
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, ignoreFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = f.WriteString("*\n")
		err = errors.Join(err, f.Close(), syncDir(dir))
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		l.Release()
		return nil, fmt.Errorf("%w: %w", err, harness.ErrStorage)
	}
	return l, nil
}

// makeDirs makes path and what is missing above it, durably.
func makeDirs(path string) error {
	err := os.Mkdir(path, 0o700)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(path) != path {
		if err := makeDirs(filepath.Dir(path)); err != nil {
			return err
		}
		err = os.Mkdir(path, 0o700)
	}
	if errors.Is(err, fs.ErrExist) {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", err, harness.ErrStorage)
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes new names in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err == nil {
		err = errors.Join(d.Sync(), d.Close())
	}
	if err != nil {
		return fmt.Errorf("sync: %w: %w", err, harness.ErrStorage)
	}
	return nil
}

// replace gives the file at path new content: all of it or nothing, whenever
// the process or the machine stops.
func replace(path string, data ...[]byte) error {
	temp := path + ".tmp"
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	for _, d := range data {
		if err == nil {
			_, err = f.Write(d)
		}
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
	}
	return err
}
