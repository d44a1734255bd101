package program

import (
	"cmp"
	"log/slog"
	"time"

	"harness"
)

// Options say where programs run and how long they are kept. An engine embeds
// them in its own. Sandbox is required.
type Options struct {
	// Sandbox is where the program runs.
	Sandbox harness.Sandbox
	// Env is added to the environment of the program and wins over what the
	// engine sets.
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

	// State is the directory below which each session has a directory of its
	// own, where the program keeps its conversations. It must be writable in the
	// sandbox. Default: .harness/NAME in the workspace.
	State string

	// Idle is how long a process is kept without a turn. Default 5 min;
	// negative ends it with the turn.
	Idle time.Duration
	// Silence is how long the program may say nothing during a turn, unless
	// somebody is being asked. Default 30 min.
	Silence time.Duration
	// MaxLine bounds a line of the program. Default 32 MB: the longest ones are
	// results of tools.
	MaxLine int
	// Interrupt is how long the program may take to stop a turn before it is
	// killed. Default 5 s.
	Interrupt time.Duration

	Log *slog.Logger // default: discard
}

// Defaults fills in what was left out.
func (o *Options) Defaults() {
	o.Idle = cmp.Or(o.Idle, 5*time.Minute)
	o.Silence = cmp.Or(o.Silence, 30*time.Minute)
	o.MaxLine = cmp.Or(o.MaxLine, 32<<20)
	o.Interrupt = cmp.Or(o.Interrupt, 5*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// describe is a notice about where a program runs. why is what the engine adds.
func describe(n harness.SandboxNotice, is harness.Isolation, why string) harness.SandboxNotice {
	n.Isolation, n.Enforces, n.Lacks = is.Kind, nil, nil
	for _, g := range is.Enforces {
		n.Enforces = append(n.Enforces, string(g))
	}
	for _, g := range is.Lacks {
		n.Lacks = append(n.Lacks, string(g))
	}
	n.RequestedBackend, n.ResolvedBackend = cmp.Or(n.RequestedBackend, is.Kind), cmp.Or(n.ResolvedBackend, is.Kind)
	for _, w := range []string{is.Reason, why} {
		if w != "" && n.Reason != "" {
			w = "; " + w
		}
		n.Reason += w
	}
	return n
}
