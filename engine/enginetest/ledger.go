package enginetest

import (
	"context"
	"io"
	"maps"
	"slices"
	"sync"
	"testing"

	"harness"
)

// Ledger remembers what engines told of, and in which tests.
type Ledger struct {
	tb testing.TB

	mu    sync.Mutex // guards what follows
	plays map[string]bool
	seen  map[harness.Type]map[string]bool
}

// NewLedger is an empty ledger.
func NewLedger(tb testing.TB) *Ledger {
	return &Ledger{tb: tb, plays: map[string]bool{}, seen: map[harness.Type]map[string]bool{}}
}

// Watch is e, with everything it tells of in the ledger. What it tells of and
// does not claim fails tb.
func (l *Ledger) Watch(tb testing.TB, e harness.Engine) *Watched {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.plays[tb.Name()] = true
	return &Watched{e, l, tb}
}

func (l *Ledger) played() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.plays)
}

// Watched is an engine that a ledger hears.
type Watched struct {
	harness.Engine
	ledger *Ledger
	tb     testing.TB
}

// Close closes the engine, if it can be closed.
func (w *Watched) Close() error {
	if c, ok := w.Engine.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Run runs an attempt on a host that the ledger listens to.
func (w *Watched) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	heard := overheard{h, w}
	if s, ok := h.(harness.Spawner); ok {
		return w.Engine.Run(ctx, t, spawning{heard, s})
	}
	return w.Engine.Run(ctx, t, heard)
}

func (w *Watched) note(kind harness.Type) {
	if !slices.Contains(w.Abilities().Events(), kind) {
		w.tb.Errorf("the engine tells of %s, which its abilities do not have", kind)
	}
	l := w.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen[kind] == nil {
		l.seen[kind] = map[string]bool{}
	}
	l.seen[kind][w.tb.Name()] = true
}

func (l *Ledger) saw(kind harness.Type) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.seen[kind]) > 0
}

// where is a test in which a kind was told of: the first by name, so that it is
// the same in every run.
func (l *Ledger) where(kind harness.Type) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Min(slices.Collect(maps.Keys(l.seen[kind])))
}

// overheard is a host with a ledger between it and its engine.
type overheard struct {
	harness.Host
	by *Watched
}

// spawning is one that can hand work on.
type spawning struct {
	overheard
	harness.Spawner
}

func (o overheard) Emit(ctx context.Context, p harness.Payload) error {
	o.by.note(p.Type())
	return o.Host.Emit(ctx, p)
}

func (o overheard) Follow(ctx context.Context, frame uint64, p harness.Payload) error {
	o.by.note(p.Type())
	return o.Host.Follow(ctx, frame, p)
}

func (o overheard) Ask(ctx context.Context, u harness.ToolUse) (harness.Decision, error) {
	o.by.note("approval_required")
	return o.Host.Ask(ctx, u)
}

func (o overheard) Checkpoint(ctx context.Context, ref string) error {
	o.by.note("session_checkpoint")
	return o.Host.Checkpoint(ctx, ref)
}
