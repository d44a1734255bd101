// Package policy decides whether a tool call may run: allow, ask or deny, by
// which rule and why. It is pure: the same policy, session, allowances and call
// always give the same verdict.
//
// A policy is read from a file once, with [Parse]; its rules are looked at in
// order and the first that fits decides. Where none does, the allowances that
// approvals have left behind and then the session's permission mode decide.
//
// What cannot be read never widens an allow: a command line is allowed by rules
// about commands only if every command in it is, word for word as the shell will
// see it. A deny is about what a call says, not about what a program then does:
// that is the sandbox's business.
package policy

import (
	"cmp"
	"time"

	"harness"
)

// Outcome is what policy says about a call.
type Outcome string

// The outcomes.
const (
	Allow Outcome = "allow"
	Ask   Outcome = "ask"
	Deny  Outcome = "deny"
)

// Source says what kind of rule gave a verdict.
type Source string

// The sources: a file of rules, the workspace's own, an earlier approval, the
// session's mode or the kind of access.
const (
	ByFile      Source = "file"
	ByWorkspace Source = "workspace"
	ByApproval  Source = "approval"
	ByMode      Source = "mode"
)

// Verdict is an outcome with the rule that gave it.
type Verdict struct {
	Outcome Outcome
	Rule    string        // which rule decided: its file with name or number, mode.…, grant.… or rule.…
	Reason  string        // why, for people
	Source  Source        // what kind of rule it is
	Wait    time.Duration // how long a question may wait for its answer; 0: as the server says
}

// Context is what is known of the session that makes a call.
type Context struct {
	Engine    string
	User      string
	Kind      harness.Kind
	Mode      harness.Mode
	Directory string // the workspace
}

// Decide says whether use may run, given the rules of the file, the session's
// grants and the standing rules of its directory. A nil policy has no rules.
func Decide(p *Policy, c Context, grants []harness.Grant, rules []harness.Rule, use harness.ToolUse) Verdict {
	list := standing(grants, rules, use.Tool)
	var r ruling
	var call *call
	if bearing := p.bearing(c, use); len(list)+len(bearing.rules)+len(bearing.strict) > 0 {
		call = look(c.Directory, use.Tool, use.Input)
		r = bearing.rule(call)
	}
	r.ruled = p != nil && len(p.rules) > 0
	v := decide(r, c, list, use, call)
	if v.Outcome == Ask && p != nil && c.Kind == harness.Background {
		v.Wait = p.unattended.deadline
		if p.unattended.refuse {
			return Verdict{Deny, p.unattended.path, "nobody is there to ask: " + cmp.Or(v.Reason, v.Rule), ByFile, 0}
		}
	}
	return v
}

func decide(r ruling, c Context, list []allowance, use harness.ToolUse, call *call) Verdict {
	if r.outcome == Deny || r.outcome == Allow || r.outcome == Ask && r.firm {
		return r.verdict()
	}
	mode, free := byMode(c.Mode, use.Access)
	if free && r.outcome == "" {
		return mode
	}
	need := r.asked
	if !free {
		need = append(need, r.left...)
	}
	if s, ok := covering(list, call, need, r.outcome == ""); ok {
		return s
	}
	if r.outcome == Ask {
		return r.verdict()
	}
	v := Verdict{Ask, "mode." + string(c.Mode), use.Reason, ByMode, 0}
	if v.Reason == "" {
		v.Reason = r.reason()
	}
	return v
}

// byMode is what the permission mode allows by itself.
func byMode(mode harness.Mode, access harness.Access) (Verdict, bool) {
	switch {
	case mode == harness.FullAuto:
		return Verdict{Allow, "mode.full_auto", "full auto allows every call that no rule denies", ByMode, 0}, true
	case access == harness.AccessRead:
		return Verdict{Allow, "access.read", "reading needs no approval", ByMode, 0}, true
	case mode == harness.AcceptEdits && access == harness.AccessEdit:
		return Verdict{Allow, "mode.accept_edits", "edits inside the workspace are accepted", ByMode, 0}, true
	}
	return Verdict{}, false
}
