package claude

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"harness"
	"harness/engine/internal/talk"
)

// called is a call that the model makes. One of a subagent is an event of the
// subagent; the log has it as a call only if somebody is asked about it.
func (t *translator) called(m *spoken, b block) []harness.Payload {
	c := t.know(b.ID, b.Name, b.Input)
	c.parent, c.begun = m.Parent, when(m.Timestamp)
	if m.Parent == "" {
		return t.tell(b.ID, c)
	}
	return []harness.Payload{&harness.SubagentEvent{AgentID: m.Parent, Status: harness.SubagentRunning, Summary: talk.Brief(b.Name + " " + string(b.Input))}}
}

// know remembers a call. If an earlier attempt asked about the same one, it is
// that one, once: what was answered then was about one call.
func (t *translator) know(id, name string, input json.RawMessage) *call {
	c := t.calls[id]
	if c == nil {
		c = &call{id: harness.CallID(id), given: id, name: name, input: input}
		for _, a := range t.again.Asked {
			if a.Tool == name && !t.used[a.Call] && a.Digest == harness.Digest(input) {
				c.id = a.Call
				break
			}
		}
		t.used[c.id] = true
		t.calls[id] = c
	}
	return c
}

// renew gives a call that was taken for one of an earlier attempt a life of its
// own, and announces it; nil if it has one.
func (t *translator) renew(c *call) []harness.Payload {
	if string(c.id) == c.given {
		return nil
	}
	c.id = harness.CallID(c.given)
	return []harness.Payload{&harness.ToolCall{Name: c.name, Arguments: c.input, ToolCallID: c.id}}
}

// tell announces a call, once.
func (t *translator) tell(id string, c *call) []harness.Payload {
	if c.told {
		return nil
	}
	c.told = true
	t.open = append(t.open, id)
	return []harness.Payload{&harness.ToolCall{Name: c.name, Arguments: c.input, ToolCallID: c.id}}
}

// asks is a call that the program asks about, and what has to be said before
// anybody can be.
func (t *translator) asks(m *request) (*call, []harness.Payload) {
	id := m.Request.ToolUseID
	if id == "" {
		id = m.RequestID
	}
	c := t.know(id, m.Request.ToolName, m.Request.Input)
	return c, t.tell(id, c)
}

// maxResult bounds the structured result of a call; the text is all there.
const maxResult = 64 << 10

// heard is what goes back to the model: results of calls.
func (t *translator) heard(m *spoken) (out []harness.Payload) {
	if m.Parent == "" && !m.Replay {
		t.lastSpoken = m.UUID
	}
	for _, b := range blocks(m.Message.Content) {
		if b.Type != "tool_result" {
			continue
		}
		c := t.calls[b.ToolUseID]
		if c == nil {
			continue
		}
		if c.parent == "" && (c.name == "Task" || c.name == "Agent") {
			status := harness.SubagentCompleted
			if b.IsError {
				status = harness.SubagentFailed
			}
			out = append(out, &harness.SubagentEvent{AgentID: b.ToolUseID, Status: status, Summary: cmp.Or(t.agents[b.ToolUseID], talk.Brief(plain(b.Content)))})
		}
		if c.told {
			out = append(out, t.outcome(m, b, c)...)
		}
	}
	return out
}

// outcome is how a call ended.
func (t *translator) outcome(m *spoken, b block, c *call) []harness.Payload {
	i := slices.Index(t.open, b.ToolUseID)
	if i < 0 {
		return nil // it has its outcome
	}
	t.open = slices.Delete(t.open, i, i+1)
	text := plain(b.Content)
	o := &harness.ToolOutcome{ToolCallID: c.id, ToolName: c.name, Status: harness.OutcomeOK}
	if at := when(m.Timestamp); !c.begun.IsZero() && at.After(c.begun) {
		o.ElapsedMS = at.Sub(c.begun).Milliseconds()
	}
	switch {
	case c.denied != nil:
		o.Status, o.Reason = harness.OutcomeDenied, *c.denied
	case b.IsError:
		o.Status, o.Error = harness.OutcomeError, text
	}
	o.OutcomeType = harness.OutcomeType(o.Status)
	if o.Status != harness.OutcomeOK {
		return []harness.Payload{o}
	}
	r := &harness.ToolResult{ToolCallID: c.id, ToolName: c.name, Output: text}
	if raw := bytes.TrimSpace(m.ToolUseResult); len(raw) > 0 && raw[0] == '{' && len(raw) <= maxResult {
		r.Result = raw
	}
	return []harness.Payload{r, o}
}

// abandoned closes the calls that the program never came back to.
func (t *translator) abandoned() (out []harness.Payload) {
	for _, id := range t.open {
		c := t.calls[id]
		o := &harness.ToolOutcome{ToolCallID: c.id, ToolName: c.name, Status: harness.OutcomeError, Reason: "interrupted", Error: "interrupted"}
		if c.denied != nil {
			o.Status, o.Reason, o.Error = harness.OutcomeDenied, *c.denied, ""
		}
		o.OutcomeType = harness.OutcomeType(o.Status)
		out = append(out, o)
	}
	t.open = nil
	return out
}

// allowed notes since when a call may run.
func (c *call) allowed(now time.Time) { c.begun = now }

// refused notes that a call may not run.
func (c *call) refused(why string) { c.denied = &why }

// plain is the text of a result.
func plain(content json.RawMessage) string {
	var parts []string
	for _, b := range blocks(content) {
		switch b.Type {
		case "text":
			parts = append(parts, b.Text)
		case "image":
			parts = append(parts, "[image]")
		}
	}
	return strings.Join(parts, "\n")
}
