package kernel

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"harness"
)

// A rule that somebody makes elsewhere releases what it covers in every status,
// and does nothing where nothing waits for it or the server stops.
func TestARuleInEveryStatus(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for _, sc := range scenes {
		for name, tool := range map[string]string{"rule": "bash", "other": "write", "draining": "bash"} {
			s := sc.reach()
			if name == "draining" {
				s.do(drained{})
			}
			s.rules = []harness.Rule{{ID: "rul_1", Directory: "/w", Tool: tool, Actor: "ada"}}
			from := len(s.log)
			s.do(ruled{})
			got[name+" "+sc.name] = cmp.Or(strings.Join(kinds(s.log[from:]), " "), "nothing")
			for _, e := range s.log[from:] {
				if p, ok := e.Payload.(*harness.ApprovalApplied); ok && (p.RuleID != "rul_1" || p.Source != harness.ByCascade || p.Decision != harness.Allow || p.Actor != "ada") {
					t.Errorf("%s: released by %+v", sc.name, p)
				}
			}
			s.do(ruled{})
			if n := len(s.log); n-from > 2 {
				t.Errorf("%s: the rule was applied twice", sc.name)
			}
		}
	}
	compareTable(t, ruleTable, got)
}

// A question that a rule covers by the time the session is loaded is answered
// by loading it.
func TestALoadReleasesWhatARuleCovers(t *testing.T) {
	t.Parallel()
	log := awaiting().log
	s := &scene{log: slices.Clone(log), rules: []harness.Rule{{ID: "rul_1", Directory: "/w", Tool: "bash"}}, ids: 1000}
	s.m = newMachine(fold(log), limits{}, func(prefix string) string { s.ids++; return fmt.Sprintf("%s%d", prefix, s.ids) })
	s.m.standing = func(made []harness.Rule) []harness.Rule { return slices.Concat(s.rules, made) }
	s.do(recovered{})
	if got := strings.Join(kinds(s.log[len(log):]), " "); got != "tool_outcome approval_applied turn_start" { // another call was under way
		t.Errorf("loading said %s", got)
	}
}

// An answer with scope always makes one rule, in the commit that tells of it,
// and leaves no grant in the session.
func TestAlwaysMakesOneRule(t *testing.T) {
	t.Parallel()
	s := running()
	s.ask("c1")
	s.ask("c2")
	always := harness.Answer{Call: "c1", Decision: harness.Decision{Verdict: harness.Allow, Scope: harness.Always, Actor: "ada"}}
	r := s.m.step(s.now, commanded{"client", always})
	if r.commit == nil || len(r.commit.Rules) != 1 || strings.Join(kinds(r.commit.Events), " ") != "approval_applied approval_applied" {
		t.Fatalf("committed %+v", r.commit)
	}
	rule := r.commit.Rules[0]
	request := r.commit.Events[0].Payload.(*harness.ApprovalApplied).RequestID
	want := harness.Rule{ID: rule.ID, Directory: "/w", Tool: "bash", Pattern: "exact:" + harness.Digest(nil), Session: "ses_m", Request: request, Actor: "ada", Created: s.now}
	if rule != want || !strings.HasPrefix(string(rule.ID), harness.RulePrefix) {
		t.Errorf("the rule is %+v, want %+v", rule, want)
	}
	for i, source := range []harness.Decider{harness.ByUser, harness.ByCascade} {
		if p := r.commit.Events[i].Payload.(*harness.ApprovalApplied); p.RuleID != rule.ID || p.Source != source || p.Scope != harness.Always {
			t.Errorf("decision %d is %+v", i, p)
		}
	}
	if len(s.m.state.Grants) != 0 {
		t.Errorf("the session keeps %v as well", s.m.state.Grants)
	}
	// Before it is durable it holds here already, and no call is let go.
	s.m.step(s.now, emitted{s.turn(), report{payload: &harness.ToolCall{ToolCallID: "c3", Name: "bash"}}})
	if early := s.m.step(s.now, asked{"engine", s.turn(), harness.ToolUse{Call: "c3", Tool: "bash", Access: harness.AccessExecute}, nil}); len(early.effects) > 0 || len(s.m.state.Pending) > 0 {
		t.Errorf("%+v, pending %v", early.effects, s.m.state.Pending)
	}
	r = s.m.step(s.now, appended{events: r.commit.Events})
	if e, ok := r.effects[0].(stand); !ok || e.rule != rule || e.err != nil {
		t.Errorf("the first effect is %+v", r.effects[0])
	}
}

// An answer with scope always about a tool that a rule covers by now makes no
// second rule.
func TestAlwaysAgainMakesNoOtherRule(t *testing.T) {
	t.Parallel()
	s := awaiting()
	s.rules = []harness.Rule{{ID: "rul_1", Directory: "/w", Tool: "bash"}}
	r := s.m.step(s.now, commanded{"client", harness.Answer{Call: "call_1", Decision: harness.Decision{Verdict: harness.Allow, Scope: harness.Always}}})
	p := r.commit.Events[0].Payload.(*harness.ApprovalApplied)
	if len(r.commit.Rules) != 0 || p.RuleID != "rul_1" || p.Source != harness.ByUser || len(s.m.state.Grants) != 0 {
		t.Errorf("rules %v, decided by %+v, grants %v", r.commit.Rules, p, s.m.state.Grants)
	}
}

// Where no rule can be kept, always is a grant of the session, as session is.
func TestAlwaysWithoutRulesIsAGrant(t *testing.T) {
	t.Parallel()
	s := running()
	s.m.standing = nil
	s.ask("c1")
	r := s.m.step(s.now, commanded{"client", harness.Answer{Call: "c1", Decision: harness.Decision{Verdict: harness.Allow, Scope: harness.Always}}})
	if len(r.commit.Rules) != 0 || len(s.m.state.Grants) != 1 || s.m.state.Grants[0] != (harness.Grant{Tool: "bash", Scope: harness.Always, Pattern: "exact:" + harness.Digest(nil)}) {
		t.Errorf("rules %v, grants %v", r.commit.Rules, s.m.state.Grants)
	}
}

// If the append fails nobody knows whether the rule stands, and the kernel is
// told so.
func TestARuleOfAFailedAppendIsInDoubt(t *testing.T) {
	t.Parallel()
	s := running()
	s.ask("c1")
	r := s.m.step(s.now, commanded{"client", harness.Answer{Call: "c1", Decision: harness.Decision{Verdict: harness.Allow, Scope: harness.Always}}})
	r = s.m.step(s.now, appended{events: r.commit.Events, err: harness.ErrStorage})
	if e, ok := r.effects[0].(stand); !ok || e.err == nil {
		t.Errorf("the first effect is %+v", r.effects[0])
	}
}
