package harness

import "errors"

// Error is one of the closed set of errors that every protocol maps to its own
// codes. Wrap one with what was being done; anything that wraps none of them
// reaches a client as [ErrInternal] and the operator's log in full.
type Error struct {
	Code string // stable, for machines
	Text string // short, for people
}

func (e *Error) Error() string { return e.Text }

// Saying is e in other words: text is all that anybody reads of it, where the
// words of e would say something else beside it.
func (e *Error) Saying(text string) error { return &saying{text, e} }

type saying struct {
	text string
	is   *Error
}

func (s *saying) Error() string { return s.text }
func (s *saying) Unwrap() error { return s.is }

// The closed set. Errors lists them all.
var (
	ErrInvalid         = &Error{"invalid", "invalid input"}
	ErrTooLarge        = &Error{"too_large", "too large"}
	ErrNotFound        = &Error{"not_found", "no such session"}
	ErrExists          = &Error{"exists", "session already exists"}
	ErrTurnNotFound    = &Error{"turn_not_found", "no such turn is active"}
	ErrNotRunning      = &Error{"not_running", "no turn is running"}
	ErrBusy            = &Error{"busy", "a turn is already running"}
	ErrQueueFull       = &Error{"queue_full", "too many prompts are waiting"}
	ErrNoApproval      = &Error{"approval_not_found", "no such approval"}
	ErrDecided         = &Error{"already_resolved", "the approval was already decided otherwise"}
	ErrUnsupported     = &Error{"unsupported", "not supported"}
	ErrUnauthenticated = &Error{"unauthenticated", "who is asking is not known"}
	ErrForbidden       = &Error{"forbidden", "the caller's role does not allow this"}
	ErrTooMany         = &Error{"too_many_requests", "too many requests"}
	ErrQuota           = &Error{"quota_exceeded", "there is no room for more"}
	ErrSecret          = &Error{"holds_secret", "it holds a secret of this server"}
	ErrUnavailable     = &Error{"unavailable", "the server is shutting down"}
	ErrBranched        = &Error{"has_branches", "the session has branches"}
	ErrConflict        = &Error{"conflict", "the log has moved on"}
	ErrStorage         = &Error{"storage", "the store cannot write"}
	ErrCorrupt         = &Error{"corrupt", "stored data is damaged"}
	ErrLocked          = &Error{"locked", "another process uses this data"}
	ErrInternal        = &Error{"internal", "internal error"}
)

// Errors returns the closed set, for tables that must cover it.
func Errors() []*Error {
	return []*Error{
		ErrInvalid, ErrTooLarge, ErrNotFound, ErrExists, ErrTurnNotFound, ErrNotRunning, ErrBusy, ErrQueueFull, ErrNoApproval,
		ErrDecided, ErrUnsupported, ErrUnauthenticated, ErrForbidden, ErrTooMany, ErrQuota, ErrSecret, ErrUnavailable, ErrBranched, ErrConflict, ErrStorage, ErrCorrupt, ErrLocked, ErrInternal,
	}
}

// AsError returns the member of the closed set that err wraps, or ErrInternal.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return ErrInternal
}

// ClientText is what a client may read of err: the whole chain if it wraps a
// member of the closed set that describes the client's own doing, only the
// member's text otherwise, so that paths and internals never leak.
func ClientText(err error) string {
	switch e := AsError(err); e {
	case ErrConflict, ErrStorage, ErrCorrupt, ErrLocked, ErrInternal:
		return e.Text
	default:
		return err.Error()
	}
}
