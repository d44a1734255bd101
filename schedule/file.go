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

// file keeps schedules.
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

func (f file) load() (all []*Schedule, err error) {
	text, err := fs.ReadFile(f.root.FS(), f.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
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
