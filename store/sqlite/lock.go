package sqlite

import (
	"errors"
	"fmt"

	"harness"
	"harness/internal/flock"
)

// lock takes the database for this process, or returns ErrLocked and who has
// it. It is on a file of its own: opening and closing the database file would
// drop SQLite's own locks.
func lock(path string) (*flock.Lock, error) {
	l, err := flock.Take(path)
	if err == nil {
		return l, nil
	}
	kind := harness.ErrStorage
	if _, held := errors.AsType[*flock.HeldError](err); held {
		kind = harness.ErrLocked
	} else if errors.Is(err, errors.ErrUnsupported) {
		kind = harness.ErrUnsupported
	}
	return nil, fmt.Errorf("%w: %w", err, kind)
}
