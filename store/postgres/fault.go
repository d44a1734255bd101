package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"harness"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The server's error codes that mean something to us.
const (
	codeForeignKey    = "23503"
	codeSerialization = "40001"
	codeDeadlock      = "40P01"
	codeDiskFull      = "53100"
	codeSilent        = "25P03" // it waited for us in a transaction, and ended the connection
	codeLockWait      = "55P03"
	codeDataCorrupt   = "XX001"
	codeIndexCorrupt  = "XX002"
)

// code is the server's code of err, or empty.
func code(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// passing reports whether err is of a kind that the same again may not have:
// the server has undone the transaction because of what others did.
func passing(err error) bool {
	c := code(err)
	return c == codeDeadlock || c == codeSerialization
}

// lost reports whether err is about the way to the server, or the server's own
// end, and not about what was asked.
func lost(err error) bool {
	if err == nil || errors.As(err, new(*harness.Error)) || errors.Is(err, pgx.ErrNoRows) {
		return false
	}
	c := code(err)
	return c == "" || c == codeSilent || strings.HasPrefix(c, "57P") || strings.HasPrefix(c, "08")
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
	switch code(err) {
	case codeDataCorrupt, codeIndexCorrupt:
		return fmt.Errorf("%w: %w", err, harness.ErrCorrupt)
	case codeDiskFull:
		return fmt.Errorf("no space left: %w: %w", err, harness.ErrStorage)
	}
	return fmt.Errorf("%w: %w", err, harness.ErrStorage)
}

// settle is classify, except that the end of the caller's context is the
// caller's own doing.
func settle(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return classify(err)
}

// final reports whether waiting would not help against err: it is about the data
// or the caller and not about the way to the server.
func final(err error) bool { return harness.AsError(err) != harness.ErrStorage }
