package sqlite

import (
	"errors"
	"fmt"

	"harness"
	sqlite "modernc.org/sqlite"
)

// SQLite's primary result codes that mean something to us.
const (
	codeError    = 1
	codeReadOnly = 8
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
	codeNotADB   = 26
)

// code is the primary result code of err, or 0.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// classify gives err its place in the closed set: damaged data or a store that
// cannot work.
func classify(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*harness.Error)):
		return err
	}
	switch code := code(err); {
	case code == codeCorrupt, code == codeNotADB:
		return fmt.Errorf("%w: %w", err, harness.ErrCorrupt)
	case noRoom(err):
		return fmt.Errorf("no space left: %w: %w", err, harness.ErrStorage)
	}
	return fmt.Errorf("%w: %w", err, harness.ErrStorage)
}
