package delta

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"harness"
	"harness/internal/shape"
	"harness/internal/strict"
)

// Bounds of what a client may send at once.
const (
	// maxFrame holds the largest prompt even if every byte of it is escaped
	// as two, and bounds what one socket can make us hold.
	maxFrame = 1 << 20

	// messageFor is what a body of HTTP has: a largest message over a slow
	// line. Every byte is a sign of life, so without it one byte every ten
	// seconds would hold a buffer for days.
	messageFor = 30 * time.Second

	// maxCommands bounds the work of one frame. A client that was offline sends
	// what a person did meanwhile, which is less.
	maxCommands = 64

	// maxCommandID is the length of any other id.
	maxCommandID = harness.MaxID

	// maxReason is a few pages: a denial's reason is read by the model at once.
	maxReason = 16 << 10
)

// request is one command of a client. Who sent it is not in the message: the
// hub fills in the actor.
type request struct {
	ID      string            // commandId, or ""
	Kind    string            // in S1's words
	Session harness.SessionID // the session that a resume names, or ""
	Cmd     harness.Command
}

// refusal is why a message was refused: a member of the closed set, wrapped
// with the place in the message. ID is the commandId of the command at fault,
// if it has a good one.
type refusal struct {
	ID  string
	err error
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// decode reads a client's message. It is all or nothing: a message that is not
// exactly {type:"commands", commands:[…]} with well-formed commands is refused
// with one *refusal that names the place, and none of it may be carried out.
// Fields that the texts do not know are ignored.
func decode(frame []byte) ([]request, error) {
	if len(frame) > maxFrame {
		return nil, refuse(harness.ErrTooLarge, "the message has %d bytes, more than %d", len(frame), maxFrame)
	}
	if err := strict.Check(frame, maxFrame); err != nil {
		return nil, refuse(harness.ErrInvalid, "%s", fault(frame, err))
	}
	f := newFields("", frame, "the message")
	kind := f.text("type")
	if f.err == nil && kind != "commands" {
		f.fail("type", harness.ErrInvalid, "unknown message type %s", quoted(kind))
	}
	list := f.list("commands", maxCommands)
	if f.err != nil {
		return nil, &refusal{err: f.err}
	}
	requests := make([]request, len(list))
	for i, raw := range list {
		r, err := decodeCommand(fmt.Sprintf("commands[%d]", i), raw)
		if err != nil {
			return nil, &refusal{ID: r.ID, err: err}
		}
		requests[i] = r
	}
	return requests, nil
}

// fault says what is wrong with frame: in encoding/json's words if that refuses
// it too, else in those of the stricter reading.
func fault(frame []byte, strict error) string {
	var v json.RawMessage
	if s, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(frame, &v)); ok {
		return fmt.Sprintf("the message is not JSON: byte %d: %v", s.Offset, s)
	}
	return fmt.Sprintf("the message: %v", strict)
}

func decodeCommand(path string, raw json.RawMessage) (request, error) {
	f := newFields(path, raw, path)
	r := request{ID: f.commandID()}
	kind := f.text("type")
	if read, ok := commands[kind]; ok {
		r.Kind = kind
		read(f, &r)
	} else {
		f.fail("type", harness.ErrInvalid, "unknown command %s", quoted(kind))
	}
	return r, f.err
}

func refuse(kind error, format string, args ...any) error {
	return &refusal{err: fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), kind)}
}

// quoted is a client's word, as an error can carry it.
func quoted(s string) string { return strconv.Quote(shape.Clip(s)) }
