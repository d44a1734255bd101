package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"harness"
	"harness/protocol/runner"
)

// How long a runner may take for what takes no time.
const (
	// cancelPatience is for a run to end when it is told to; then its runner is
	// killed. It is shorter than the kernel's own.
	cancelPatience = 5 * time.Second
	// busyPatience is for the run before to be over.
	busyPatience = 10 * time.Second
	// lostPatience is for a runner that cannot be reached to come back.
	lostPatience = 30 * time.Second
	// lookPatience is for a runner to say whether it has a run.
	lookPatience = 3 * time.Second
	// askPatience is for a runner to say what it can do, while somebody waits
	// for a session to wake.
	askPatience = time.Second
)

// Engine runs turns on runners. It implements [harness.Engine] and
// [harness.Survivor].
type Engine struct {
	home home

	mu   sync.Mutex // guards what follows
	can  harness.Abilities
	owed map[harness.TurnID][]runner.Words // what a failed attempt was told and did not hear

	known     bool // the runner has said what it can do
	snapshots bool // it keeps files
	keeps     bool // whoever runs turns here has it keep them
}

// home is where runners are found.
type home interface {
	// take returns a runner that can begin a turn.
	take(ctx context.Context, t harness.Turn) (*lodging, error)
	// find returns the runner that has a turn's run, if there is one.
	find(t harness.Turn) (*lodging, error)
	// tidy removes what is left of runners that are gone.
	tidy()
	// close lets go of runners that have nothing to do.
	close() error
}

// lodging is a runner as one turn needs it.
type lodging struct {
	client    *runner.Client
	directory string                          // to work in; "" for the runner's own
	kill      func(ctx context.Context) error // ends the runner and all that is in it; nil if it is not ours to end
	gone      func() bool                     // it will never come back
	leave     func()                          // the turn does not need it any more
	alone     bool                            // it does nothing for other sessions meanwhile, so it can hand work to them
}

var _ interface {
	harness.Engine
	harness.Survivor
} = (*Engine)(nil)

// Bare is what a runner can do that says nothing of it, by S2's text alone: calls
// begin and nobody tells how they ended, and files are its own.
func Bare() harness.Abilities {
	return harness.Abilities{
		Resume: true, Away: true, Tells: []harness.Type{"tool_call", "transport_diagnostic"},
		Ignores: harness.Settings(),
	}
}

func newEngine(h home, can harness.Abilities) *Engine {
	return &Engine{home: h, can: can, owed: map[harness.TurnID][]runner.Words{}}
}

// Tidy removes what is left of runners that are gone. It is for the one process
// that has the data, before its first turn.
func (e *Engine) Tidy() { e.home.tidy() }

// Close ends the runners of this machine that have nothing to do. No turn runs
// any more, or will.
func (e *Engine) Close() error { return e.home.close() }

// Abilities is what the runner said last.
func (e *Engine) Abilities() harness.Abilities {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.can
}

func (e *Engine) learn(h runner.Health) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.known, e.snapshots = true, h.Snapshots
	if h.Abilities == nil {
		return
	}
	e.can = harness.Abilities(*h.Abilities)
	if _, far := e.home.(*pool); far { // who does one turn at a time cannot do a task of it, and has the files
		e.can.Tells = slices.DeleteFunc(slices.Clone(e.can.Tells), func(k harness.Type) bool { return k == "subagent_event" })
		e.can.Away = !h.Snapshots
	}
}

// Survives asks the runner whether it has the run of exactly this attempt.
func (e *Engine) Survives(ctx context.Context, t harness.Turn) bool {
	at, err := e.home.find(t)
	if err != nil {
		return false
	}
	defer at.leave()
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	s, err := at.client.Status(ctx, string(t.ID))
	return err == nil && s.RequestID == string(t.ID) && s.Attempt == t.Attempt
}

// Run has a runner do the turn, or follows the one that does it already.
func (e *Engine) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	if ctx.Err() != nil && t.Attached == 0 {
		return context.Cause(ctx)
	}
	f := &follower{engine: e, turn: t, host: h, turned: ctx}
	err := f.run(ctx)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	f.remember(err)
	return err
}

// keepsFiles reports whether the runner is told when to keep files.
func (e *Engine) keepsFiles() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.keeps && e.snapshots
}

// retryable marks a failure that is not the turn's.
func retryable(what string, err error) error {
	if err == nil {
		return fmt.Errorf("%s: %w", what, harness.ErrRetry)
	}
	return fmt.Errorf("%s: %w: %w", what, err, harness.ErrRetry)
}

// MaxRunners is how many runners of this machine are kept warm at once, unless
// told otherwise: each is a process with some tens of megabytes, and perhaps an
// agent in it. Turns are not bounded by it.
const MaxRunners = 64

// wait returns when some time has passed or ctx is done.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// broken reports whether a runner does not keep to the protocol.
func broken(err error) bool {
	_, ok := errors.AsType[*runner.FaultError](err)
	return ok
}
