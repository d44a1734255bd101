package native

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"harness"
)

// HookPoint says when a hook runs.
type HookPoint string

// The points. What exit code 2 means at each is said with it; any other code but
// zero is only reported.
const (
	HookTurnStart  HookPoint = "turn_start"  // 2: the turn does not begin
	HookBeforeTool HookPoint = "before_tool" // 2: the call is denied
	HookAfterTool  HookPoint = "after_tool"  // 2: the model is told what the hook printed
	HookStop       HookPoint = "stop"        // the model has no more to say; 2: it goes on, told what the hook printed
	HookTurnEnd    HookPoint = "turn_end"    // the turn is over, whatever came of it
)

// Hook is a command of the operator's that runs at a point of every turn, in
// the workspace's sandbox, with a JSON object about the occasion on its stdin.
type Hook struct {
	On      HookPoint
	Tools   string // which tools, as path.Match has it; empty is all
	Command string // for the shell
	Timeout time.Duration
}

const (
	// hookTimeout is for hooks that have none.
	hookTimeout = time.Minute
	// hookBlocks is the exit code by which a hook says no.
	hookBlocks = 2
	// hookOutput bounds what is kept of a hook's words.
	hookOutput = 4 << 10
)

// occasion is what a hook reads.
type occasion struct {
	Event   HookPoint         `json:"event"`
	Session harness.SessionID `json:"session_id"`
	Turn    harness.TurnID    `json:"turn_id"`
	Cwd     string            `json:"cwd"`
	Prompt  string            `json:"prompt,omitempty"`
	Call    string            `json:"tool_call_id,omitempty"`
	Tool    string            `json:"tool,omitempty"`
	Input   json.RawMessage   `json:"input,omitempty"`
	Status  string            `json:"status,omitempty"`
	Output  string            `json:"output,omitempty"`
	Error   string            `json:"error,omitempty"`
}

// hook runs the hooks of an occasion and returns why one of them said no; empty
// if none did. It may be called at once for several calls.
func (r *turn) hook(ctx context.Context, o occasion) (no string, err error) {
	return r.hookIn(ctx, ctx, o)
}

// hookIn is hook, where the hooks may have less time than what is said of them.
func (r *turn) hookIn(running, ctx context.Context, o occasion) (no string, err error) {
	for _, h := range r.e.opts.Hooks {
		if h.On != o.Event || r.env == nil {
			continue
		}
		if o.Event == HookTurnEnd && slices.Contains(r.conv.turn.ended, actor(h)) { // before a restart
			continue
		}
		if fits, err := path.Match(h.Tools, o.Tool); h.Tools != "" && o.Tool != "" && (err != nil || !fits) {
			continue
		}
		event := r.runHook(running, h, o)
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if err := r.h.Emit(ctx, event); err != nil {
			return "", err
		}
		if event.Status == "blocked" {
			return event.Reason, nil
		}
	}
	return "", nil
}

func (r *turn) runHook(ctx context.Context, h Hook, o occasion) *harness.HookEvent {
	event := &harness.HookEvent{Kind: string(h.On), Actor: actor(h)}
	o.Session, o.Turn, o.Cwd = r.t.Session, r.t.ID, r.t.Directory
	if o.Input != nil && !json.Valid(o.Input) {
		o.Input = nil
	}
	input, err := json.Marshal(o)
	if err != nil {
		panic("native: " + err.Error())
	}
	timeout := h.Timeout
	if timeout <= 0 {
		timeout = hookTimeout
	}
	turned := ctx
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out, said := &bounded{limit: hookOutput}, &bounded{limit: hookOutput}
	child, err := r.env.Workspace.Start(ctx, harness.Process{
		Args: []string{"/bin/sh", "-c", h.Command}, Stdin: bytes.NewReader(input), Stdout: out, Stderr: said,
	})
	if err != nil {
		event.Status, event.Reason = "failed", err.Error()
		return event
	}
	exit, err := child.Wait()
	words := strings.TrimSpace(string(said.text))
	if words == "" {
		words = strings.TrimSpace(string(out.text))
	}
	switch {
	case err != nil:
		event.Status, event.Reason = "failed", err.Error()
	case turned.Err() != nil:
		event.Status, event.Reason = "timeout", "the turn could not wait for it any longer"
	case ctx.Err() != nil:
		event.Status, event.Reason = "timeout", fmt.Sprintf("it did not end within %s", timeout)
	case exit.Code == hookBlocks:
		if words == "" {
			words = "a hook said no"
		}
		event.Status, event.Reason = "blocked", words
	case exit.Code != 0:
		event.Status, event.Reason = "failed", joined(fmt.Sprintf("exit code %d", exit.Code), words)
	default:
		event.Status, event.Reason = "ok", words
	}
	return event
}

// actor is a hook as the log names it.
func actor(h Hook) string { return cut(h.Command, 200) }

// bounded keeps the beginning of what is written to it.
type bounded struct {
	limit int
	text  []byte
}

func (b *bounded) Write(p []byte) (int, error) {
	b.text = append(b.text, p[:min(len(p), b.limit-len(b.text))]...)
	return len(p), nil
}

// begin asks the hooks whether the turn may begin.
func (r *turn) begin(ctx context.Context) error {
	no, err := r.hook(ctx, occasion{Event: HookTurnStart, Prompt: harness.PlainText(r.t.Parts)})
	if err == nil && no != "" {
		return fmt.Errorf("a hook did not let the turn begin: %s", no)
	}
	return err
}

// mayStop asks the hooks whether the model may stop, and returns what it is to
// be told if not.
func (r *turn) mayStop(ctx context.Context) (string, error) {
	last := ""
	if round := r.conv.last(); round != nil {
		last = string(round.text)
	}
	return r.hook(ctx, occasion{Event: HookStop, Output: last})
}
