package claude

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

	// Base has the model server and its key in Env, if they are not the usual
	// ones: ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY.
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

// Abilities is what the program tells of; it keeps its tools' live output and
// its context to itself.
func (*Engine) Abilities() harness.Abilities {
	return harness.Abilities{Tools: true, Steer: true, Resume: true, Thinks: true, Approve: true, Tells: []harness.Type{
		"turn_start_tools", "sandbox_notice", "transport_diagnostic", "subagent_event", "context_compacted", "usage", "completed",
	}}
}

// Run runs an attempt. Of a session's attempts one runs at a time.
func (e *Engine) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	return e.pool.Run(ctx, t.Session, func(s *program.Slot) (bool, error) {
		r := &run{opts: &e.opts, slot: s, turn: t, host: h, log: e.opts.Log.With("session", t.Session, "turn", t.ID)}
		if err := r.play(ctx); err != nil {
			return r.clean, fmt.Errorf("claude: %w", err)
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
