package harness

import (
	"context"
	"encoding/json"
	"iter"
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
	Kind      Kind // of the session
	Attempt   int
	Parts     []Part
	Fresh     bool   // without the conversation so far
	Directory string // the workspace
	Ref       string // the engine's last checkpoint in this session; empty for none
	Config    Config
	Began     Seq  // where in the log the turn begins
	Attached  Seq  // its run outlived the server: follow it, from its first frame; what was said up to here is in the log only
	Final     bool // no other attempt follows if this one fails, whatever its error wraps
}

// Host is a session as the engine that runs its turn sees it. Its methods may
// be called concurrently, and return an error once the context they are given is
// done, or Run has returned. When a turn was told to end, its engine may still
// say, with a context of its own, how what it began has ended: outcomes, usage,
// hooks and the turn's summary are taken until the engine returns or is given
// up; anything else is dropped, and nothing can be asked.
type Host interface {
	// Emit adds a fact to the log. It returns when the session has taken it,
	// and blocks while the session is behind. Text goes to the turn's current
	// message unless the payload names another item. Facts that would break a
	// promise (a second outcome, output of an unknown call) are dropped. The
	// content of an artifact (see [NewArtifact]) is kept before it is told of;
	// that is [ErrUnsupported] where nothing keeps any.
	Emit(ctx context.Context, p Payload) error

	// Follow is Emit for what an engine reads from the numbered frames of a run
	// that can outlive the server. Frames come in order, each with one fact.
	// When an attached run is told again from its first frame, what the log has
	// of it already is dropped, to the character.
	Follow(ctx context.Context, frame uint64, p Payload) error

	// History yields the session's log after a place, up to what was durable
	// when it was called. The turn's own prompt and its beginning are in it.
	History(ctx context.Context, after Seq) iter.Seq2[Event, error]

	// Ask decides whether a call may run: by policy, or by asking and waiting,
	// for days if need be and across restarts. The call must have been emitted
	// before and be open. A decision made about it in an earlier attempt is
	// returned at once.
	Ask(ctx context.Context, u ToolUse) (Decision, error)

	// Steering yields what people say to the turn while it runs, in order,
	// several at once if the engine is slow. What it has not yielded when Run
	// returns, the turn has not heard. [Host.History] may have a word before it
	// is yielded. It is never closed.
	Steering() <-chan []Word

	// Config is the session's configuration as it is now.
	Config() Config

	// Checkpoint records where the next attempt may go on. It returns when the
	// reference is durable.
	Checkpoint(ctx context.Context, ref string) error
}

// Word is something said to a turn while it runs, under its id in the log.
type Word struct {
	Item  ItemID
	Parts []Part
}

// Spoken is what words say together.
func Spoken(words []Word) []Part {
	var parts []Part
	for _, w := range words {
		parts = append(parts, w.Parts...)
	}
	return parts
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

// Survivor is an optional power of an engine: its runs outlive the server.
// Such an engine leaves a run alone when its context ends with [ErrShutdown].
type Survivor interface {
	// Survives reports whether the run of a turn that was under way when the
	// server stopped can be followed. If so, Run is called with t.Attached.
	Survives(ctx context.Context, t Turn) bool
}

// Spawner is an optional power of a host: work can be handed to a session of
// its own.
type Spawner interface {
	// Spawn gives the task to a new session below this one and returns its last
	// answer when it is done; started hears the id before anything runs. When
	// ctx ends, the child is cancelled. It fails with [ErrInvalid] if sessions
	// would nest too deep.
	Spawn(ctx context.Context, n NewSession, task string, started func(SessionID)) (answer string, err error)

	// Join waits, like Spawn, for a session that this one has handed a task
	// before, in a run that outlived the server.
	Join(ctx context.Context, child SessionID) (answer string, err error)
}

// ErrShutdown is the cause a turn's context ends with when the server stops.
var ErrShutdown = &Error{"shutdown", "the server is shutting down"}

// ErrHeld is the cause a turn's context ends with when the turn is to go on
// later, with another attempt. With any other cause but [ErrShutdown] it is over.
var ErrHeld = &Error{"held", "the turn goes on later"}

// ErrRetry marks a failure that another attempt may not have.
var ErrRetry = &Error{"retry", "temporary failure"}

// Reserved reports whether only the kernel writes p: no engine may say it, and no
// run on another machine.
func Reserved(p Payload) bool {
	switch p := p.(type) {
	case *UserMessage, *TurnStart, *TurnEnd, *ApprovalRequired, *ApprovalApplied,
		*Session, *SessionState, *HealthSnapshot, *Rewound:
		return true
	case *SessionCheckpoint:
		return p.CheckpointType == WorkspaceCheckpoint
	case *HookEvent:
		return p.Kind == HookCancel
	case *Unknown:
		_, known := Lookup(p.Name)
		return known
	}
	return false
}
