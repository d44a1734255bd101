// Package codex reads the rollouts of Codex, as it keeps them in
// ~/.codex/sessions. Their form is its own and changes: what this build does not
// know is counted as lost.
package codex

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"harness"
	"harness/archive/transcript"
)

// lacks is what a rollout never has.
const lacks = "no approvals, no live output of tools, and of its reasoning only summaries"

// Read reads a rollout. One that is damaged is ErrCorrupt, one that holds no
// conversation ErrInvalid.
func Read(r io.Reader, o *transcript.Options) (*transcript.Session, error) {
	t := &reader{log: transcript.New(o), failed: map[string]bool{}}
	if err := t.log.Lines(r, t.take); err != nil {
		return nil, err
	}
	return t.log.Session()
}

type reader struct {
	log    *transcript.Log
	model  string
	open   bool            // a task has been started
	spoken bool            // and its prompt was said
	failed map[string]bool // calls
	before tokens          // what earlier turns had used
	used   tokens
}

func (t *reader) take(raw []byte) error {
	var l line
	if err := decode(raw, &l); err != nil {
		return err
	}
	if !t.log.Opened() {
		return t.begin(l)
	}
	switch l.Type {
	case "event_msg":
		return t.event(l)
	case "response_item":
		return t.item(l)
	case "turn_context":
		var c context
		err := decode(l.Payload, &c)
		t.model = cmp.Or(c.Model, t.model)
		return err
	case "compacted":
		var c compaction
		err := decode(l.Payload, &c)
		t.log.Compacted(l.Time, c.Message)
		return err
	}
	t.log.Lose(l.Type)
	return nil
}

// begin reads the first line.
func (t *reader) begin(l line) error {
	var m meta
	if l.Type != "session_meta" {
		return fmt.Errorf("a rollout begins with session_meta, not with %.100q: %w", l.Type, harness.ErrInvalid)
	}
	if err := decode(l.Payload, &m); err != nil {
		return err
	}
	return t.log.Open(l.Time, transcript.Origin{
		Kind: "codex", Program: "Codex " + cmp.Or(m.Version, "of some version"), ID: m.ID, Directory: m.Directory, Lacks: lacks,
	})
}

func decode(raw []byte, to any) error {
	if err := json.Unmarshal(raw, to); err != nil {
		return fmt.Errorf("%w: %w", err, harness.ErrCorrupt)
	}
	return nil
}

// event is what the screen was told: when turns begin and end, and what people
// said. What the model said is taken from its items.
func (t *reader) event(l line) error {
	var e event
	if err := decode(l.Payload, &e); err != nil {
		return err
	}
	switch e.Type {
	case "task_started", "turn_started":
		t.end(time.Time{}, harness.TurnCancelled, transcript.NoEnd)
		t.open = true
	case "task_complete", "turn_complete":
		t.end(l.Time, harness.TurnCompleted, "")
	case "turn_aborted":
		t.end(l.Time, harness.TurnCancelled, cmp.Or(e.Reason, "user"))
	case "error", "stream_error":
		if e.Type == "error" {
			t.log.Failed(l.Time, e.Message)
			t.end(l.Time, harness.TurnError, e.Message)
		}
	case "user_message":
		t.hear(l.Time, e.Message)
	case "item_completed":
		t.completed(l.Time, &e)
	case "token_count":
		if e.Info != nil {
			t.used = e.Info.Total
			t.log.Used(harness.Usage{
				InputTokens:  t.used.In - t.before.In - (t.used.Cached - t.before.Cached),
				OutputTokens: t.used.Out - t.before.Out, CachedTokens: t.used.Cached - t.before.Cached, Model: t.model,
			})
		}
	case "agent_message", "agent_reasoning", "agent_reasoning_raw_content", "context_compacted": // told again by items
	default:
		t.log.Lose("event " + e.Type)
	}
	return nil
}

// completed is an item of the screen. The model's own tell of the same, but for
// what people said and whether a command went wrong.
func (t *reader) completed(at time.Time, e *event) {
	switch e.Item.Type {
	case "UserMessage":
		said, rest := e.Item.Content.text()
		for _, kind := range rest {
			t.log.Lose(kind)
		}
		t.hear(at, said)
	case "CommandExecution", "FileChange", "McpToolCall":
		t.failed[e.Item.ID] = e.Item.Status == "failed" || e.Item.Status == "declined"
	case "AgentMessage", "Reasoning":
	default:
		t.log.Lose("item " + e.Item.Type)
	}
}

// hear is what a person said: the prompt of a turn, or a word to it.
func (t *reader) hear(at time.Time, text string) {
	switch {
	case text == "":
	case t.open && t.spoken:
		t.log.Word(at, harness.TextPart(text))
	default:
		t.open, t.spoken = true, true
		t.log.Prompt(at, t.model, harness.TextPart(text))
	}
}

func (t *reader) end(at time.Time, status, reason string) {
	t.log.End(at, status, reason)
	t.open, t.spoken, t.before = false, false, t.used
}

// item is what went between the program and its model.
func (t *reader) item(l line) error {
	var i item
	if err := decode(l.Payload, &i); err != nil {
		return err
	}
	switch i.Type {
	case "message":
		said, rest := i.Content.text()
		if i.Role != "assistant" { // what a person said is told by the screen; the rest is the program's
			if i.Role != "user" || strings.HasPrefix(said, "<") {
				t.log.Lose("instructions")
			}
			return nil
		}
		for _, kind := range rest {
			t.log.Lose(kind)
		}
		t.log.Say(l.Time, said)
	case "reasoning":
		said, _ := i.Summary.text()
		t.log.Think(l.Time, said)
	case "function_call":
		t.log.Call(l.Time, i.Call, i.Name, json.RawMessage(i.Args))
	case "custom_tool_call":
		t.log.Call(l.Time, i.Call, i.Name, json.RawMessage(i.Input))
	case "local_shell_call":
		t.log.Call(l.Time, cmp.Or(i.Call, i.ID), "local_shell", i.Action)
	case "web_search_call":
		id := cmp.Or(i.ID, "web_search-"+l.Time.Format(time.RFC3339Nano))
		t.log.Call(l.Time, id, "web_search", i.Action)
		t.log.Result(l.Time, id, i.Status, i.Status == "failed")
	case "function_call_output", "custom_tool_call_output":
		said, failed, rest := output(i.Output)
		for _, kind := range rest {
			t.log.Lose(kind + " of a tool")
		}
		t.log.Result(l.Time, i.Call, said, failed || t.failed[i.Call])
	default:
		t.log.Lose("item " + i.Type)
	}
	return nil
}
