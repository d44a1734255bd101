package kernel

import (
	"errors"
	"testing"

	"harness"
)

// overBudget is a turn that the health policy holds; its engine has stopped, or
// is about to.
func overBudget(action harness.HealthAction, gone bool) *scene {
	s := running()
	s.do(commanded{nil, harness.Configure{Patch: harness.ConfigPatch{Health: &harness.HealthPolicy{TotalTokens: new(int64(100)), Action: action}}}})
	s.do(emitted{s.turn(), report{payload: &harness.Usage{InputTokens: 500}}})
	if gone {
		s.do(ended{turn: s.turn(), err: errors.New("stopped")})
	}
	return s
}

var heldScenes = map[string]func() *scene{
	"asked":           func() *scene { return overBudget(harness.RequireApproval, true) },
	"asked/stopping":  func() *scene { return overBudget(harness.RequireApproval, false) },
	"paused":          func() *scene { return overBudget(harness.PauseSession, true) },
	"paused/stopping": func() *scene { return overBudget(harness.PauseSession, false) },
}

// heldTable is what commands come to while the policy holds a turn; raise sets a
// limit that is not reached, lower one that is.
const heldTable = `
submit: busy | asked asked/stopping paused paused/stopping
submit/queue: ok user_message | asked asked/stopping paused paused/stopping
steer: not_running | asked asked/stopping paused paused/stopping
cancel: ok idle hook_event approval_applied response turn_end | asked
cancel: ok idle hook_event response turn_end | paused
cancel: ok running hook_event approval_applied | asked/stopping
cancel: ok hook_event | paused/stopping
allow: ok running approval_applied turn_start | asked
allow: ok running approval_applied | asked/stopping
allow: approval_not_found | paused paused/stopping
deny: ok idle approval_applied response turn_end | asked
deny: ok running approval_applied hook_event | asked/stopping
deny: approval_not_found | paused paused/stopping
raise: ok running session_state approval_applied turn_start | asked
raise: ok running session_state approval_applied | asked/stopping
raise: ok running session_state session_state turn_start | paused
raise: ok running session_state session_state | paused/stopping
lower: ok session_state | asked asked/stopping paused paused/stopping
pause: ok session_state | asked asked/stopping
pause: ok | paused paused/stopping
resume: invalid | asked asked/stopping
resume: ok running session_state turn_start | paused
resume: ok running session_state | paused/stopping
`

func TestEveryCommandWhileAPolicyHolds(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for name, reach := range heldScenes {
		answer := func(v harness.Verdict) func(s *scene) harness.Command {
			return func(s *scene) harness.Command {
				a := harness.Answer{Approval: "apr_none", Decision: harness.Decision{Verdict: v}}
				if i := s.m.question(); i >= 0 {
					a.Approval = s.m.state.Pending[i].ID
				}
				return a
			}
		}
		limit := func(n int64) func(s *scene) harness.Command {
			return func(s *scene) harness.Command {
				return harness.Configure{Patch: harness.ConfigPatch{Health: &harness.HealthPolicy{TotalTokens: &n, Action: s.m.health.Action()}}}
			}
		}
		same := func(c harness.Command) func(*scene) harness.Command {
			return func(*scene) harness.Command { return c }
		}
		for stimulus, cmd := range map[string]func(*scene) harness.Command{
			"submit":       same(harness.Submit{Parts: harness.TextPart("more")}),
			"submit/queue": same(harness.Submit{Parts: harness.TextPart("more"), OnBusy: harness.Enqueue}),
			"steer":        same(harness.Steer{Parts: harness.TextPart("left")}),
			"cancel":       same(harness.Cancel{}),
			"allow":        answer(harness.Allow), "deny": answer(harness.Deny), "raise": limit(9000), "lower": limit(50),
			"pause": same(harness.Pause{}), "resume": same(harness.Resume{}),
		} {
			s := reach()
			if !s.m.held() || s.m.holding != (s.m.engine != "") {
				t.Fatalf("scene %s: status %s, engine %q", name, s.m.state.Status, s.m.engine)
			}
			got[stimulus+" "+name] = s.answer(t, cmd(s))
		}
	}
	compareTable(t, heldTable, got)
}

// Whatever was answered while the engine was stopping holds when it has stopped.
func TestAnswersWhileAHeldEngineStops(t *testing.T) {
	t.Parallel()
	stop := func(s *scene, err error) []string {
		from := len(s.log)
		s.do(ended{turn: s.turn(), err: err})
		return kinds(s.log[from:])
	}
	s := overBudget(harness.RequireApproval, false)
	s.do(commanded{nil, harness.Answer{Approval: s.m.state.Pending[0].ID, Decision: harness.Decision{Verdict: harness.Allow}}})
	if got := stop(s, errors.New("stopped")); len(got) != 1 || got[0] != "turn_start" {
		t.Errorf("allowed, then stopped: %v", got)
	}
	s = overBudget(harness.RequireApproval, false)
	s.do(commanded{nil, harness.Answer{Approval: s.m.state.Pending[0].ID, Decision: harness.Decision{Verdict: harness.Deny}}})
	stop(s, errors.New("stopped"))
	if end, ok := s.log[len(s.log)-1].Payload.(*harness.TurnEnd); !ok || end.Reason != "budget" {
		t.Errorf("denied, then stopped: %v", kinds(s.log))
	}
	s = overBudget(harness.PauseSession, false) // it was done at the same moment
	stop(s, nil)
	if s.m.state.Turn != nil || s.m.state.Status != harness.Paused {
		t.Errorf("done, then paused: %s, turn %v", s.m.state.Status, s.m.state.Turn)
	}
}
