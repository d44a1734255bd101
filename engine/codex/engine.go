package codex

import (
	"context"
	"fmt"

	"harness"
	"harness/engine/internal/program"
)

// Options are what an engine needs to know. Program and Sandbox are required.
type Options struct {
	// Program is the command line that the flags are added to.
	Program []string
	// Config are settings of the program as its flag -c takes them, such as
	// model_provider="mine"; they win over the engine's.
	Config []string
	// Inner is the program's own sandbox: read-only or workspace-write. Default:
	// off. It stays off where it cannot nest in ours.
	Inner string

	Base
}

// Base is where programs run and how long they are kept.
type Base = program.Options

// Engine implements [harness.Engine].
type Engine struct {
	opts Options
	pool program.Pool
}

// New makes an engine. Nothing runs until a turn does.
func New(opts Options) *Engine {
	opts.Defaults()
	return &Engine{opts: opts, pool: program.Pool{Idle: opts.Idle}}
}

// Abilities is all of them.
func (e *Engine) Abilities() harness.Abilities {
	return harness.Abilities{Tools: true, Steer: true, Resume: true, Thinks: true, Approve: true}
}

// Run runs an attempt. Of a session's attempts one runs at a time.
func (e *Engine) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	s, err := e.pool.Take(ctx, t.Session)
	if err != nil {
		return err
	}
	defer e.pool.Give(t.Session, s)
	r := &run{opts: &e.opts, slot: s, turn: t, host: h, log: e.opts.Log.With("session", t.Session, "turn", t.ID)}
	err = r.play(ctx)
	if err != nil && !r.clean {
		s.Kill()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("codex: %w", err)
	}
	return nil
}

// Close waits for turns to end and ends every process. Turns that come later
// fail with [harness.ErrUnavailable].
func (e *Engine) Close() error { return e.pool.Close() }
