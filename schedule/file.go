package schedule

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"harness"
	"harness/internal/whole"
)

// keeper is where schedules are. Its methods are called by one at a time.
type keeper interface {
	// load is all of them; known is what is known, and was loaded last.
	load(known []*Schedule) ([]*Schedule, error)
	// change keeps what f makes of all, which are those that are known or newer.
	// If that is nil, nothing is kept.
	change(all []*Schedule, f func(all []*Schedule) ([]*Schedule, error)) ([]*Schedule, error)
	// news rings when others have changed something.
	news() (bell <-chan struct{}, away func())
	close() error
}

// file keeps schedules for one server.
type file struct {
	root *os.Root
	name string
}

func openFile(dir string) (file, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return file{}, fmt.Errorf("schedules: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return file{}, fmt.Errorf("schedules: %w", err)
	}
	return file{root, "schedules.json"}, nil
}

func (f file) load(known []*Schedule) (all []*Schedule, err error) {
	if known != nil {
		return known, nil
	}
	text, err := fs.ReadFile(f.root.FS(), f.name)
	if errors.Is(err, fs.ErrNotExist) {
		return []*Schedule{}, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("schedules: %w: %w", err, harness.ErrCorrupt)
	}
	return all, nil
}

func (f file) save(all []*Schedule) error {
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	if err := whole.Write(f.root, f.name, append(text, '\n')); err != nil {
		return fmt.Errorf("schedules: %w: %w", err, harness.ErrStorage)
	}
	return nil
}

func (f file) change(all []*Schedule, change func(all []*Schedule) ([]*Schedule, error)) ([]*Schedule, error) {
	next, err := change(all)
	if err != nil || next == nil {
		return nil, err
	}
	return next, f.save(next)
}

func (file) news() (<-chan struct{}, func()) { return nil, func() {} }

func (f file) close() error { return f.root.Close() }
