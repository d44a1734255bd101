package delta

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// checkSeedState returns what makes doc no HarnessState of S0 with S1's
// extensions. It looks only at the fields that the texts declare. An error of
// null is an error that was cleared.
func checkSeedState(doc []byte) error {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return err
	}
	c := checker{}
	st := c.object("state", v)
	c.word("status", st["status"], "idle", "running", "awaiting-approval", "error")
	for i, m := range c.list("messages", st["messages"]) {
		c.message(fmt.Sprintf("messages[%d]", i), m)
	}
	if p, ok := st["pendingApprovals"]; ok {
		for i, v := range c.list("pendingApprovals", p) {
			at := fmt.Sprintf("pendingApprovals[%d]", i)
			a := c.object(at, v)
			c.text(at+".toolCallId", a["toolCallId"])
			c.text(at+".toolName", a["toolName"])
			c.text(at+".description", a["description"])
		}
	}
	if id, ok := st["sessionId"]; ok {
		c.text("sessionId", id)
	}
	if e := st["error"]; e != nil {
		c.text("error", e)
		c.word("status beside an error", st["status"], "error")
	}
	return c.err
}

// checker keeps the first complaint.
type checker struct{ err error }

func (c *checker) want(at, what string, ok bool, v any) {
	if !ok && c.err == nil {
		c.err = fmt.Errorf("%s: want %s, have %v", at, what, v)
	}
}

func (c *checker) object(at string, v any) map[string]any {
	o, ok := v.(map[string]any)
	c.want(at, "an object", ok, v)
	return o
}

func (c *checker) list(at string, v any) []any {
	l, ok := v.([]any)
	c.want(at, "an array", ok, v)
	return l
}

func (c *checker) text(at string, v any) {
	_, ok := v.(string)
	c.want(at, "a string", ok, v)
}

func (c *checker) word(at string, v any, of ...string) {
	s, ok := v.(string)
	c.want(at, fmt.Sprint("one of ", of), ok && slices.Contains(of, s), v)
}

func (c *checker) message(at string, v any) {
	m := c.object(at, v)
	c.text(at+".id", m["id"])
	c.word(at+".role", m["role"], "user", "assistant")
	c.text(at+".content", m["content"])
	c.word(at+".status", m["status"], "pending", "streaming", "complete", "error")
	calls, ok := m["toolCalls"]
	if !ok {
		return
	}
	for i, v := range c.list(at+".toolCalls", calls) {
		at := fmt.Sprintf("%s.toolCalls[%d]", at, i)
		call := c.object(at, v)
		c.text(at+".id", call["id"])
		c.text(at+".name", call["name"])
		c.word(at+".status", call["status"], "running", "awaiting-approval", "complete", "error", "denied")
		if in, ok := call["input"]; ok {
			c.object(at+".input", in)
		}
		if out, ok := call["output"]; ok {
			c.text(at+".output", out)
		}
	}
}
