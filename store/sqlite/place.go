package sqlite

import (
	"fmt"
	"os"

	"harness"
)

// placed is a file that must stay where it was found: one that was deleted or
// replaced takes writes as before, and they are gone with the process.
type placed struct {
	path string
	info os.FileInfo
}

// watch remembers the database and its log as they are now. Looking at a file
// by its name does not open it, which SQLite's locks would not survive.
func (w *writer) watch(path string) error {
	for _, p := range []string{path, path + "-wal"} {
		info, err := os.Stat(p)
		if err != nil {
			return fmt.Errorf("%w: %w", err, harness.ErrStorage)
		}
		w.files = append(w.files, placed{p, info})
	}
	return nil
}

// inPlace reports whether a commit would still be found by the next process.
func (w *writer) inPlace() error {
	for _, f := range w.files {
		if now, err := os.Stat(f.path); err != nil || !os.SameFile(f.info, now) {
			return fmt.Errorf("%s was deleted or replaced under the server; writing stopped: %w", f.path, harness.ErrStorage)
		}
	}
	return nil
}
