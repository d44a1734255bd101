package socket

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Close codes this package sends or must know (RFC 6455, 7.4, and the registry
// that continues it).
const (
	codeGoingAway = 1001
	codeProtocol  = 1002
	codeNone      = 1005
	codeText      = 1007
	codePolicy    = 1008
	codeTooBig    = 1009
	codeTryLater  = 1013
)

var (
	// ErrClosed is what Write, Upgrade and Stream return when the connection
	// or the server is at its end.
	ErrClosed = errors.New("socket: closed")
	// ErrDead ends a connection whose peer was silent and left a ping
	// unanswered.
	ErrDead = errors.New("socket: ping not answered")
	// ErrStalled ends a connection whose peer took no byte for StallAfter.
	ErrStalled = errors.New("socket: no write progress")
	// ErrSlow ends a connection whose peer began a message and did not end it
	// within MessageFor, however many bytes of it came.
	ErrSlow = errors.New("socket: message took too long")
)

// CloseError says with which code a connection ended, and on whose side.
type CloseError struct {
	Code   uint16
	Reason string
	Local  bool // this side ended it
}

func (e *CloseError) Error() string {
	who := "peer"
	if e.Local {
		who = "server"
	}
	return fmt.Sprintf("socket: closed by %s: %d %s", who, e.Code, e.Reason)
}

// Broken reports whether this side ended the connection because what the peer
// sent is no WebSocket, or too much.
func (e *CloseError) Broken() bool {
	return e.Local && (e.Code == codeProtocol || e.Code == codeText || e.Code == codeTooBig)
}

func failure(code uint16, reason string) *CloseError {
	return &CloseError{Code: code, Reason: reason, Local: true}
}

// peerClose reads a checked close payload.
func peerClose(payload []byte) *CloseError {
	if len(payload) == 0 {
		return &CloseError{Code: codeNone}
	}
	return &CloseError{Code: binary.BigEndian.Uint16(payload), Reason: string(payload[2:])}
}

// sendable says whether a close frame may carry code.
func sendable(code uint16) bool {
	switch {
	case code == 1004, code == 1005, code == 1006, code == 1015:
		return false
	default:
		return 1000 <= code && code <= 1014 || 3000 <= code && code <= 4999
	}
}
