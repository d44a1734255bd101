package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/kernel"
	"harness/store/faulty"
	"harness/store/memory"
)

const askBash = "ask bash c1"

// in is the rig of another session, made in a directory.
func (r *rig) in(directory string, id harness.SessionID) *rig {
	r.t.Helper()
	other := *r
	other.id = r.create(harness.NewSession{ID: id, Directory: directory})
	return &other
}

// as is the rig of a session that is there.
func (r *rig) as(id harness.SessionID) *rig {
	other := *r
	other.id = id
	return &other
}

// ruleRig is a rig without a session yet.
func ruleRig(t testing.TB, st harness.Store, opts *kernel.Options) *rig {
	t.Helper()
	r := &rig{t: t}
	r.mem, _ = st.(*memory.Store)
	r.boot(st, askBash, opts)
	return r
}

func (r *rig) rules(directory string) []harness.Rule {
	r.t.Helper()
	var rules []harness.Rule
	for rule, err := range r.k.Rules(r.t.Context(), directory) {
		if err != nil {
			r.t.Fatal(err)
		}
		rules = append(rules, rule)
	}
	return rules
}

// isAsked submits and reports whether the call is asked about.
func (r *rig) isAsked() bool {
	r.t.Helper()
	r.submit("go")
	st := r.until("a question or the end", func(st *harness.State) bool { return len(st.Pending) > 0 || st.Turn == nil && len(st.Queue) == 0 })
	return len(st.Pending) > 0
}

// Always, said in one session, is an answer in every session of the directory:
// for what waits there and for what comes.
func TestAlwaysIsARuleOfTheDirectory(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := ruleRig(t, memory.New(), nil)
		a, b, elsewhere := r.in("/w", "ses_a"), r.in("/w", "ses_b"), r.in("/v", "ses_c")
		for _, s := range []*rig{a, b, elsewhere} {
			s.submit("go")
			s.pending(1)
		}
		a.decide(harness.Allow, harness.Always)
		a.rest()
		b.rest()
		b.tells(`session_state idle
			user_message submit go
			turn_start 1
			tool_call c1
			policy_decision
			approval_required c1
			approval_applied c1 allow cascade
			tool_outcome c1 ok
			turn_end completed`)
		synctest.Wait()
		if st := elsewhere.state(); len(st.Pending) != 1 {
			t.Errorf("a rule of /w released a call in /v")
		}
		rules := r.rules("/w")
		if len(rules) != 1 || rules[0].Tool != "bash" || rules[0].Session != "ses_a" || len(r.rules("")) != 1 || len(r.rules("/v")) != 0 {
			t.Fatalf("rules %+v", rules)
		}
		late := r.in("/w", "ses_late")
		if late.isAsked() {
			t.Error("a new session of the directory is asked")
		}
		for _, e := range late.log() {
			if p, ok := e.Payload.(*harness.PolicyDecision); ok && p.PolicyPath != "rule."+string(rules[0].ID) {
				t.Errorf("allowed by %s", p.PolicyPath)
			}
		}
		if !r.in("/v", "ses_d").isAsked() {
			t.Error("a session of another directory is not asked")
		}
	})
}

// A session that sleeps while it waits goes on when a rule answers it.
func TestARuleWakesWhoSleepsOverItsQuestion(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := ruleRig(t, memory.New(), nil)
		b := r.in("/w", "ses_b")
		b.submit("go")
		b.pending(1)
		c := b.crash(askBash, nil)
		pass(time.Hour)
		if n := c.k.Awake(); n != 0 {
			t.Fatalf("%d sessions are awake", n)
		}
		a := c.in("/w", "ses_a")
		a.submit("go")
		a.pending(1)
		a.decide(harness.Allow, harness.Always)
		c.rest()
		c.tells(`session_state idle
			user_message submit go
			turn_start 1
			tool_call c1
			policy_decision
			approval_required c1
			approval_applied c1 allow cascade
			turn_start 2
			tool_outcome c1 ok
			turn_end completed`)
	})
}

