package harness

import "slices"

// Verdict is what was decided about a tool call.
type Verdict string

// The verdicts.
const (
	Allow Verdict = "allow"
	Deny  Verdict = "deny"
)

// Scope is how far a decision reaches.
type Scope string

// The scopes: this call, this session, this workspace directory from now on.
const (
	Once      Scope = "once"
	InSession Scope = "session"
	Always    Scope = "always"
)

// Decider says who decided.
type Decider string

// The deciders.
const (
	ByUser    Decider = "user"
	ByPolicy  Decider = "policy"
	ByTimeout Decider = "timeout"
	ByCascade Decider = "cascade" // follows from another decision, or from a cancel
)

// Decision answers an approval, about one call with these arguments and no
// others. The first one wins.
type Decision struct {
	Verdict Verdict `json:"verdict"`
	Scope   Scope   `json:"scope,omitempty"`
	Reason  string  `json:"reason,omitempty"`
	Actor   string  `json:"actor,omitempty"`
	Source  Decider `json:"source,omitempty"`
	Digest  string  `json:"digest,omitempty"` // of the arguments; see [Digest]
}

// same reports whether d says again what was already decided.
func (d Decision) same(e Decision) bool { return d.Verdict == e.Verdict && d.Scope == e.Scope }

// Mode is a session's permission mode, in S3's spelling.
type Mode string

// The permission modes: ask for writes, shell and network; allow edits inside
// the workspace; allow everything that no rule denies.
const (
	Normal      Mode = "normal"
	AcceptEdits Mode = "accept_edits"
	FullAuto    Mode = "full_auto"
)

// Stricter is the one of two modes that asks more.
func (m Mode) Stricter(n Mode) Mode {
	if modes := []Mode{Normal, AcceptEdits, FullAuto}; slices.Index(modes, n) < slices.Index(modes, m) {
		return n
	}
	return m
}

// Effort is how hard the model should think.
type Effort string

// The efforts of S1.
const (
	EffortLow    Effort = "low"
	EffortMedium Effort = "medium"
	EffortHigh   Effort = "high"
	EffortMax    Effort = "max"
)

// Access classes a tool call by what it may touch.
type Access string

// The classes of access.
const (
	AccessRead    Access = "read"
	AccessEdit    Access = "edit" // files inside the workspace
	AccessExecute Access = "execute"
	AccessNetwork Access = "network"
)

// Grant is a standing allowance that an approval left behind.
type Grant struct {
	Tool    string `json:"tool"`
	Scope   Scope  `json:"scope"`
	Pattern string `json:"pattern,omitempty"` // which calls of the tool; see [Rule]
}
