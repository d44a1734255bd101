package delta

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"harness"
	"harness/internal/shape"
)

// fields reads a JSON object field by field and keeps the first error. Names
// are compared exactly; none is there twice.
type fields struct {
	path string // where the object stands; "" for the message itself
	raw  map[string]json.RawMessage
	err  error
}

// newFields reads JSON that was checked, and shares its bytes; what names it in
// the error if it is no object.
func newFields(path string, raw json.RawMessage, what string) *fields {
	f := &fields{path: path}
	if k := kindOf(raw); k != "an object" {
		f.err = fmt.Errorf("%s: expected an object, got %s: %w", what, k, harness.ErrInvalid)
		return f
	}
	f.raw = make(map[string]json.RawMessage, 4)
	for name, value := range shape.Members(bytes.TrimLeft(raw, " \t\r\n")) {
		f.raw[name] = value
	}
	return f
}

func (f *fields) place(name string) string {
	if f.path == "" {
		return name
	}
	return f.path + "." + name
}

func (f *fields) fail(name string, kind error, format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf("%s: %s: %w", f.place(name), fmt.Sprintf(format, args...), kind)
	}
}

// take finds a field of one kind. Without it, or with another kind in its
// place, it is an error; an optional one may be absent.
func (f *fields) take(name, kind string, optional bool) (json.RawMessage, bool) {
	raw, ok := f.raw[name]
	switch {
	case f.err != nil, !ok && optional:
		return nil, false
	case !ok:
		f.fail(name, harness.ErrInvalid, "missing, expected %s", kind)
		return nil, false
	case kindOf(raw) != kind:
		f.fail(name, harness.ErrInvalid, "expected %s, got %s", kind, kindOf(raw))
		return nil, false
	}
	return raw, true
}

func (f *fields) text(name string) string {
	raw, ok := f.take(name, "a string", false)
	if !ok {
		return ""
	}
	return f.unquote(name, raw)
}

// optional is a string that may be absent: nil then.
func (f *fields) optional(name string) *string {
	raw, ok := f.take(name, "a string", true)
	if !ok {
		return nil
	}
	return new(f.unquote(name, raw))
}

func (f *fields) unquote(name string, raw json.RawMessage) string {
	s, ok := shape.Unquote(raw)
	if !ok {
		f.fail(name, harness.ErrInvalid, "not a string")
	}
	return s
}

func (f *fields) flag(name string) bool {
	raw, ok := f.take(name, "a boolean", true)
	return ok && raw[0] == 't'
}

// integer takes any spelling of a whole number that JavaScript has, like 1e3.
func (f *fields) integer(name string) *int {
	raw, ok := f.take(name, "a number", true)
	if !ok {
		return nil
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || v != math.Trunc(v) || math.Abs(v) > 1<<53 {
		f.fail(name, harness.ErrInvalid, "expected an integer, got %s", shape.Clip(string(raw)))
		return nil
	}
	return new(int(v))
}

// list is an array of at most limit values, which share its bytes: one of
// many more costs no memory.
func (f *fields) list(name string, limit int) (items []json.RawMessage) {
	raw, ok := f.take(name, "an array", false)
	if !ok {
		return nil
	}
	n := 0
	for item := range shape.Elements(raw) {
		if n++; n <= limit {
			items = append(items, item)
		}
	}
	if n > limit {
		f.fail(name, harness.ErrTooLarge, "%d %s, more than %d", n, name, limit)
	}
	return items
}

// bounded is a required string of 1 to limit bytes.
func (f *fields) bounded(name string, limit int) string {
	s := f.text(name)
	switch {
	case f.err != nil:
	case s == "":
		f.fail(name, harness.ErrInvalid, "must not be empty")
	case len(s) > limit:
		f.fail(name, harness.ErrTooLarge, "has %d bytes, more than %d", len(s), limit)
	}
	return s
}

// id is a required identifier.
func (f *fields) id(name string) string {
	s := f.text(name)
	if f.err == nil {
		if err := harness.CheckID(f.place(name), s); err != nil {
			f.err = err
		}
	}
	return s
}

// commandID is the optional name that a client gives a command.
func (f *fields) commandID() string {
	id := f.optional("commandId")
	switch {
	case id == nil || f.err != nil:
		return ""
	case *id == "" || len(*id) > maxCommandID:
		f.fail("commandId", harness.ErrInvalid, "must be 1 to %d bytes", maxCommandID)
		return ""
	}
	return *id
}

// kindOf names the kind of a JSON value.
func kindOf(raw json.RawMessage) string {
	for _, c := range raw {
		switch c {
		case ' ', '\t', '\n', '\r':
			continue
		case '{':
			return "an object"
		case '[':
			return "an array"
		case '"':
			return "a string"
		case 't', 'f':
			return "a boolean"
		case 'n':
			return "null"
		}
		return "a number"
	}
	return "nothing"
}
