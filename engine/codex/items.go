package codex

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"harness"
	"harness/engine/internal/talk"
)

// item is an item that has begun, or is done.
func (t *translator) item(i *item, done, main bool) []harness.Payload {
	if name, input := i.call(); name != "" {
		return t.called(i, name, input, done, main)
	}
	if !main {
		return nil
	}
	switch i.Type {
	case "agentMessage", "plan":
		if !done {
			t.speech.Block()
			t.sent[i.ID] = new(strings.Builder)
			return nil
		}
		return t.speech.Say(t.rest(i.ID, i.Text))
	case "reasoning":
		if !done {
			t.sent[i.ID] = new(strings.Builder)
			return nil
		}
		if t.streamed(i.ID).Len() > 0 {
			return nil
		}
		return talk.Think(strings.Join(i.Summary, "\n\n"))
	case "contextCompaction":
		if done {
			return []harness.Payload{&harness.ContextCompacted{Summary: "codex compacted the conversation; it does not say how"}}
		}
	case "subAgentActivity":
		return []harness.Payload{&harness.SubagentEvent{AgentID: i.Agent, Status: activity(i.Kind)}}
	case "userMessage", "hookPrompt", "functionCallOutput", "enteredReviewMode", "exitedReviewMode", "sleep":
	default:
		if !done {
			t.strange.Count("item " + i.Type)
		}
	}
	return nil
}

// activity is S3's word for what a subagent does.
func activity(kind string) string {
	switch kind {
	case "completed":
		return harness.SubagentCompleted
	case "interrupted":
		return harness.SubagentCancelled
	}
	return harness.SubagentRunning
}

// rest is what of a finished message has not been streamed.
func (t *translator) rest(id, whole string) string {
	sent := t.streamed(id).String()
	rest, ok := strings.CutPrefix(whole, sent)
	if !ok { // it streamed otherwise: what was shown stays
		return ""
	}
	t.streamed(id).WriteString(rest)
	return rest
}

// call is the item as a call: the name of its tool and what goes in; "" if it is
// none.
func (i *item) call() (name string, input json.RawMessage) {
	switch i.Type {
	case "commandExecution":
		return "exec_command", object("command", line(i.Command), "cwd", i.Dir)
	case "fileChange":
		return "apply_patch", object("patch", patch(i.Changes))
	case "mcpToolCall":
		return "mcp__" + i.Server + "__" + i.Tool, i.Arguments
	case "dynamicToolCall", "collabAgentToolCall":
		if i.Arguments == nil {
			i.Arguments = object("prompt", i.Prompt)
		}
		return i.Tool, i.Arguments
	case "webSearch":
		return "web_search", object("query", i.Query)
	case "imageView":
		return "view_image", object("path", i.Path)
	case "imageGeneration":
		return "image_generation", object()
	}
	return "", nil
}

// called is a call that has begun, or is done.
func (t *translator) called(i *item, name string, input json.RawMessage, done, main bool) (facts []harness.Payload) {
	c := t.calls.Find(i.ID)
	if !main && (c == nil || !c.Told()) {
		return nil // of a subagent, and nobody was asked
	}
	if c == nil || !done {
		t.fresh = true
		c = t.calls.Know(i.ID, name, input)
		facts = t.calls.Tell(c)
	}
	if i.Type == "fileChange" {
		t.changes[i.ID] = i.Changes
	}
	t.commands = t.commands || i.Type == "commandExecution" || i.Type == "mcpToolCall"
	if i.Type == "collabAgentToolCall" {
		facts = append(facts, i.delegated(done)...)
	}
	if !done {
		return facts
	}
	if i.Status == "declined" && !c.Refused() {
		c.Refuse("codex declined it")
	}
	end := talk.End{Failed: i.failure(), Output: i.output(), Result: i.structured()}
	if i.Duration != nil {
		end.Elapsed = time.Duration(*i.Duration) * time.Millisecond
	}
	return append(facts, t.calls.Close(c, end)...)
}

// delegated is what a call tells of the agents that it is about.
func (i *item) delegated(done bool) (facts []harness.Payload) {
	status := harness.SubagentRunning
	switch {
	case done && i.Status == "failed":
		status = harness.SubagentFailed
	case done && i.Tool == "closeAgent":
		status = harness.SubagentCompleted
	}
	for _, id := range i.Receivers {
		facts = append(facts, &harness.SubagentEvent{AgentID: id, Status: status, Task: i.Prompt})
	}
	return facts
}

// failure says why a call failed; "" if it did not.
func (i *item) failure() string {
	if i.Status != "failed" && (i.Success == nil || *i.Success) {
		return ""
	}
	switch {
	case i.Output != nil && *i.Output != "":
		return *i.Output
	case i.Exit != nil:
		return fmt.Sprintf("it ended with %d", *i.Exit)
	case len(i.Error) > 0 && string(i.Error) != "null":
		return string(i.Error)
	}
	return "it failed"
}

// output is what a call printed.
func (i *item) output() string {
	if i.Output != nil {
		return *i.Output
	}
	for _, raw := range []json.RawMessage{i.Content, i.content()} {
		var parts []struct{ Text string }
		if json.Unmarshal(raw, &parts) == nil && len(parts) > 0 {
			var all []string
			for _, p := range parts {
				all = append(all, p.Text)
			}
			return strings.Join(all, "\n")
		}
	}
	return ""
}

// content is what a server's tool gave back.
func (i *item) content() json.RawMessage {
	var r struct{ Content json.RawMessage }
	_ = json.Unmarshal(i.Result, &r) // one that is no such result has none
	return r.Content
}

// structured is a result for programs, if there is one.
func (i *item) structured() json.RawMessage {
	switch {
	case i.Exit != nil:
		return object("exit_code", *i.Exit)
	case i.Type == "mcpToolCall":
		return bytes.TrimSpace(i.Result)
	}
	return nil
}

// object is a JSON object of names and values.
func object(kv ...any) json.RawMessage {
	m := make(map[string]any, len(kv)/2)
	for i := 0; i < len(kv); i += 2 {
		m[kv[i].(string)] = kv[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic("codex: an object that is no JSON: " + err.Error())
	}
	return b
}
