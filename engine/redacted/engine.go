// Package redacted lets an engine run without its secrets getting into the log.
//
// What the engine reports goes through a [redact.Redactor] before the session
// takes it: text that streams, also where a secret is cut in two; the arguments
// and results of calls; questions; the error it fails with. The engine itself
// notices nothing. What people say to it is theirs and stays as it is, and so
// does the reference of a checkpoint, which only the engine understands.
package redacted

import (
	"context"
	"encoding/json"
	"fmt"

	"harness"
	"harness/internal/redact"
)

// New is e without the secrets that r knows.
func New(e harness.Engine, r *redact.Redactor) harness.Engine { return &engine{e, r} }

type engine struct {
	harness.Engine
	r *redact.Redactor
}

// Run runs the turn. What was held back at its end is reported before it
// returns.
func (e *engine) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	d := &host{Host: h, r: e.r, texts: map[place]*redact.Stream{}}
	err := e.Engine.Run(ctx, t, d)
	held := d.flush(ctx, func(place) bool { return true })
	if err == nil {
		err = held // the engine thought that it had been said
	}
	if err == nil {
		return nil
	}
	if text := err.Error(); e.r.String(text) != text {
		return &cleanError{e.r.String(text), err}
	}
	return err
}

// cleanError says what may be said of an error, and is one as before.
type cleanError struct {
	text string
	err  error
}

func (e *cleanError) Error() string { return e.text }
func (e *cleanError) Unwrap() error { return e.err }

// Emit reports p without secrets. Text that may be the beginning of one waits
// for what follows.
func (h *host) Emit(ctx context.Context, p harness.Payload) error {
	switch p := p.(type) {
	case *harness.Token:
		return h.text(ctx, place{kind: p.Type(), item: p.ItemID}, p.Text)
	case *harness.Thinking:
		return h.text(ctx, place{kind: p.Type(), item: p.ItemID}, p.Text)
	case *harness.ToolLog:
		return h.text(ctx, place{kind: p.Type(), call: p.ToolCallID, stream: p.Stream}, p.Text)
	case *harness.ToolCall, *harness.Response, *harness.Reflection:
		if err := h.flush(ctx, place.said); err != nil {
			return err
		}
	case *harness.ToolResult:
		if err := h.flush(ctx, logOf(p.ToolCallID)); err != nil {
			return err
		}
	case *harness.ToolOutcome:
		if err := h.flush(ctx, logOf(p.ToolCallID)); err != nil {
			return err
		}
	}
	clean, err := h.clean(p)
	if err != nil {
		return err
	}
	return h.Host.Emit(ctx, clean)
}

// clean is p without secrets; p itself if it has none.
func (h *host) clean(p harness.Payload) (harness.Payload, error) {
	if p == nil {
		return nil, fmt.Errorf("an engine may not emit nothing: %w", harness.ErrInvalid)
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w: %w", p.Type(), err, harness.ErrInvalid)
	}
	out := h.r.JSON(raw)
	if string(out) == string(raw) {
		return p, nil
	}
	if info, ok := harness.Lookup(p.Type()); ok {
		if c := info.New(); json.Unmarshal(out, c) == nil {
			return c, nil
		}
	}
	return &harness.Unknown{Name: p.Type(), Raw: out}, nil
}

// Ask asks without secrets. The decision is about the call as it was shown, and
// comes back as one about the call as it is.
func (h *host) Ask(ctx context.Context, u harness.ToolUse) (harness.Decision, error) {
	if err := h.flush(ctx, place.said); err != nil {
		return harness.Decision{}, err
	}
	shown := u
	if len(u.Input) > 0 {
		shown.Input = h.r.JSON(u.Input)
	}
	shown.Description, shown.Reason = h.r.String(u.Description), h.r.String(u.Reason)
	d, err := h.Host.Ask(ctx, shown)
	if err == nil && d.Digest == harness.Digest(shown.Input) {
		d.Digest = harness.Digest(u.Input)
	}
	return d, err
}
