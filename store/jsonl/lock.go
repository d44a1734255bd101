package jsonl

import (
	"errors"
	"fmt"

	"harness"
	"harness/internal/flock"
)

// lock takes the directory for this process, or returns ErrLocked and who has it.
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
