package runner

import (
	"encoding/json"

	"harness"
)

// Query starts a run. S2 knows only the prompt.
type Query struct {
	Prompt    string            `json:"prompt"`
	Resume    string            `json:"resume,omitempty"`    // where to go on: a sessionId, or a checkpoint's ref
	RequestID string            `json:"requestId,omitempty"` // a run with one outlives its connection
	SessionID harness.SessionID `json:"sessionId,omitempty"`
	Kind      harness.Kind      `json:"kind,omitempty"` // of the session
	Attempt   int               `json:"attempt,omitempty"`
	Fresh     bool              `json:"fresh,omitempty"`
	Directory string            `json:"directory,omitempty"`
	Config    *harness.Config   `json:"config,omitempty"`
	Parts     []harness.Part    `json:"parts,omitempty"` // instead of the prompt
	Began     harness.Seq       `json:"began,omitempty"`
	Final     bool              `json:"final,omitempty"`   // whoever asks does not ask again if it fails
	Kept      bool              `json:"kept,omitempty"`    // whoever asks has files kept by itself, with POST /workspace/marks
	Tasks     bool              `json:"tasks,omitempty"`   // whoever asks has tasks done that the run hands on
	History   []json.RawMessage `json:"history,omitempty"` // envelopes, as the log has them
}

// States of a run.
const (
	Running      = "running"
	RunCompleted = "completed"
	RunFailed    = "error"
	RunCancelled = "cancelled"
)

// Status is a run as GET /runs/{id} shows it.
type Status struct {
	RequestID string     `json:"requestId"`
	Attempt   int        `json:"attempt,omitempty"`
	State     string     `json:"state"`
	Frame     uint64     `json:"frame"` // the last event so far
	Pending   []Question `json:"pending,omitempty"`
	Tasks     []Handed   `json:"tasks,omitempty"` // that it waits for
}

// Cancelling tells a run to end.
type Cancelling struct {
	Held bool `json:"held,omitempty"` // its turn goes on later, with another run
}

// Question is a call that waits for its answer.
type Question struct {
	ToolUseID harness.CallID `json:"toolUseId"`
	Frame     uint64         `json:"frame"` // where it was asked
}

// Answer decides about a call; with Error there is no decision and there will
// be none.
type Answer struct {
	harness.Decision
	Error *Problem `json:"error,omitempty"`
}

// Problem is why something was refused, in the words of the closed set.
type Problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Words is something said to a running turn. The same key again changes nothing.
type Words struct {
	Key     string         `json:"key,omitempty"`
	Message string         `json:"message,omitempty"`
	Parts   []harness.Part `json:"parts,omitempty"` // instead of the message
}

// Marking asks for the files of a directory to be kept as they are.
type Marking struct {
	SessionID harness.SessionID `json:"sessionId"`
	Phase     harness.MarkPhase `json:"phase"`
	Directory string            `json:"directory,omitempty"`
}

// Marked is the answer.
type Marked struct {
	Mark       string `json:"mark"`
	Incomplete string `json:"incomplete,omitempty"` // why something of them was not kept
}

// Rewind takes files back: to before a run, to before the run in which a message
// was, or to a mark.
type Rewind struct {
	RequestID string            `json:"requestId,omitempty"`
	MessageID harness.ItemID    `json:"messageId,omitempty"`
	Mark      string            `json:"mark,omitempty"`
	SessionID harness.SessionID `json:"sessionId,omitempty"` // whose mark it is
	Directory string            `json:"directory,omitempty"`
	DryRun    bool              `json:"dryRun,omitempty"`
	Force     bool              `json:"force,omitempty"`

	Lineage  map[harness.SessionID]string `json:"lineage,omitempty"`  // as in [harness.Rewinding]
	Children []harness.SessionID          `json:"children,omitempty"` // likewise
}

// Health is GET /health: S2's three, and what a server of ours wants to know.
type Health struct {
	OK              bool `json:"ok"`
	Busy            bool `json:"busy"`
	HasAnthropicKey bool `json:"hasAnthropicKey"`

	Version   string     `json:"version,omitempty"`
	Abilities *Abilities `json:"abilities,omitempty"`
	Run       *Status    `json:"run,omitempty"`
	Snapshots bool       `json:"snapshots,omitempty"` // files can be kept and taken back
}

// Abilities are [harness.Abilities].
type Abilities struct {
	Tools   bool `json:"tools"`
	Steer   bool `json:"steer"`
	Resume  bool `json:"resume"`
	Thinks  bool `json:"thinks"`
	Approve bool `json:"approve"`
	Away    bool `json:"-"` // is what snapshots says

	Tells   []harness.Type `json:"tells,omitempty"`
	Ignores []string       `json:"ignores,omitempty"`
}

// Bounds on what either end takes. A peer that says more is refused.
const (
	// MaxFrame is the largest event: some times what a tool may say at once.
	MaxFrame = 8 << 20
	// MaxQuery is the largest query: the prompt and the history.
	MaxQuery = 64 << 20
	// MaxCommand is the largest of the other requests, and the largest answer
	// that is not a stream.
	MaxCommand = 1 << 20
	// MaxSpool is how much a run may say in all: a day of text, or one tool
	// that has lost its mind. It is kept on disk.
	MaxSpool = 256 << 20
	// maxKeys is how often a run may be steered.
	maxKeys = 10_000
	// maxResult is how much of a run's text goes into run.completed, where only
	// clients that know no more than S2 look.
	maxResult = 256 << 10
)
