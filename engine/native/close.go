package native

import (
	"context"
	"errors"
	"time"

	"harness"
	"harness/engine/native/conscience"
)

// What a turn that was told to end, or whose time is over, may take to close its
// books: less than anybody waits for a cancel, and than the kernel and a runner's
// server give an engine that was told to stop.
const (
	// hooksGrace is for its last hooks: enough to tell somebody.
	hooksGrace = 2 * time.Second
	// closingGrace is for them and its summary.
	closingGrace = 3 * time.Second
)

// conclude tells the hooks that the turn is over, and sums it up, once. It does
// neither if the turn goes on later. failed is why it did not complete.
func (r *turn) conclude(ctx context.Context, failed error) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, harness.ErrShutdown) || errors.Is(cause, harness.ErrHeld):
		return nil
	case cause == nil && passing(failed) && !r.t.Final:
		return nil
	}
	late := ctx.Err() == nil && errors.Is(failed, errBudget)
	closing, stop := outlast(ctx, closingGrace, late)
	defer stop()
	hooking, stop := outlast(ctx, hooksGrace, late)
	defer stop()
	if r.conv == nil { // it was told to end before it knew anything
		if err := r.load(closing); err != nil {
			return err
		}
	}
	r.reopen(hooking)
	if _, err := r.hookIn(hooking, closing, ended(ctx, failed)); err != nil {
		return err
	}
	if r.conv.turn.summed { // before a restart
		return nil
	}
	return r.reckon(closing, func() []harness.Payload { return ends(ctx, failed) })
}

// outlast is a context that goes on for some time when ctx is done, or from now
// on.
func outlast(ctx context.Context, d time.Duration, now bool) (_ context.Context, stop func()) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	end := time.AfterFunc(d, cancel)
	if !now {
		end.Stop()
	}
	forget := context.AfterFunc(ctx, func() { end.Reset(d) })
	return longer, func() {
		forget()
		end.Stop()
		cancel()
	}
}

// reopen opens the workspace for the last hooks, if the turn did not come to it.
func (r *turn) reopen(ctx context.Context) {
	if r.env != nil || !r.hooked(HookTurnEnd) {
		return
	}
	env, err := r.s.workspace(ctx, r)
	if err != nil {
		r.log.Warn("no hook is told of the turn's end", "err", err)
	}
	r.env = env
}

// ended is what the last hooks read.
func ended(ctx context.Context, failed error) occasion {
	switch {
	case ctx.Err() != nil:
		return occasion{Event: HookTurnEnd, Status: harness.TurnCancelled}
	case failed != nil:
		return occasion{Event: HookTurnEnd, Status: harness.TurnError, Error: failed.Error()}
	}
	return occasion{Event: HookTurnEnd, Status: harness.TurnCompleted}
}

// hooked reports whether there is a hook for a point.
func (r *turn) hooked(p HookPoint) bool {
	for _, h := range r.e.opts.Hooks {
		if h.On == p {
			return true
		}
	}
	return false
}

// ends is how the log will say that the turn ends.
func ends(ctx context.Context, failed error) []harness.Payload {
	switch {
	case ctx.Err() != nil:
		return []harness.Payload{&harness.TurnEnd{Status: harness.TurnCancelled}}
	case failed != nil:
		return []harness.Payload{&harness.Failure{}, &harness.TurnEnd{Status: harness.TurnError}}
	}
	return []harness.Payload{&harness.TurnEnd{Status: harness.TurnCompleted}}
}

// reckon sums up the turn from its events, and from those that will end it.
func (r *turn) reckon(ctx context.Context, ends func() []harness.Payload) error {
	if err := r.checkpoint(ctx); err != nil { // so that the log has all of them
		return err
	}
	var events []harness.Event
	for e, err := range r.h.History(ctx, max(r.t.Began, 2)-2) {
		if err != nil {
			return err
		}
		if _, said := e.Payload.(*harness.UserMessage); e.Turn == r.t.ID || said && e.Seq < r.t.Began {
			events = append(events, e)
		}
	}
	for _, p := range ends() {
		events = append(events, harness.Event{Session: r.t.Session, Turn: r.t.ID, Payload: p})
	}
	return r.h.Emit(ctx, conscience.Of(r.t.Directory, events))
}
