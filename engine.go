package harness

import (
	"context"
	"encoding/json"
)

// Engine runs turns. Every implementation passes enginetest.
type Engine interface {
	// Run runs one attempt at a turn and reports through h. It returns nil when
	// the turn completed, the context's cause when it was told to stop, and any
	// other error when the turn failed; an error that wraps [ErrRetry] may be
	// tried again. It returns only when everything it started is gone.
	Run(ctx context.Context, t Turn, h Host) error

	// Abilities says what the engine promises to report.
	Abilities() Abilities
}

// Turn is what an engine is asked to do.
type Turn struct {
	Session   SessionID
	ID        TurnID
	Attempt   int
	Parts     []Part
	Fresh     bool   // without the conversation so far
	Directory string // the workspace
	Ref       string // the engine's last checkpoint in this session; empty for none
	Config    Config
}

// Host is a session as the engine that runs its turn sees it. Its methods may
// be called concurrently, and return an error once the turn's context is done.
type Host interface {
	// Emit adds a fact to the log. It returns when the session has taken it,
	// and blocks while the session is behind. Text goes to the turn's current
	// message unless the payload names another item. Facts that would break a
	// promise (a second outcome, output of an unknown call) are dropped.
	Emit(ctx context.Context, p Payload) error

	// Ask decides whether a call may run: by policy, or by asking and waiting,
	// for days if need be and across restarts. The call must have been emitted
	// before and be open. A decision made about it in an earlier attempt is
	// returned at once.
	Ask(ctx context.Context, u ToolUse) (Decision, error)

	// Steering yields what people say to the turn while it runs, in order,
	// merged if the engine is slow. It is never closed.
	Steering() <-chan []Part

	// Config is the session's configuration as it is now.
	Config() Config

	// Checkpoint records where the next attempt may go on. It returns when the
	// reference is durable.
	Checkpoint(ctx context.Context, ref string) error
}

// ToolUse is a call that wants to run.
type ToolUse struct {
	Call        CallID
	Tool        string
	Access      Access
	Input       json.RawMessage
	Description string
	Reason      string
}

// ErrRetry marks a failure that another attempt may not have.
var ErrRetry = &Error{"retry", "temporary failure"}

// Abilities is S3's fidelity, as data: what an engine reports and can do.
type Abilities struct {
	Tools   bool // per-tool events with outcomes
	Steer   bool // takes words while it runs
	Resume  bool // continues from a checkpoint
	Thinks  bool // streams reasoning
	Approve bool // asks before it acts
}
