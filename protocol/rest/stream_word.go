package rest

import (
	"encoding/json"
	"fmt"

	"harness"
)

// What a stream says beside the log. None of it has an id, so that a client's
// place stays where it was.

// appendHello appends the first word of a stream: how soon a client that lost
// it comes back and, if that is wanted, whose events follow, as the one event
// that no log has.
func appendHello(dst []byte, id harness.SessionID, want filter) []byte {
	dst = append(dst, "retry: 1000\n"...)
	if p := (&harness.Session{SessionID: id}); want.includes(p.Type()) {
		return appendWord(dst, string(p.Type()), struct {
			SessionID harness.SessionID `json:"session_id"`
			Type      harness.Type      `json:"type"`
			Tier      harness.Tier      `json:"tier"`
			Payload   harness.Payload   `json:"payload"`
		}{id, p.Type(), harness.TierOf(p.Type()), p})
	}
	return append(dst, '\n')
}

// appendReset appends why a client's cursor cannot be served, and where the log
// ends; the whole history follows.
func appendReset(dst []byte, c cursor, end harness.Seq) []byte {
	return appendWord(dst, "reset", struct {
		Reason reason      `json:"reason"`
		After  string      `json:"after"`
		End    harness.Seq `json:"end"`
	}{c.wrong, c.said, end})
}

// appendFailure appends why a stream cannot go on, as a problem without
// internals. It keeps clients from coming back every second to something that
// is broken.
func appendFailure(dst []byte, err error) []byte {
	return appendWord(append(dst, "retry: 15000\n"...), "error", asProblem(err))
}

// appendWord appends an event that no log has.
func appendWord(dst []byte, name string, v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode %s of a stream: %v", name, err))
	}
	dst = append(append(dst, "event: "...), name...)
	dst = append(append(dst, "\ndata: "...), data...)
	return append(dst, "\n\n"...)
}
