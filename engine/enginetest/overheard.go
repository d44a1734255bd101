package enginetest

import (
	"context"
	"errors"
	"sync"

	"harness"
)

// Run runs an attempt on a host that the ledger listens to. What commands and
// settings came to is known when it is over.
func (w *Watched) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	o := &overheard{Host: h, by: w}
	var heard harness.Host = o
	if s, ok := h.(harness.Spawner); ok {
		heard = spawning{o, s}
	}
	err := w.Engine.Run(ctx, t, heard)
	cause := context.Cause(ctx)
	switch {
	case err == nil:
		o.completed(ctx, t)
	case cause != nil && errors.Is(err, cause) && !errors.Is(cause, harness.ErrShutdown):
		w.note("command cancel")
	}
	return err
}

// overheard is a host with a ledger between it and its engine, for one attempt.
type overheard struct {
	harness.Host
	by *Watched

	mu      sync.Mutex // guards what follows
	decided []string   // commands that answered its questions
	lost    bool       // the conversation so far
	refused bool       // something of the configuration was
}

// spawning is one that can hand work on.
type spawning struct {
	*overheard
	harness.Spawner
}

// completed notes what the attempt, which went well, has shown.
func (o *overheard) completed(ctx context.Context, t harness.Turn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.by.note("command submit")
	if t.Ref != "" && !t.Fresh && !o.lost {
		o.by.note("command resume")
	}
	if o.steered(ctx, t) {
		o.by.note("command steer")
	}
	for _, command := range o.decided {
		o.by.note("command " + command)
	}
	if o.refused {
		return
	}
	for _, setting := range o.Config().Given() {
		o.by.note("command configure")
		o.by.note("setting " + setting)
	}
}

// steered reports whether somebody spoke to the turn, and the engine has taken
// all of it.
func (o *overheard) steered(ctx context.Context, t harness.Turn) bool {
	spoken := false
	for e, err := range o.History(ctx, t.Began) {
		if err != nil {
			return false
		}
		m, ok := e.Payload.(*harness.UserMessage)
		spoken = spoken || ok && m.Source == harness.FromSteer
	}
	return spoken && len(o.Steering()) == 0
}

// hear notes what a fact tells.
func (o *overheard) hear(p harness.Payload) {
	o.by.told(p.Type())
	d, ok := p.(*harness.TransportDiagnostic)
	if !ok {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch d.Kind {
	case "resume_lost":
		o.lost = true
	case "control_refused":
		o.refused = true
	}
}

func (o *overheard) Emit(ctx context.Context, p harness.Payload) error {
	o.hear(p)
	return o.Host.Emit(ctx, p)
}

func (o *overheard) Follow(ctx context.Context, frame uint64, p harness.Payload) error {
	o.hear(p)
	return o.Host.Follow(ctx, frame, p)
}

func (o *overheard) Ask(ctx context.Context, u harness.ToolUse) (harness.Decision, error) {
	o.by.told("approval_required")
	d, err := o.Host.Ask(ctx, u)
	if err == nil && d.Source == harness.ByUser {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.decided = append(o.decided, map[bool]string{true: "approve", false: "deny"}[d.Verdict == harness.Allow])
	}
	return d, err
}

func (o *overheard) Checkpoint(ctx context.Context, ref string) error {
	o.by.told("session_checkpoint")
	return o.Host.Checkpoint(ctx, ref)
}
