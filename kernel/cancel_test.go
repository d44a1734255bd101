package kernel_test

import (
	"testing"
	"testing/synctest"

	"harness"
)

func TestCancelWhileStreaming(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "say half\nhang", nil)
		turn := r.submit("go").Turn
		synctest.Wait()
		r.refused(harness.ErrTurnNotFound, harness.Cancel{Turn: "trn_other"})
		if got := r.do(harness.Cancel{Turn: turn}); got.Turn != turn {
			t.Errorf("receipt %+v", got)
		}
		st := r.rest()
		if got := r.conversation(st); got != "user:go(complete) assistant:half(complete)" || st.Status != harness.Idle {
			t.Errorf("%s, status %s", got, st.Status)
		}
		r.refused(harness.ErrNotRunning, harness.Cancel{})
		r.refused(harness.ErrTurnNotFound, harness.Cancel{Turn: turn})
	})
}

func TestCancelWhileAwaitingApproval(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "ask bash c1 => done", nil)
		r.submit("go")
		asked := r.pending(1).Pending[0].ID
		r.do(harness.Cancel{})
		r.rest()
		r.refused(harness.ErrDecided, harness.Answer{Approval: asked, Decision: harness.Decision{Verdict: harness.Allow}})
		r.tells(`session_state idle
			user_message submit go
			turn_start 1
			tool_call c1
			policy_decision
			approval_required c1
			hook_event cancel_requested
			approval_applied c1 deny cascade
			tool_outcome c1 error cancelled
			turn_end cancelled user`)
	})
}

func TestCancelInTool(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "tool bash c1\nlog working\nhang", nil)
		r.submit("go")
		synctest.Wait()
		r.do(harness.Cancel{})
		if st := r.rest(); st.Messages[1].Calls[0].Status != harness.CallError {
			t.Errorf("the call is %s", st.Messages[1].Calls[0].Status)
		}
		r.tells(`session_state idle
			user_message submit go
			turn_start 1
			tool_call c1
			tool_log
			hook_event cancel_requested
			tool_outcome c1 error cancelled
			turn_end cancelled user`)
	})
}

// A cancel that was acknowledged holds though the engine has not stopped when
// the server dies.
func TestAcknowledgedCancelSurvivesACrash(t *testing.T) {
	bubble(t, func(t *testing.T) {
		hold := make(chan struct{})
		r := with(t, nil, func(*attempt) error { <-hold; return nil })
		r.setRetries(5) // even so
		r.submit("go")
		synctest.Wait()
		r.do(harness.Cancel{Actor: "ada"})
		c := r.crash("say never", nil)
		st := c.rest()
		close(hold)
		if st.Status != harness.Idle || st.Turns != 1 {
			t.Errorf("status %s, turns %d", st.Status, st.Turns)
		}
		c.tells(`session_state idle
			session_state
			user_message submit go
			turn_start 1
			hook_event cancel_requested
			turn_end cancelled user`)
	})
}
