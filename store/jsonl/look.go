package jsonl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"harness"
)

// Look opens the directory to read it, beside the process that writes it if
// there is one. Appends, snapshots and removals are refused with ErrStorage, and
// nothing is changed, not even what a crash left. It looks at the files anew
// each time, and may see a commit in the moment before it is acknowledged. A
// directory that is not there is ErrNotFound, and is not made.
func Look(ctx context.Context, dir string) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, threadsDir)); err != nil {
		kind := harness.ErrStorage
		if errors.Is(err, fs.ErrNotExist) {
			kind = harness.ErrNotFound
		}
		return nil, fmt.Errorf("open %s: %w: %w", dir, err, kind)
	}
	s := newStore(dir)
	s.queue.Close()
	return s, nil
}
