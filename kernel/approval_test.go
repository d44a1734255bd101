package kernel_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/kernel"
)

const askScript = "say before\nask bash c1 {\"command\":\"ls\"} \"List\" => files\nsay after"

func TestApprovalIsAllowedOrDenied(t *testing.T) {
	for verdict, outcome := range map[harness.Verdict]string{harness.Allow: "c1 ok", harness.Deny: "c1 denied"} {
		t.Run(string(verdict), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newRig(t, "ask bash c1", nil)
				r.submit("go")
				st := r.pending(1)
				if st.Status != harness.AwaitingApproval || st.Messages[1].Calls[0].Status != harness.CallAwaiting {
					t.Errorf("status %s, call %s", st.Status, st.Messages[1].Calls[0].Status)
				}
				r.decide(verdict, harness.Once)
				r.rest()
				r.tells(`session_state idle
					user_message submit go
					turn_start 1
					tool_call c1
					policy_decision
					approval_required c1
					approval_applied c1 ` + string(verdict) + ` user
					tool_outcome ` + outcome + `
					turn_end completed`)
			})
		})
	}
}

func TestApprovalIsDeniedAfterItsDeadline(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "ask bash c1", &kernel.Options{ApprovalTimeout: time.Minute})
		began := time.Now()
		r.submit("go")
		r.rest()
		if d := time.Since(began); d != time.Minute {
			t.Errorf("denied after %s", d)
		}
		r.tells(`session_state idle
			user_message submit go
			turn_start 1
			tool_call c1
			policy_decision
			approval_required c1
			approval_applied c1 deny timeout
			tool_outcome c1 denied nobody answered in time
			turn_end completed`)
	})
}

// An allowance for the session releases what else it covers, now and later.
func TestSessionScopeCoversOtherCalls(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := with(t, nil, func(a *attempt) error {
			var wg sync.WaitGroup
			for _, id := range []harness.CallID{"c1", "c2", "c3"} {
				tool := map[harness.CallID]string{"c1": "bash", "c2": "bash", "c3": "rm"}[id]
				a.host.Emit(a.ctx, &harness.ToolCall{ToolCallID: id, Name: tool})
				wg.Go(func() {
					a.host.Ask(a.ctx, harness.ToolUse{Call: id, Tool: tool, Access: harness.AccessExecute})
				})
			}
			wg.Wait()
			a.host.Emit(a.ctx, &harness.ToolCall{ToolCallID: "c4", Name: "bash"})
			d, err := a.host.Ask(a.ctx, harness.ToolUse{Call: "c4", Tool: "bash", Access: harness.AccessExecute})
			if err == nil && (d.Verdict != harness.Allow || d.Source != harness.ByPolicy) {
				err = errors.New("the grant was not used")
			}
			return err
		})
		r.submit("go")
		r.pending(3)
		r.do(harness.Answer{Call: "c1", Decision: harness.Decision{Verdict: harness.Allow, Scope: harness.InSession}})
		st := r.pending(1)
		if st.Pending[0].Tool != "rm" || st.Decided[1].Decision.Source != harness.ByCascade {
			t.Errorf("pending %+v, decided %+v", st.Pending, st.Decided)
		}
		r.allow()
		if st := r.rest(); st.Error != "" || len(st.Grants) != 2 {
			t.Errorf("error %q, grants %v", st.Error, st.Grants)
		}
	})
}

// Two clients answer at once: one decision is in the log, who says the same is
// fine, who says otherwise is told.
func TestApprovalIsDecidedExactlyOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "ask bash c1", nil)
		r.submit("go")
		ask := r.pending(1).Pending[0].ID
		answer := func(v harness.Verdict) error {
			_, err := r.k.Do(context.Background(), r.id, harness.Answer{Approval: ask, Decision: harness.Decision{Verdict: v}})
			return err
		}
		var errs [20]error
		var wg sync.WaitGroup
		verdicts := []harness.Verdict{harness.Allow, harness.Deny}
		for i := range errs {
			wg.Go(func() { errs[i] = answer(verdicts[i%2]) })
		}
		wg.Wait()
		won := r.state().Decided[0].Decision.Verdict
		for i, err := range errs {
			if same := verdicts[i%2] == won; same != (err == nil) || !same && !errors.Is(err, harness.ErrDecided) {
				t.Errorf("%s when %s had won: %v", verdicts[i%2], won, err)
			}
		}
		r.rest()
		applied := 0
		for _, e := range r.log() {
			if e.Type() == "approval_applied" {
				applied++
			}
		}
		if applied != 1 {
			t.Errorf("decided %d times", applied)
		}
		r.refused(harness.ErrNoApproval, harness.Answer{Approval: "apr_none", Decision: harness.Decision{Verdict: harness.Allow}})
		r.refused(harness.ErrInvalid, harness.Answer{Approval: ask, Decision: harness.Decision{Verdict: "maybe"}})
	})
}

// A question outlives the server: it is pending after a restart, needs no
// goroutine while nobody answers, and the answer lets the turn go on where it
// asked.
func TestApprovalSurvivesARestart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, askScript, nil)
		r.submit("go")
		ask := r.pending(1).Pending[0]
		c := r.crash(askScript, nil)
		synctest.Wait()
		pass(time.Hour)
		if n := c.k.Awake(); n != 0 {
			t.Errorf("%d sessions are awake for a question", n)
		}
		st := c.state()
		if len(st.Pending) != 1 || st.Pending[0].ID != ask.ID || st.Status != harness.AwaitingApproval {
			t.Fatalf("pending after a restart: %+v", st.Pending)
		}
		c.refused(harness.ErrNotRunning, harness.Steer{Parts: harness.TextPart("x")})
		c.do(harness.Answer{Approval: ask.ID, Decision: harness.Decision{Verdict: harness.Allow}})
		c.rest()
		c.tells(`session_state idle
			user_message submit go
			turn_start 1
			token before
			tool_call c1
			policy_decision
			approval_required c1
			approval_applied c1 allow user
			turn_start 2
			tool_result
			tool_outcome c1 ok
			token after
			response after
			turn_end completed`)
	})
}

func TestCancelOfAQuestionAfterARestart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, askScript, nil)
		r.submit("go")
		r.pending(1)
		c := r.crash(askScript, nil)
		c.do(harness.Cancel{})
		if st := c.state(); st.Turn != nil || len(st.Pending) != 0 || st.Status != harness.Idle {
			t.Errorf("status %s, pending %v", st.Status, st.Pending)
		}
	})
}
