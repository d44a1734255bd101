package object

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Kind says what an operation does. It is the "type" on the wire.
type Kind string

const (
	Set        Kind = "set"         // replace the value at Path
	AppendText Kind = "append-text" // lengthen the string at Path
)

// Op is one operation on a document. Its JSON form is
//
//	{"type":"set","path":["a","0"],"value":…}
//	{"type":"append-text","path":["a","0"],"value":"…"}
type Op struct {
	Kind  Kind
	Path  []string
	Value json.RawMessage // of a Set: one JSON value
	Text  string          // of an AppendText
}

// Why an operation was refused. The first six are the refusals of the
// JavaScript accumulator.
var (
	ErrKind   = errors.New("invalid operation type")
	ErrParent = errors.New("path leads through a value without children")
	ErrIndex  = errors.New("expected array index")
	ErrBounds = errors.New("array index out of bounds")
	ErrString = errors.New("expected string")
	ErrUnsafe = errors.New("unsafe key")

	ErrValue = errors.New("invalid JSON value")
	ErrText  = errors.New("text is not valid Unicode")
	ErrDepth = errors.New("document too deep")
)

// AppendJSON appends the JSON form of o to dst. o.Value is copied as it is.
func (o *Op) AppendJSON(dst []byte) []byte {
	dst = appendHead(dst, o.Kind, o.Path)
	if o.Kind == AppendText {
		dst = AppendString(dst, o.Text)
	} else if len(o.Value) == 0 {
		dst = append(dst, "null"...)
	} else {
		dst = append(dst, o.Value...)
	}
	return append(dst, '}')
}

// MarshalJSON implements json.Marshaler.
func (o Op) MarshalJSON() ([]byte, error) { return o.AppendJSON(nil), nil }

// UnmarshalJSON implements json.Unmarshaler. Path segments may be integers, as
// in JavaScript. An unknown type is kept for Tree.Apply to refuse.
func (o *Op) UnmarshalJSON(data []byte) error {
	var wire struct {
		Type  Kind              `json:"type"`
		Path  []json.RawMessage `json:"path"`
		Value json.RawMessage   `json:"value"`
	}
	if err := json.Unmarshal(data, &wire); err != nil {
		return fmt.Errorf("decode operation: %w", err)
	}
	*o = Op{Kind: wire.Type, Path: make([]string, len(wire.Path))}
	for i, raw := range wire.Path {
		seg, err := segment(raw)
		if err != nil {
			return fmt.Errorf("decode operation: path segment %d: %w", i, err)
		}
		o.Path[i] = seg
	}
	switch o.Kind {
	case Set:
		o.Value = wire.Value
	case AppendText:
		v, err := parse(wire.Value, false)
		if err != nil {
			return fmt.Errorf("decode operation: text: %w", err)
		}
		t, ok := v.(*text)
		if !ok {
			return fmt.Errorf("decode operation: text: %w", ErrString)
		}
		o.Text = string(t.b)
	}
	return nil
}

func segment(raw json.RawMessage) (string, error) {
	v, err := parse(raw, false)
	if err != nil {
		return "", err
	}
	switch v := v.(type) {
	case *text:
		return string(v.b), nil
	case literal:
		if _, ok := integer(string(v)); ok {
			return string(v), nil
		}
	}
	return "", ErrString
}
