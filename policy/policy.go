// Package policy decides whether a tool call may run: allow, ask or deny, and
// by which rule. It is pure: the same mode, grants and call always give the
// same verdict.
//
// It does not know who asks, and it does not remember: standing allowances
// come in as grants.
package policy

import "harness"

// Outcome is what policy says about a call.
type Outcome string

// The outcomes.
const (
	Allow Outcome = "allow"
	Ask   Outcome = "ask"
	Deny  Outcome = "deny"
)

// Verdict is an outcome with the rule that gave it.
type Verdict struct {
	Outcome Outcome
	Rule    string // which rule decided
	Reason  string // why, for people
}

// Decide says whether use may run in mode, given the allowances so far.
func Decide(mode harness.Mode, grants []harness.Grant, use harness.ToolUse) Verdict {
	switch {
	case mode == harness.FullAuto:
		return Verdict{Allow, "mode.full_auto", "full auto allows every call that no rule denies"}
	case use.Access == harness.AccessRead:
		return Verdict{Allow, "access.read", "reading needs no approval"}
	case mode == harness.AcceptEdits && use.Access == harness.AccessEdit:
		return Verdict{Allow, "mode.accept_edits", "edits inside the workspace are accepted"}
	}
	for _, g := range grants {
		if g.Tool == use.Tool {
			return Verdict{Allow, "grant." + string(g.Scope), "allowed by an earlier approval"}
		}
	}
	return Verdict{Ask, "mode." + string(mode), use.Reason}
}
