package kernel_test

import (
	"fmt"
	"testing"
	"time"

	"harness"
	"harness/health"
)

// actions are what a policy may want done.
var actions = []harness.HealthAction{harness.RequireApproval, harness.PauseSession}

// generous is a policy that bounds the same as a stuck agent's, so high that
// nothing reaches it.
func generous(p harness.HealthPolicy) harness.HealthPolicy {
	much := new(int64(1 << 40))
	for _, limit := range []**int64{&p.TotalTokens, &p.FailedToolCalls, &p.LoopWarnings, &p.RepeatedPlanEvents, &p.ToolLatencyMS, &p.EventsWithoutEvidence} {
		if *limit != nil {
			*limit = much
		}
	}
	for _, limit := range []**float64{&p.RuntimeMinutes, &p.CostUSD} {
		if *limit != nil {
			*limit = new(1e9)
		}
	}
	if p.ContextUsagePct != nil {
		p.ContextUsagePct = new(100.0)
	}
	if p.MinScore != nil {
		p.MinScore = new(int64(0))
	}
	return p
}

// Whichever budget holds a session, and however: raising it lets the session go
// on, without another word.
func TestRaisingAnyBudgetResumes(t *testing.T) {
	for _, s := range stuckAgents {
		for _, action := range actions {
			t.Run(s.budget+"/"+s.name+"/"+string(action), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					p := s.policy
					p.Action = action
					r := bounded(t, p, func(a *attempt) error {
						if a.turn.Attempt == 1 {
							return a.forever(s.step)
						}
						return a.say("on it goes")
					})
					r.submit("go")
					r.held()
					raised := generous(p)
					r.do(harness.Configure{Patch: harness.ConfigPatch{Health: &raised}, Actor: "ada"})
					st := r.rest()
					if at := r.judged(); st.Status != harness.Idle || at.Counters.Attempts != 2 || at.Policy.Enforcement.State != health.Idle {
						t.Errorf("%s, %d attempts, %+v; %s", st.Status, at.Counters.Attempts, at.Policy.Enforcement, r.story())
					}
				})
			})
		}
	}
}

// Every budget counts what the sessions below do, whose own have none; and they
// stop with the one above, within a step of where it would itself.
func TestEveryBudgetCountsTheWholeTree(t *testing.T) {
	for _, s := range stuckAgents {
		for _, action := range actions {
			t.Run(s.budget+"/"+s.name+"/"+string(action), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					var last harness.SessionID
					p := s.policy
					p.Action = action
					r := bounded(t, p, func(a *attempt) error {
						if harness.PlainText(a.turn.Parts) == "burn" {
							return a.forever(func(a *attempt, i int) error {
								if err := s.step(a, i); err != nil {
									return err
								}
								select { // so that it can be told before the next
								case <-a.ctx.Done():
								case <-time.After(time.Second):
								}
								return a.ctx.Err()
							})
						}
						call := harness.CallID(fmt.Sprint("task", a.turn.Attempt)) // as an engine tells that it hands work on
						if err := a.host.Emit(a.ctx, &harness.ToolCall{Name: "task", ToolCallID: call}); err != nil {
							return err
						}
						_, err := delegate(a, &last)
						return err
					})
					r.submit("do burn")
					r.held()
					pass(time.Minute)
					if at := r.judged().Policy.Enforcement; at.Budget != s.budget {
						t.Errorf("enforcement %+v; %s", at, r.story())
					}
					child := &rig{t: t, mem: r.mem, k: r.k, id: last}
					if st := child.state(); st.Turn != nil {
						t.Errorf("the session below goes on: %s", child.story())
					}
					if n := child.count(s.kind); n > s.at+2 {
						t.Errorf("it stopped with %s number %d, want %d", s.kind, n, s.at)
					}
					r.do(harness.Cancel{})
				})
			})
		}
	}
}
