package rpc

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"harness"
)

// params reads the fields of an object and keeps the first complaint.
type params struct {
	path   string
	fields map[string]json.RawMessage
	err    *rpcError
}

func newParams(raw json.RawMessage) *params {
	p := &params{}
	if len(raw) > 0 && json.Unmarshal(raw, &p.fields) != nil {
		p.err = badParam("params", "must be an object")
	}
	return p
}

func (p *params) fail(field, why string) {
	if p.err == nil {
		p.err = badParam(p.path+field, why)
	}
}

// take keeps the complaint of a nested object.
func (p *params) take(q *params) {
	if p.err == nil {
		p.err = q.err
	}
}

// get decodes a field. It reports whether the field is there and good.
func (p *params) get(field, want string, required bool, into any) bool {
	raw, ok := p.fields[field]
	if !ok {
		if required {
			p.fail(field, "missing, must be "+want)
		}
		return false
	}
	if string(raw) == "null" || json.Unmarshal(raw, into) != nil {
		p.fail(field, "must be "+want)
		return false
	}
	return true
}

func (p *params) text(field string, required bool, most int) string {
	var s string
	if p.get(field, "a string", required, &s) {
		switch {
		case required && s == "":
			p.fail(field, "must not be empty")
		case len(s) > most:
			p.fail(field, fmt.Sprintf("longer than %d bytes", most))
		}
	}
	return s
}

func (p *params) optional(field string) *string {
	var s string
	if !p.get(field, "a string", false, &s) {
		return nil
	}
	return &s
}

func (p *params) integer(field string) *int {
	var n int
	if !p.get(field, "an integer", false, &n) {
		return nil
	}
	return &n
}

// count is a number from 0 on.
func (p *params) count(field string, absent int) int {
	n := p.integer(field)
	switch {
	case n == nil:
		return absent
	case *n < 0:
		p.fail(field, "must not be negative")
	}
	return *n
}

func (p *params) flag(field string) bool {
	var b bool
	p.get(field, "true or false", false, &b)
	return b
}

// object is a nested object, or nil.
func (p *params) object(field string, required bool) *params {
	q := &params{path: p.path + field + "."}
	if !p.get(field, "an object", required, &q.fields) {
		return nil
	}
	return q
}

// thread is the id of the thread that the call is about.
func (p *params) thread() harness.SessionID {
	s := p.text("threadId", true, harness.MaxID)
	if p.err != nil {
		return ""
	}
	id, err := harness.ParseSessionID(s)
	if err != nil {
		p.fail("threadId", harness.ClientText(err))
	}
	return id
}

// parts is a user's input: text and files.
func (p *params) parts(field string) []harness.Part {
	var list []json.RawMessage
	if !p.get(field, "an array", true, &list) {
		return nil
	}
	var parts []harness.Part
	for i, raw := range list {
		q := &params{path: fmt.Sprintf("%s%s[%d].", p.path, field, i)}
		if json.Unmarshal(raw, &q.fields) != nil || q.fields == nil {
			p.fail(fmt.Sprintf("%s[%d]", field, i), "must be an object")
			return nil
		}
		part := harness.Part{Type: q.text("type", true, 16)}
		switch part.Type {
		case "text":
			part.Text = q.text("text", true, harness.MaxPrompt)
		case "file":
			part.URL, part.Path = q.text("url", false, 4096), q.text("path", false, 4096)
			if part.Path == "" {
				part.Path = q.text("filename", false, 4096)
			}
			part.MediaType = q.text("mime", false, harness.MaxID)
			if part.URL == "" && part.Path == "" {
				q.fail("url", "a file needs a url or a path")
			}
		default:
			q.fail("type", `must be "text" or "file"`)
		}
		p.take(q)
		parts = append(parts, part)
	}
	if p.err == nil {
		if err := harness.CheckParts(parts); err != nil {
			p.fail(field, harness.ClientText(err))
		}
	}
	return parts
}

// choose reads an optional word of a closed set.
func choose[T any](p *params, field string, set map[string]T) *T {
	s := p.optional(field)
	if s == nil {
		return nil
	}
	v, ok := set[*s]
	if !ok {
		p.fail(field, "must be one of "+strings.Join(slices.Sorted(maps.Keys(set)), ", "))
		return nil
	}
	return &v
}
