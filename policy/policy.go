// Package policy decides whether a tool call may run: allow, ask or deny, and
// by which rule. It is pure: the same mode, grants, rules and call always give
// the same verdict.
//
// It does not know who asks, and it does not remember: standing allowances
// come in as grants, which are a session's, and rules, which are a directory's.
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

// Decide says whether use may run in mode, given the session's grants and the
// rules of its directory.
func Decide(mode harness.Mode, grants []harness.Grant, rules []harness.Rule, use harness.ToolUse) Verdict {
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
	if r, ok := Covering(rules, use.Tool); ok {
		return Verdict{Allow, "rule." + string(r.ID), "always allowed in this directory"}
	}
	return Verdict{Ask, "mode." + string(mode), use.Reason}
}

// Covering finds the rule that allows a tool.
func Covering(rules []harness.Rule, tool string) (harness.Rule, bool) {
	for _, r := range rules {
		if r.Tool == tool {
			return r, true
		}
	}
	return harness.Rule{}, false
}
