package acp

import (
	"context"
	"fmt"

	"harness"
	"harness/engine/internal/program"
)

// Options are what an engine needs to know. Command and Sandbox are required.
type Options struct {
	// Command is the agent's command line.
	Command []string
	// Mode is the mode of the agent that sessions begin in, unless they name
	// another as their agent. Default: the agent's own.
	Mode string
	// Authenticate is the method by which the agent gets its credentials, if it
	// wants to be told.
	Authenticate string

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

// Abilities is what the protocol has words for: steering is not among it. Which
// agents go on with a conversation in another process, they say when they run.
func (*Engine) Abilities() harness.Abilities {
	return harness.Abilities{Tools: true, Resume: true, Thinks: true, Approve: true, Tells: []harness.Type{
		"sandbox_notice", "transport_diagnostic", "tool_log", "context_compacted", "step_progress", "usage", "completed",
	}, Ignores: []string{"system_prompt", "max_turns"}}
}

// Run runs an attempt. Of a session's attempts one runs at a time.
func (e *Engine) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	return e.pool.Run(ctx, t.Session, func(s *program.Slot) (bool, error) {
		r := &run{opts: &e.opts, slot: s, turn: t, host: h, log: e.opts.Log.With("session", t.Session, "turn", t.ID)}
		if err := r.play(ctx); err != nil {
			return r.clean, fmt.Errorf("acp: %w", err)
		}
		return true, nil
	})
}

// Release ends the session's process, one that a turn runs in with that turn: the
// session is to be run elsewhere.
func (e *Engine) Release(id harness.SessionID) { e.pool.Release(id) }

// Close waits for turns to end and ends every process. Turns that come later
// fail with [harness.ErrUnavailable].
func (e *Engine) Close() error { return e.pool.Close() }
