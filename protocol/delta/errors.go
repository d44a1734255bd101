package delta

import "harness"

// errorCodes says what an "error" frame's code is for each member of the
// closed set. They are part of the protocol: clients branch on them.
var errorCodes = map[*harness.Error]string{
	harness.ErrInvalid:         "invalid",
	harness.ErrTooLarge:        "too_large",
	harness.ErrNotFound:        "not_found",
	harness.ErrExists:          "exists",
	harness.ErrTurnNotFound:    "turn_not_found",
	harness.ErrNotRunning:      "not_running",
	harness.ErrBusy:            "busy",
	harness.ErrQueueFull:       "queue_full",
	harness.ErrNoApproval:      "approval_not_found",
	harness.ErrDecided:         "already_resolved",
	harness.ErrUnsupported:     "unsupported",
	harness.ErrUnauthenticated: "unauthenticated",
	harness.ErrForbidden:       "forbidden",
	harness.ErrTooMany:         "too_many_requests",
	harness.ErrQuota:           "quota_exceeded",
	harness.ErrSecret:          "holds_secret",
	harness.ErrUnavailable:     "unavailable",
	harness.ErrBranched:        "has_branches",
	harness.ErrConflict:        "conflict",
	harness.ErrStorage:         "storage",
	harness.ErrCorrupt:         "corrupt",
	harness.ErrLocked:          "locked",
	harness.ErrInternal:        "internal",
}

// errorCode is the code for err; what wraps none of the closed set is
// "internal".
func errorCode(err error) string { return errorCodes[harness.AsError(err)] }
