package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"harness"
)

// Look opens the database at path to read it, beside the process that owns it
// if there is one. Appends, snapshots and removals are refused with ErrStorage.
// A database that is not there is ErrNotFound, and is not made.
func Look(ctx context.Context, path string) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		kind := harness.ErrStorage
		if errors.Is(err, fs.ErrNotExist) {
			kind = harness.ErrNotFound
		}
		return nil, fmt.Errorf("open %s: %w: %w", path, err, kind)
	}
	s := &Store{path: path, cacheKB: 8 << 10, queue: newQueue(), readers: make(chan *conn, 1)}
	s.readers <- nil
	s.queue.close()
	err := s.read(ctx, func(c *conn) error {
		if n, _, err := c.number("SELECT count(*) FROM sqlite_schema"); err != nil || n == 0 {
			return errors.Join(err, harness.ErrNotFound)
		}
		return checkFormat(c)
	})
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return s, nil
}
