package rpc

import (
	"errors"

	"harness"
)

// The codes of S4, and three for servers that ask who is there.
const (
	codeParse            = -32700
	codeInvalidRequest   = -32600
	codeMethodNotFound   = -32601
	codeInvalidParams    = -32602
	codeInternal         = -32603
	codeThreadNotFound   = -32001
	codeTurnBusy         = -32002
	codeTurnNotFound     = -32003
	codeApprovalNotFound = -32004
	codeUnauthenticated  = -32005
	codeForbidden        = -32006
	codeTooMany          = -32007
)

// codeNames are S4's names of its codes.
var codeNames = map[int]string{
	codeParse:            "ParseError",
	codeInvalidRequest:   "InvalidRequest",
	codeMethodNotFound:   "MethodNotFound",
	codeInvalidParams:    "InvalidParams",
	codeInternal:         "InternalError",
	codeThreadNotFound:   "ThreadNotFound",
	codeTurnBusy:         "TurnBusy",
	codeTurnNotFound:     "TurnNotFound",
	codeApprovalNotFound: "ApprovalNotFound",
	codeUnauthenticated:  "Unauthenticated",
	codeForbidden:        "Forbidden",
	codeTooMany:          "TooMany",
}

// rpcError is the error of an answer. Data has a stable word beside the number.
type rpcError struct {
	Code    int        `json:"code"`
	Message string     `json:"message"`
	Data    *errorData `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return e.Message }

type errorData struct {
	Code  string `json:"code"`
	Field string `json:"field,omitempty"` // the parameter that is wrong
}

// codes says which number stands for each member of the closed set.
var codes = map[*harness.Error]int{
	harness.ErrInvalid:         codeInvalidParams,
	harness.ErrTooLarge:        codeInvalidParams,
	harness.ErrNotFound:        codeThreadNotFound,
	harness.ErrExists:          codeInvalidParams,
	harness.ErrTurnNotFound:    codeTurnNotFound,
	harness.ErrNotRunning:      codeTurnNotFound,
	harness.ErrBusy:            codeTurnBusy,
	harness.ErrQueueFull:       codeTurnBusy,
	harness.ErrNoApproval:      codeApprovalNotFound,
	harness.ErrDecided:         codeApprovalNotFound,
	harness.ErrUnsupported:     codeInvalidParams,
	harness.ErrUnauthenticated: codeUnauthenticated,
	harness.ErrForbidden:       codeForbidden,
	harness.ErrTooMany:         codeTooMany,
	harness.ErrQuota:           codeTooMany,
	harness.ErrSecret:          codeInvalidParams,
	harness.ErrUnavailable:     codeInternal,
	harness.ErrBranched:        codeInvalidParams,
	harness.ErrConflict:        codeInternal,
	harness.ErrStorage:         codeInternal,
	harness.ErrCorrupt:         codeInternal,
	harness.ErrLocked:          codeInternal,
	harness.ErrInternal:        codeInternal,
}

// asError is what a client may know of err.
func asError(err error) *rpcError {
	if e, ok := errors.AsType[*rpcError](err); ok {
		return e
	}
	e := harness.AsError(err)
	code, ok := codes[e]
	if !ok {
		return &rpcError{Code: codeInternal, Message: harness.ErrInternal.Text, Data: &errorData{Code: harness.ErrInternal.Code}}
	}
	return &rpcError{Code: code, Message: harness.ClientText(err), Data: &errorData{Code: e.Code}}
}

// badParam refuses a parameter by name.
func badParam(field, why string) *rpcError {
	return &rpcError{Code: codeInvalidParams, Message: field + ": " + why, Data: &errorData{Code: harness.ErrInvalid.Code, Field: field}}
}

// badRequest refuses what is not a request.
func badRequest(why string) *rpcError {
	return &rpcError{Code: codeInvalidRequest, Message: why, Data: &errorData{Code: "invalid_request"}}
}