// A rule that is made while a session goes to sleep over its question wakes it
// again.
func TestARuleIsNotMissedOnTheWayToSleep(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := ruleRig(t, memory.New(), nil)
		b := r.in("/w", "ses_b")
		b.submit("go")
		b.pending(1)
		saving, gate := make(chan struct{}), make(chan struct{})
		var once sync.Once
		st := faulty.Wrap(r.mem.Clone(), func(op faulty.Op) faulty.Fault {
			if op.Method != faulty.SaveSnapshot || op.Session != "ses_b" {
				return faulty.Fault{}
			}
			return faulty.Fault{Wait: func(context.Context) error {
				once.Do(func() { close(saving) })
				<-gate
				return nil
			}}
		})
		c := ruleRig(t, st, nil)
		if _, err := c.k.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-saving // its goroutine hears nothing any more
		a := c.in("/w", "ses_a")
		a.submit("go")
		a.pending(1)
		a.decide(harness.Allow, harness.Always)
		synctest.Wait()
		if st := c.as("ses_b").state(); len(st.Pending) != 1 {
			t.Fatal("it was released before it could be")
		}
		close(gate)
		c.as("ses_b").rest()
	})
}

// After Revoke the tool is asked about again, in the session that allowed it,
// in others, and after a restart.
func TestARevokedRuleIsAskedAboutAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := ruleRig(t, memory.New(), nil)
		a, b := r.in("/w", "ses_a"), r.in("/w", "ses_b")
		a.submit("go")
		a.pending(1)
		a.decide(harness.Allow, harness.Always)
		a.rest()
		if a.isAsked() || b.isAsked() {
			t.Fatal("asked though the rule stands")
		}
		id := r.rules("/w")[0].ID
		if c := r.as("ses_b").crash(askBash, nil); c.in("/w", "ses_c").isAsked() || c.isAsked() {
			t.Error("asked after a restart, though the rule stands")
		}
		if err := r.k.Revoke(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if err := r.k.Revoke(t.Context(), id); !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("revoked again: %v", err)
		}
		if !a.isAsked() || !b.isAsked() || !r.in("/w", "ses_new").isAsked() || len(r.rules("")) != 0 {
			t.Errorf("not asked after the rule was revoked; rules %v", r.rules(""))
		}
		c := b.crash(askBash, nil)
		if !c.in("/w", "ses_d").isAsked() || len(c.rules("")) != 0 {
			t.Error("not asked after a restart")
		}
	})
}

// Without a directory, or on a store that keeps no rules, always is an
// allowance of the session.
func TestAlwaysWithoutARulebookEndsWithTheSession(t *testing.T) {
	for name, c := range map[string]struct {
		st        harness.Store
		directory string
	}{
		"no directory": {memory.New(), ""},
		"no power":     {struct{ harness.Store }{memory.New()}, "/w"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := ruleRig(t, c.st, nil)
				a := r.in(c.directory, "ses_a")
				a.submit("go")
				a.pending(1)
				a.decide(harness.Allow, harness.Always)
				a.rest()
				if a.isAsked() || !r.in(c.directory, "ses_b").isAsked() || len(r.rules("")) != 0 {
					t.Errorf("rules %v", r.rules(""))
				}
				if err := r.k.Revoke(t.Context(), "rul_x"); !errors.Is(err, harness.ErrNotFound) {
					t.Errorf("revoke: %v", err)
				}
			})
		})
	}
}

// A rule and people answer at once, many times over: every question has one
// decision, and who said otherwise is told.
func TestARuleAndAPersonAnswerOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := ruleRig(t, memory.New(), nil)
		a := r.in("/w", "ses_a")
		var others []*rig
		for i := range 20 {
			others = append(others, r.in("/w", harness.SessionID(fmt.Sprintf("ses_%d", i))))
		}
		for _, s := range append(others, a) {
			s.submit("go")
			s.pending(1)
		}
		var wg sync.WaitGroup
		errs := make([]error, len(others))
		for i, s := range others {
			ask := s.state().Pending[0].ID
			wg.Go(func() {
				_, errs[i] = s.k.Do(t.Context(), s.id, harness.Answer{Approval: ask, Decision: harness.Decision{Verdict: harness.Deny}})
			})
		}
		a.decide(harness.Allow, harness.Always)
		wg.Wait()
		for i, s := range others {
			s.rest()
			var applied []string
			for _, e := range s.log() {
				if e.Type() == "approval_applied" {
					applied = append(applied, tell(e))
				}
			}
			if len(applied) != 1 {
				t.Fatalf("decided %d times: %v", len(applied), applied)
			}
			denied := strings.Contains(applied[0], "deny")
			if denied != (errs[i] == nil) || !denied && !errors.Is(errs[i], harness.ErrDecided) {
				t.Errorf("%s, and the person was told %v", applied[0], errs[i])
			}
		}
	})
}

