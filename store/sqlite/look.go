package sqlite

import (
	"cmp"
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
	s := &Store{path: path, uri: uri(path), cacheKB: 8 << 10, queue: newQueue(), readers: make(chan *conn, 1)}
	s.readers <- nil
	s.queue.Close()
	err := s.read(ctx, checkThere)
	if c := code(err); (c == codeCantOpen || c == codeReadOnly) && !inUse(path) {
		// We may not even leave a reader's marks, and nobody needs them.
		s.uri += "?immutable=1"
		err = s.read(ctx, checkThere)
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return s, nil
}

// inUse reports whether somebody has the database open, or left it without
// closing it: then the file itself is not all of it.
func inUse(path string) bool {
	_, err := os.Stat(path + "-wal")
	return !errors.Is(err, fs.ErrNotExist)
}

// checkThere is checkOurs and checkFormat, except that an empty database is
// ErrNotFound.
func checkThere(c *conn) error {
	n, _, err := c.number("SELECT count(*) FROM sqlite_schema")
	switch {
	case err != nil:
		return err
	case n == 0:
		return harness.ErrNotFound
	}
	return cmp.Or(checkOurs(c), checkFormat(c))
}
