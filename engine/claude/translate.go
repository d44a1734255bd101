package claude

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"harness"
	"harness/engine/internal/talk"
)

// translator turns messages of the program into facts about a turn. It is pure:
// the same messages give the same facts.
type translator struct {
	again talk.Ref // of an earlier attempt at the turn

	begun   bool
	speech  talk.Speech
	stop    string // why the model stopped last
	model   string
	message string // the answer that streams
	sent    streak // of its block

	agents map[string]string // what subagents said last, by their calls

	calls      map[string]*call // by the program's id
	used       map[harness.CallID]bool
	open       []string      // ids of calls without an outcome, in order
	spent      harness.Usage // of the turn, cost apart
	last       usage         // of the answer that streams, which spent has
	lastSpoken string        // the uuid of the latest message of the main conversation

	strange talk.Strange
}

// call is a call of a tool.
type call struct {
	id     harness.CallID // under which the log has it
	given  string         // the program's id
	name   string
	parent string // of a subagent; "" for the main conversation
	input  json.RawMessage
	told   bool // the log has it
	denied *string
	begun  time.Time
}

func newTranslator(again talk.Ref) *translator {
	return &translator{again: again, calls: make(map[string]*call), used: make(map[harness.CallID]bool), agents: make(map[string]string), strange: make(talk.Strange)}
}

// take is what a message tells.
func (t *translator) take(m any) []harness.Payload {
	switch m := m.(type) {
	case *streamed:
		if m.Parent == "" {
			return t.stream(m)
		}
	case *spoken:
		if m.Type == "user" {
			return t.heard(m)
		}
		return t.spoke(m)
	case *notice:
		return t.noticed(m)
	case *other:
		t.strange.Count(m.Type)
	}
	return nil
}

// stream is a piece of the answer of the main conversation.
func (t *translator) stream(m *streamed) []harness.Payload {
	switch e := &m.Event; e.Type {
	case "message_start":
		t.message, t.last = e.Message.ID, usage{}
		t.count(e.Message.Usage)
		t.model = cmp.Or(e.Message.Model, t.model)
	case "content_block_start":
		t.sent = streak{}
		t.speech.Block()
	case "content_block_delta":
		switch e.Delta.Type {
		case "text_delta":
			t.sent.add(e.Delta.Text)
			return t.speech.Say(e.Delta.Text)
		case "thinking_delta":
			t.sent.add(e.Delta.Thinking)
			return talk.Think(e.Delta.Thinking)
		}
	case "message_delta":
		t.stop = cmp.Or(e.Delta.StopReason, t.stop)
		t.count(e.Usage)
		return []harness.Payload{t.usage(nil)}
	}
	return nil
}

// synthetic is the model of what the program says itself.
const synthetic = "<synthetic>"

// spoke is a finished block of an answer: of the main conversation, what has
// not streamed; of a subagent, that it is at work.
func (t *translator) spoke(m *spoken) (out []harness.Payload) {
	if m.Parent == "" {
		t.lastSpoken = m.UUID
	}
	if m.Message.Model == synthetic && len(m.Error) > 0 && string(m.Error) != "null" {
		return nil // the result says it
	}
	for _, b := range blocks(m.Message.Content) {
		switch {
		case b.Type == "tool_use":
			out = append(out, t.called(m, b)...)
		case m.Parent != "":
			if b.Type == "text" {
				t.agents[m.Parent] = talk.Brief(b.Text)
				out = append(out, &harness.SubagentEvent{AgentID: m.Parent, Status: harness.SubagentRunning, Summary: talk.Brief(b.Text)})
			}
		case b.Type == "text":
			out = append(out, t.speech.Say(t.rest(m.Message.ID, b.Text))...)
		case b.Type == "thinking":
			out = append(out, talk.Think(t.rest(m.Message.ID, b.Thinking))...)
		}
	}
	return out
}

// rest is what of a finished block has not been streamed.
func (t *translator) rest(message, whole string) string {
	if message != t.message {
		t.speech.Block()
		return whole
	}
	rest, ok := t.sent.rest(whole)
	if !ok { // it streamed otherwise: what was shown stays
		return ""
	}
	t.sent.add(rest)
	return rest
}

// noticed is what the program says about itself.
func (t *translator) noticed(m *notice) []harness.Payload {
	switch m.Subtype {
	case "init":
		t.model = cmp.Or(m.Model, t.model)
		if t.begun {
			return nil
		}
		t.begun = true
		tools := make([]harness.ToolInfo, 0, len(m.Tools))
		for _, name := range m.Tools {
			tools = append(tools, harness.ToolInfo{Name: name})
		}
		return []harness.Payload{&harness.TurnStartTools{Tools: tools}}
	case "api_retry":
		why := fmt.Sprintf("%s (%d), retry %d of %d", word(m.Error), m.ErrorStatus, m.Attempt, m.MaxRetries)
		return []harness.Payload{&harness.TransportDiagnostic{Status: "degraded", Kind: "api_retry", Reason: why, FailureCount: m.Attempt}}
	case "permission_denied":
		if c := t.calls[m.ToolUseID]; c != nil {
			c.denied = new(word(m.Message))
		}
	case "compact_boundary":
		c := m.CompactMetadata
		return []harness.Payload{&harness.ContextCompacted{TokensSaved: max(0, c.PreTokens-c.PostTokens), Summary: "the program compacted the conversation"}}
	case "task_started":
		if m.TaskType == "local_agent" && m.ToolUseID != "" {
			return []harness.Payload{&harness.SubagentEvent{AgentID: m.ToolUseID, Status: harness.SubagentRunning, Task: m.Description}}
		}
	}
	return nil
}

// count adds to the turn's tokens what an answer has cost beyond what it had
// before: it is told in sums.
func (t *translator) count(u usage) {
	was := t.last
	t.last = usage{max(was.InputTokens, u.InputTokens), max(was.OutputTokens, u.OutputTokens), max(was.CacheRead, u.CacheRead), max(was.CacheWritten, u.CacheWritten)}
	t.spent.InputTokens += t.last.input() - was.input()
	t.spent.OutputTokens += t.last.OutputTokens - was.OutputTokens
	t.spent.CachedTokens += t.last.CacheRead - was.CacheRead
}

// input is what the model has read.
func (u usage) input() int64 { return u.InputTokens + u.CacheRead + u.CacheWritten }

// usage is what the turn cost so far.
func (t *translator) usage(cost *float64) *harness.Usage {
	u := t.spent
	u.Model, u.CostUSD = t.model, cost
	return &u
}

// finished is what the end of one of the program's turns tells. paid is what
// the whole turn cost.
func (t *translator) finished(m *result, paid float64) []harness.Payload {
	u := t.usage(&paid)
	if window := m.ModelUsage[t.model].ContextWindow; window > 0 {
		u.ContextPct = new(100 * float64(t.last.input()+t.last.OutputTokens) / float64(window))
	}
	return []harness.Payload{u}
}