// A crash between a rule and the event that tells of it leaves the rule: it
// answers the question at the next start.
func TestARuleWithoutItsEventAnswersAtTheNextStart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := ruleRig(t, memory.New(), nil)
		a := r.in("/w", "ses_a")
		a.submit("go")
		ask := a.pending(1).Pending[0].ID
		other := &harness.State{}
		e := harness.NewEvent("ses_x", 1, time.Now(), "", &harness.SessionState{Status: harness.Idle})
		other.Apply(e)
		rule := harness.Rule{ID: "rul_1", Directory: "/w", Tool: "bash", Session: "ses_a", Request: ask}
		if err := r.mem.Append(t.Context(), harness.Commit{Session: "ses_x", Events: []harness.Event{e}, Summary: other.Summary(), Rules: []harness.Rule{rule}}); err != nil {
			t.Fatal(err)
		}
		c := a.crash(askBash, nil)
		c.rest()
		if story := c.story(); !strings.Contains(story, "approval_applied c1 allow cascade\nturn_start 2\ntool_outcome c1 ok") {
			t.Errorf("the log tells\n%s", story)
		}
		c.do(harness.Answer{Approval: ask, Decision: harness.Decision{Verdict: harness.Allow, Scope: harness.Always}}) // the same again is fine
	})
}

// Rules are read from the store once, however many sessions wake and ask.
func TestRulesAreReadOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		reads := 0
		st := faulty.Wrap(memory.New(), func(op faulty.Op) faulty.Fault {
			if op.Method == faulty.Rules {
				reads++
			}
			return faulty.Fault{}
		})
		r := ruleRig(t, st, nil)
		if r.in("", "ses_nowhere").isAsked(); reads != 0 {
			t.Errorf("read %d times for a session without a directory", reads)
		}
		for i := range 10 {
			s := r.in("/w", harness.SessionID(fmt.Sprintf("ses_%d", i)))
			if s.isAsked() != (i == 0) {
				t.Errorf("session %d was asked, or the first was not", i)
			}
			if i == 0 {
				s.decide(harness.Allow, harness.Always)
				s.rest()
			}
			pass(time.Hour) // it sleeps
		}
		if r.rules(""); reads != 1 {
			t.Errorf("read %d times", reads)
		}
	})
}

// An append whose outcome is unknown may have made a rule. If it has, what
// waits in other sessions is released when that comes out.
func TestARuleInDoubtIsLookedUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		st := faulty.Wrap(memory.New(), func(op faulty.Op) faulty.Fault {
			if op.Method == faulty.Append && len(op.Commit.Rules) > 0 {
				return faulty.Fault{After: harness.ErrStorage}
			}
			return faulty.Fault{}
		})
		r := ruleRig(t, st, nil)
		a, b := r.in("/w", "ses_a"), r.in("/w", "ses_b")
		for _, s := range []*rig{a, b} {
			s.submit("go")
			s.pending(1)
		}
		a.refused(harness.ErrStorage, harness.Answer{Call: "c1", Decision: harness.Decision{Verdict: harness.Allow, Scope: harness.Always}})
		b.rest()
		if len(r.rules("/w")) != 1 || r.in("/w", "ses_c").isAsked() {
			t.Errorf("rules %v", r.rules("/w"))
		}
	})
}

// Where the rules cannot be read, always is an allowance of the session.
func TestUnreadableRulesAreAskedAbout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		st := faulty.Wrap(memory.New(), func(op faulty.Op) faulty.Fault {
			if op.Method == faulty.Rules {
				return faulty.Fault{Before: harness.ErrCorrupt}
			}
			return faulty.Fault{}
		})
		r := ruleRig(t, st, nil)
		a := r.in("/w", "ses_a")
		a.submit("go")
		a.pending(1)
		a.decide(harness.Allow, harness.Always)
		a.rest()
		if a.isAsked() || !r.in("/w", "ses_b").isAsked() {
			t.Error("always is not an allowance of the session")
		}
		for _, err := range r.k.Rules(t.Context(), "") {
			if !errors.Is(err, harness.ErrCorrupt) {
				t.Errorf("rules: %v", err)
			}
		}
	})
}
