package enginetest

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"harness"
)

// enter runs the hook and refuses a call whose context is done.
func (h *Host) enter(ctx context.Context, what string) error {
	if h.Before != nil {
		h.Before(ctx, what)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

func (h *Host) leave(what string) {
	if h.After != nil {
		h.After(what)
	}
}

// Emit adds a fact to the log, or drops it if it would break a promise.
func (h *Host) Emit(ctx context.Context, p harness.Payload) error {
	what := "emit " + string(p.Type())
	if err := h.enter(ctx, what); err != nil {
		return err
	}
	err := h.take(p)
	h.leave(what)
	return err
}

// Follow is Emit: this session never outlives its run.
func (h *Host) Follow(ctx context.Context, _ uint64, p harness.Payload) error { return h.Emit(ctx, p) }

// History yields the log after a place.
func (h *Host) History(_ context.Context, after harness.Seq) iter.Seq2[harness.Event, error] {
	events := h.Events()
	return func(yield func(harness.Event, error) bool) {
		for _, e := range events {
			if e.Seq > after && !yield(e, nil) {
				return
			}
		}
	}
}

func (h *Host) take(p harness.Payload) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch p.(type) {
	case *harness.UserMessage, *harness.TurnStart, *harness.TurnEnd, *harness.ApprovalRequired, *harness.ApprovalApplied,
		*harness.Session, *harness.SessionState, *harness.HealthSnapshot:
		h.complain("%s is not an engine's to say", p.Type())
		return fmt.Errorf("emit %s: %w", p.Type(), harness.ErrInvalid)
	}
	if h.acceptable(p) {
		h.record(h.addressed(p))
	}
	return nil
}

// acceptable decides whether a fact may join the log. It needs h.mu.
func (h *Host) acceptable(p harness.Payload) bool {
	if h.state.Turn == nil {
		h.complain("%s after the turn ended", p.Type())
		return false
	}
	switch p := p.(type) {
	case *harness.ToolCall:
		known, open := h.call(p.ToolCallID)
		if known && !open && !h.interrupted[p.ToolCallID] {
			h.complain("tool_call %s again, after its outcome", p.ToolCallID)
		}
		h.known[p.ToolCallID] = true
		return !known
	case *harness.ToolLog:
		return h.about(p, p.ToolCallID)
	case *harness.ToolResult:
		return h.about(p, p.ToolCallID)
	case *harness.ToolOutcome:
		return h.about(p, p.ToolCallID)
	default:
		return true
	}
}

// about reports whether a fact is about an open call.
func (h *Host) about(p harness.Payload, id harness.CallID) bool {
	known, open := h.call(id)
	switch {
	case open:
		return true
	case !known:
		h.complain("%s of the unknown call %q", p.Type(), id)
	case !h.interrupted[id]:
		h.complain("%s of call %s, which has its outcome", p.Type(), id)
	}
	return false
}

// call finds a call of the turn.
func (h *Host) call(id harness.CallID) (known, open bool) {
	open = slices.ContainsFunc(h.state.Turn.Open, func(c harness.OpenCall) bool { return c.ID == id })
	return open || h.known[id], open
}

// addressed names the message that text goes to: a new one after a steer.
func (h *Host) addressed(p harness.Payload) harness.Payload {
	if !h.state.Turn.Steered {
		return p
	}
	switch p := p.(type) {
	case *harness.Token:
		return &harness.Token{ItemID: h.item(), Text: p.Text}
	case *harness.Thinking:
		return &harness.Thinking{ItemID: h.item(), Text: p.Text}
	case *harness.Reflection:
		return &harness.Reflection{ItemID: h.item(), Text: p.Text}
	case *harness.Response:
		return &harness.Response{ItemID: h.item(), Text: p.Text, StopReason: p.StopReason}
	}
	return p
}

// Checkpoint records where the next attempt may go on.
func (h *Host) Checkpoint(ctx context.Context, ref string) error {
	what := "checkpoint " + ref
	if err := h.enter(ctx, what); err != nil {
		return err
	}
	h.mu.Lock()
	h.record(&harness.SessionCheckpoint{SessionID: h.state.Session, CheckpointType: "engine", Status: string(h.state.Status), EngineRef: ref})
	h.mu.Unlock()
	h.leave(what)
	return nil
}

// Ask lets Answer decide about an open call, once.
func (h *Host) Ask(ctx context.Context, u harness.ToolUse) (harness.Decision, error) {
	what := "ask " + u.Tool
	if err := h.enter(ctx, what); err != nil {
		return harness.Decision{}, err
	}
	d, done, err := h.question(u)
	if done || err != nil {
		h.leave(what)
		return d, err
	}
	d = harness.Decision{Verdict: harness.Allow, Scope: harness.Once, Actor: "test", Source: harness.ByUser}
	if h.Answer != nil {
		if d, err = h.Answer(ctx, u); err != nil {
			return harness.Decision{}, err
		}
	}
	if d.Verdict == harness.Allow {
		d.Digest = harness.Digest(u.Input) // it is about what was shown
	}
	h.Decide(u.Call, d)
	h.leave(what)
	return d, nil
}

// question makes the question durable unless it is; done says that it was
// answered before.
func (h *Host) question(u harness.ToolUse) (d harness.Decision, done bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.state.Turn == nil {
		return d, false, fmt.Errorf("ask about %s: %w", u.Call, harness.ErrNotRunning)
	}
	if _, open := h.call(u.Call); !open {
		if !h.known[u.Call] {
			h.complain("ask about the unknown call %q", u.Call)
		}
		return d, false, fmt.Errorf("ask about %s: no such call is open: %w", u.Call, harness.ErrInvalid)
	}
	for _, e := range slices.Backward(h.state.Decided) {
		if e.Call == u.Call && e.Turn == h.state.Turn.ID {
			if e.Decision.Verdict == harness.Allow {
				e.Decision.Digest = harness.Digest(u.Input)
			}
			return e.Decision, true, nil
		}
	}
	if _, waits := h.state.Asked(harness.Answer{Call: u.Call}); !waits {
		h.record(&harness.ApprovalRequired{
			RequestID: harness.ApprovalAt(h.state.Session, h.state.Seq+1), ToolName: u.Tool, ToolCallID: u.Call,
			Reason: u.Reason, Description: u.Description, Input: u.Input,
		})
	}
	return d, false, nil
}
