package claude

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"harness"
)

// Options are what an engine needs to know. Program and Sandbox are required.
type Options struct {
	// Program is the command line that the flags are added to.
	Program []string
	// Sandbox is where it runs.
	Sandbox harness.Sandbox
	// Env is added to the environment of the program and wins over what the
	// engine sets. The model server and its key are here, if they are not the
	// usual ones: ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY.
	Env []string
	// Outfit is what a session's process is given besides; its environment wins
	// over Env. Default: nothing.
	Outfit func(harness.SessionID) (harness.Outfit, error)
	// ReadOnly, Hidden, Sockets, Network and Limits go into the workspace's spec.
	ReadOnly []string
	Hidden   []string
	Sockets  []string
	Network  bool
	Limits   harness.Limits
	// Notice is how the sandbox was chosen; what holds in it is filled in.
	Notice harness.SandboxNotice

	// State is the directory below which each session has one of its own, where
	// the program keeps its conversations: that one alone is writable in the
	// sandbox. It is absolute, and no link leads to it. Default: .harness/claude
	// in the workspace.
	State string
	// Settings are the sources of settings that the program reads: user,
	// project, local. Default: none, because they can allow what nobody was
	// asked about.
	Settings []string

	// Idle is how long a process is kept without a turn. Default 5 min;
	// negative ends it with the turn.
	Idle time.Duration
	// Silence is how long the program may say nothing during a turn, unless
	// somebody is being asked. Default 30 min: a command of its shell may take
	// 10 min, and a retry of its model may wait as long.
	Silence time.Duration
	// MaxLine bounds a line of the program. Default 32 MB: the longest ones are
	// results of tools.
	MaxLine int
	// Interrupt is how long the program may take to stop a turn before it is
	// killed. Default 5 s.
	Interrupt time.Duration

	Log *slog.Logger // default: discard
}

// Engine implements [harness.Engine].
type Engine struct {
	opts Options

	mu     sync.Mutex // guards what follows
	slots  map[harness.SessionID]*slot
	closed bool
}

// New makes an engine. Nothing runs until a turn does.
func New(opts Options) *Engine {
	opts.Idle = cmp.Or(opts.Idle, 5*time.Minute)
	opts.Silence = cmp.Or(opts.Silence, 30*time.Minute)
	opts.MaxLine = cmp.Or(opts.MaxLine, 32<<20)
	opts.Interrupt = cmp.Or(opts.Interrupt, 5*time.Second)
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	return &Engine{opts: opts, slots: make(map[harness.SessionID]*slot)}
}

// Abilities is all of them.
func (e *Engine) Abilities() harness.Abilities {
	return harness.Abilities{Tools: true, Steer: true, Resume: true, Thinks: true, Approve: true}
}

// Run runs an attempt. Of a session's attempts one runs at a time.
func (e *Engine) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	s, err := e.take(ctx, t.Session)
	if err != nil {
		return err
	}
	defer e.give(t.Session, s)
	r := &run{engine: e, slot: s, turn: t, host: h, log: e.opts.Log.With("session", t.Session, "turn", t.ID)}
	err = r.play(ctx)
	if err != nil && s.proc != nil && !r.clean {
		s.proc.kill()
		s.proc = nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("claude: %w", err)
	}
	return nil
}
