package kernel_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"

	"harness"
)

// asks asks about a call with arguments.
func (a *attempt) asks(call harness.CallID, args string) (harness.Decision, error) {
	return a.host.Ask(a.ctx, harness.ToolUse{Call: call, Tool: "bash", Access: harness.AccessExecute, Input: json.RawMessage(args)})
}

func (a *attempt) calls(call harness.CallID, args string) error {
	return a.host.Emit(a.ctx, &harness.ToolCall{ToolCallID: call, Name: "bash", Arguments: json.RawMessage(args)})
}

// TestAnApprovalIsForItsArgumentsOnly: an engine that was allowed one thing and
// then means another under the same id is asked about it, once more.
func TestAnApprovalIsForItsArgumentsOnly(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var decisions []harness.Decision
		r := with(t, nil, func(a *attempt) error {
			if err := a.calls("c1", `{"command":"ls"}`); err != nil {
				return err
			}
			for _, args := range []string{`{"command":"ls","n":1}`, `{ "n": 1.0, "command": "\u006cs" }`, `{"command":"rm","n":1}`, `{"command":"ls","n":1}`} {
				d, err := a.asks("c1", args)
				if err != nil {
					return err
				}
				if d.Verdict == harness.Allow && !d.Covers(json.RawMessage(args)) {
					t.Errorf("%s runs by a decision about other arguments", args)
				}
				decisions = append(decisions, d)
			}
			return nil
		})
		r.submit("go")
		first := r.pending(1).Pending[0]
		if want := harness.Digest(json.RawMessage(`{"command":"ls","n":1}`)); first.Digest != want {
			t.Errorf("the question is about %s, want %s", first.Digest, want)
		}
		r.allow()
		second := r.until("the second question", func(st *harness.State) bool { return len(st.Pending) == 1 && st.Pending[0].ID != first.ID }).Pending[0]
		if string(second.Input) != `{"command":"rm","n":1}` {
			t.Errorf("asked about %s", second.Input)
		}
		r.decide(harness.Deny, harness.Once)
		r.rest()
		var got []harness.Verdict
		for _, d := range decisions {
			got = append(got, d.Verdict)
		}
		if len(got) != 4 || got[0] != harness.Allow || got[1] != harness.Allow || got[2] != harness.Deny || got[3] != harness.Allow {
			t.Errorf("decided %v", got)
		}
		r.tells(`session_state idle
			user_message submit go
			turn_start 1
			tool_call c1
			policy_decision
			approval_required c1
			approval_applied c1 allow user
			policy_decision
			approval_required c1
			approval_applied c1 deny user
			tool_outcome c1 ok
			turn_end completed`)
	})
}

// TestAQuestionEndsWhenItsArgumentsChange: what nobody means any more cannot be
// approved.
func TestAQuestionEndsWhenItsArgumentsChange(t *testing.T) {
	bubble(t, func(t *testing.T) {
		overtaken, allowed := make(chan harness.Decision, 1), make(chan harness.Decision, 1)
		r := with(t, nil, func(a *attempt) error {
			if err := a.calls("c1", `{}`); err != nil {
				return err
			}
			go func() {
				d, _ := a.asks("c1", `{"command":"ls"}`)
				overtaken <- d
			}()
			synctest.Wait()
			d, err := a.asks("c1", `{"command":"rm"}`)
			allowed <- d
			return err
		})
		r.submit("go")
		r.until("the second question", func(st *harness.State) bool {
			return len(st.Pending) == 1 && string(st.Pending[0].Input) == `{"command":"rm"}`
		})
		if d := <-overtaken; d.Verdict != harness.Deny || d.Source != harness.ByCascade {
			t.Errorf("the first was decided %+v", d)
		}
		decided := r.state().Decided
		r.refused(harness.ErrDecided, harness.Answer{Approval: decided[0].ID, Decision: harness.Decision{Verdict: harness.Allow}})
		r.refused(harness.ErrDecided, harness.Answer{Call: "c1", Decision: harness.Decision{Verdict: harness.Allow}}) // may have meant the first
		about := harness.Decision{Verdict: harness.Allow, Digest: harness.Digest(json.RawMessage(`{"command":"ls"}`))}
		r.refused(harness.ErrNoApproval, harness.Answer{Call: "c1", Decision: about})
		about.Digest = harness.Digest(json.RawMessage(`{"command":"rm"}`))
		r.do(harness.Answer{Call: "c1", Decision: about})
		if d := <-allowed; !d.Covers(json.RawMessage(`{"command":"rm"}`)) || d.Covers(json.RawMessage(`{"command":"ls"}`)) {
			t.Errorf("the second was decided %+v", d)
		}
		r.rest()
	})
}

// TestADecisionSurvivesARestartWithItsArguments: the next attempt gets it for
// the same arguments, in another spelling, and is asked about others.
func TestADecisionSurvivesARestartWithItsArguments(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, `ask bash c1 {"command":"ls"}`, nil)
		r.submit("go")
		r.pending(1)
		for args, asked := range map[string]bool{`{"command": "ls"}`: false, `{"command":"rm"}`: true} {
			c := r.crash(`ask bash c1 `+args, nil)
			c.allow()
			if !asked {
				c.rest()
				continue
			}
			st := c.until("a second question", func(st *harness.State) bool { return len(st.Pending) == 1 && len(st.Decided) == 1 })
			if string(st.Pending[0].Input) != args {
				t.Errorf("asked about %s", st.Pending[0].Input)
			}
			c.decide(harness.Deny, harness.Once)
			c.rest()
		}
		r.do(harness.Cancel{})
		r.rest()
	})
}
