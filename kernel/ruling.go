package kernel

import (
	"slices"
	"time"

	"harness"
	"harness/policy"
)

// rules are those that hold for this session: its user's in its directory, and
// those that were decided here and are not durable yet.
func (m *machine) rules() []harness.Rule {
	if m.standing == nil {
		return nil
	}
	all := m.standing(slices.Concat(m.flight.rules, m.batch.rules))
	foreign := func(r harness.Rule) bool { return r.User != m.state.User }
	if slices.ContainsFunc(all, foreign) {
		all = slices.DeleteFunc(slices.Clone(all), foreign)
	}
	return all
}

// about is what policy knows of the session.
func (m *machine) about() policy.Context {
	return policy.Context{
		Engine: m.state.Engine, User: m.state.User, Kind: m.state.Kind, Mode: m.state.Config.PermissionMode, Directory: m.state.Directory,
	}
}

// judge is what policy says about a call: about what will run, not about what is
// shown of it. Its reason is in words that may be kept: policy quotes, and cuts,
// so those about the real call could hold a part of a secret.
func (m *machine) judge(in asked) policy.Verdict {
	grants, rules := m.state.Grants, m.rules()
	if in.real == nil {
		return policy.Decide(m.policy, m.about(), grants, rules, in.use)
	}
	v := policy.Decide(m.policy, m.about(), grants, rules, *in.real)
	shown := policy.Decide(m.policy, m.about(), grants, rules, in.use)
	if v.Reason = shown.Reason; shown.Outcome != v.Outcome || shown.Rule != v.Rule {
		v.Reason = "decided by a part of the arguments that is not shown"
	}
	return v
}

// whyAsked is why people are asked, and that they do not see everything.
func whyAsked(v policy.Verdict, in asked) string {
	const hidden = "a part of the arguments looks like a secret and is not shown"
	switch {
	case in.real == nil:
		return v.Reason
	case v.Reason == "":
		return hidden
	}
	return v.Reason + "; " + hidden
}

// shorter is the shorter of two times, of which 0 is none.
func shorter(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return a + b
	}
	return min(a, b)
}

// mint makes the rule that an answer with scope always stands for, unless one
// covers the call already. Where no rule can be kept it makes none: then the
// answer is a grant of the session.
func (m *machine) mint(now time.Time, a harness.Approval, d harness.Decision) harness.RuleID {
	if m.standing == nil || a.Tool == "" {
		return ""
	}
	if r, ok := policy.Covering(m.policy, m.about(), m.rules(), a.Tool, a.Input); ok {
		return r.ID
	}
	r := harness.Rule{
		ID: harness.RuleID(m.newID(harness.RulePrefix)), Directory: m.state.Directory, User: m.state.User,
		Tool: a.Tool, Pattern: policy.Bind(m.state.Directory, a.Tool, a.Input),
		Session: m.state.Session, Request: a.ID, Actor: d.Actor, Created: now.UTC().Truncate(time.Millisecond),
	}
	m.batch.rules = append(m.batch.rules, r)
	m.then(stand{rule: r})
	return r.ID
}

// release answers the open approvals that a rule covers, and reports whether
// there was one.
func (m *machine) release(now time.Time) bool {
	rules, released := m.rules(), false
	for i := 0; i < len(m.state.Pending); {
		a := m.state.Pending[i]
		r, ok := policy.Covering(m.policy, m.about(), rules, a.Tool, a.Input)
		if !ok || a.Redacted { // nobody has the arguments that it is about
			i++
			continue
		}
		m.apply(now, a, harness.Decision{
			Verdict: harness.Allow, Scope: harness.Always, Reason: "always allowed in this directory", Actor: r.Actor, Source: harness.ByCascade,
		}, r.ID)
		released = true
	}
	return released
}

// ruled looks at the rules again. A server that drains leaves what they release
// to the next start.
func (m *machine) ruled(now time.Time) {
	if !m.draining && m.release(now) {
		m.proceed(now)
	}
}

// proceed tries a turn again that has just got the last answer it waited for
// since its engine was lost.
func (m *machine) proceed(now time.Time) {
	if m.state.Turn != nil && m.engine == "" && len(m.state.Pending) == 0 && m.keep.ending == nil && m.state.Status != harness.Paused {
		m.goAhead(now)
	}
}
