package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"harness"
)

// question is a call that waits for its answer.
type question struct {
	use    harness.ToolUse
	frame  uint64
	answer chan Answer // size 1, so that whoever answers never waits
	given  *Answer
}

var _ harness.Host = (*run)(nil)

// Emit tells the run's followers a fact. What the server would drop anyway is
// dropped here.
func (r *run) Emit(ctx context.Context, p harness.Payload) error {
	switch {
	case p == nil:
		return fmt.Errorf("an engine may not emit nothing: %w", harness.ErrInvalid)
	case harness.Reserved(p):
		return fmt.Errorf("an engine may not emit %s: %w", p.Type(), harness.ErrInvalid)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case r.ctx.Err() != nil && !closes(p): // as the server would
		return nil
	}
	if a, ok := p.(*harness.Artifact); ok && len(a.Content) > harness.MaxArtifact {
		return fmt.Errorf("artifact of %d bytes: %w", len(a.Content), harness.ErrTooLarge)
	}
	f, err := frameOf(p)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state != Running {
		return harness.ErrNotRunning
	}
	switch p := p.(type) {
	case *harness.Token:
		if p.Text == "" {
			return nil
		}
		if r.said.Len() <= maxResult {
			r.said.WriteString(p.Text)
		}
	case *harness.Thinking:
		if p.Text == "" {
			return nil
		}
	case *harness.Response:
		r.whole = p.Text
	case *harness.Completed:
		r.whole = p.Result
	case *harness.ToolCall:
		if _, known := r.calls[p.ToolCallID]; known || p.ToolCallID == "" || len(p.ToolCallID) > harness.MaxID {
			return nil
		}
		if err := r.tell(f); err == nil {
			r.calls[p.ToolCallID] = true
		} else {
			return err
		}
		return nil
	case *harness.ToolLog:
		if !r.calls[p.ToolCallID] {
			return nil
		}
	case *harness.ToolResult:
		if !r.calls[p.ToolCallID] {
			return nil
		}
	case *harness.ToolOutcome:
		if !r.calls[p.ToolCallID] {
			return nil
		}
		r.calls[p.ToolCallID] = false
	case *harness.SessionCheckpoint:
		if p.EngineRef != "" {
			r.ref = p.EngineRef
		}
	}
	for _, piece := range pieces(p) {
		if err := r.tell(piece); err != nil {
			return err
		}
	}
	return r.tell(f)
}

// tell adds an event to the spool; a full one ends the run. r.mu is held.
func (r *run) tell(f Frame) error {
	r.keep.heard(f)
	_, err := r.spool.add(f)
	if errors.Is(err, errFull) {
		r.cancel(errFull)
	}
	return err
}

// Follow is Emit: what an engine reads from frames is told in frames of ours.
func (r *run) Follow(ctx context.Context, _ uint64, p harness.Payload) error { return r.Emit(ctx, p) }

// Ask puts the question to whoever follows the run, and waits.
func (r *run) Ask(ctx context.Context, u harness.ToolUse) (harness.Decision, error) {
	if len(u.Input) > 0 && !json.Valid(u.Input) {
		return harness.Decision{}, fmt.Errorf("ask about call %q: the input is not JSON: %w", u.Call, harness.ErrInvalid)
	}
	u.Input = slices.Clone(u.Input)
	q, err := r.ask(u)
	if err != nil {
		return harness.Decision{}, err
	}
	defer r.answered(q)
	select {
	case a := <-q.answer:
		if a.Error != nil {
			return harness.Decision{}, a.Error.err()
		}
		if a.Verdict == harness.Allow && u.Access != harness.AccessRead {
			r.keep.before(r)
		}
		return a.Decision, nil
	case <-ctx.Done():
		return harness.Decision{}, context.Cause(ctx)
	case <-r.ctx.Done():
		return harness.Decision{}, context.Cause(r.ctx)
	}
}

func (r *run) ask(u harness.ToolUse) (*question, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.ctx.Err() != nil:
		return nil, context.Cause(r.ctx)
	case !r.calls[u.Call]:
		return nil, fmt.Errorf("ask about call %q, which is not open: %w", u.Call, harness.ErrInvalid)
	case r.asked[u.Call] != nil && r.asked[u.Call].given == nil:
		return nil, fmt.Errorf("ask about call %q, which is asked about: %w", u.Call, harness.ErrInvalid)
	}
	q := &question{use: u, answer: make(chan Answer, 1)}
	if old := r.asked[u.Call]; old != nil && old.given.Error == nil && harness.Digest(old.use.Input) == harness.Digest(u.Input) {
		q.given = old.given
		q.answer <- *old.given
		return q, nil
	}
	n, err := r.spool.add(Frame{
		Type: Asked, ToolUseID: u.Call, ToolName: u.Tool, Access: u.Access, Input: u.Input, Description: u.Description, Reason: u.Reason,
	})
	if err != nil {
		return nil, err
	}
	q.frame = n
	r.asked[u.Call] = q
	return q, nil
}

// answered forgets a question that nobody waits for any more.
func (r *run) answered(q *question) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if q.given == nil && r.asked[q.use.Call] == q {
		delete(r.asked, q.use.Call)
	}
}

// decide answers a question: once, the same again is fine.
func (r *run) decide(call harness.CallID, a Answer) error {
	if a.Error == nil && a.Verdict != harness.Allow && a.Verdict != harness.Deny {
		return fmt.Errorf("verdict %q: %w", a.Verdict, harness.ErrInvalid)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.asked[call]
	switch {
	case q == nil:
		return fmt.Errorf("call %q: %w", call, harness.ErrNoApproval)
	case q.given != nil && q.given.Error == nil && a.Error == nil && q.given.Verdict == a.Verdict:
		return nil
	case q.given != nil:
		return fmt.Errorf("call %q: %w", call, harness.ErrDecided)
	}
	if a.Error == nil && a.Digest == "" { // it can only be about the call as it was asked
		a.Digest = harness.Digest(q.use.Input)
	}
	q.given = &a
	q.answer <- a
	return nil
}

// err is a problem as an error of the closed set, if it is one of it.
func (p *Problem) err() error {
	for _, e := range append(harness.Errors(), harness.ErrRetry) {
		if e.Code == p.Code {
			return fmt.Errorf("%s: %w", p.Message, e)
		}
	}
	return errors.New(p.Message)
}

func (r *run) Steering() <-chan []harness.Word { return r.words }

func (r *run) Config() harness.Config {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.config
}

// Checkpoint tells the reference. It is as durable as the run: both are gone
// with the machine, and what the server has heard of it stays.
func (r *run) Checkpoint(ctx context.Context, ref string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state != Running {
		return harness.ErrNotRunning
	}
	r.ref = ref
	return r.tell(Frame{Type: Checkpoint, Ref: ref})
}
