package kernel_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/health"
)

// call makes a call that ends like this.
func (a *attempt) call(id, name, args, status, text string) error {
	call := harness.CallID(fmt.Sprint(a.turn.Attempt, "-", id))
	if err := a.host.Emit(a.ctx, &harness.ToolCall{Name: name, Arguments: []byte(args), ToolCallID: call}); err != nil {
		return err
	}
	o := &harness.ToolOutcome{ToolCallID: call, Status: status}
	if status != harness.OutcomeOK {
		o.Error = text
	} else if err := a.host.Emit(a.ctx, &harness.ToolResult{ToolCallID: call, Output: text}); err != nil {
		return err
	}
	return a.host.Emit(a.ctx, o)
}

// forever takes steps until the turn is told to stop, or has taken too many.
func (a *attempt) forever(step func(a *attempt, i int) error) error {
	for i := range 500 {
		if err := step(a, i); err != nil {
			return err
		}
	}
	return nil
}

// judged is the session's health now.
func (r *rig) judged() health.Snapshot {
	r.t.Helper()
	f, ok := health.Of(r.state())
	if !ok {
		r.t.Fatal("the state has no health")
	}
	return f.Snapshot()
}

// bounded is a rig whose session has a policy.
func bounded(t testing.TB, p harness.HealthPolicy, f func(*attempt) error) *rig {
	t.Helper()
	r := with(t, nil, f)
	r.id = r.create(harness.NewSession{ID: "ses_bound", Config: harness.ConfigPatch{Health: &p}})
	return r
}

// held waits until the policy holds the session.
func (r *rig) held() *harness.State {
	r.t.Helper()
	return r.until("a hold", func(st *harness.State) bool {
		return st.Status == harness.Paused || len(st.Pending) > 0 && st.Pending[0].Tool == harness.HealthTool
	})
}

// count is how many events of a kind the log has.
func (r *rig) count(kind harness.Type) (n int) {
	for _, e := range r.log() {
		if e.Type() == kind {
			n++
		}
	}
	return n
}

// stuckAgents do what stuck agents do, and say when they are to be stopped: with
// the so-many-th event of a kind.
var stuckAgents = []struct {
	name   string
	step   func(a *attempt, i int) error
	policy harness.HealthPolicy
	budget string
	kind   harness.Type
	at     int
}{
	{"repeats itself", func(a *attempt, i int) error {
		return a.call(fmt.Sprint(i), "bash", `{"c":"ls"}`, harness.OutcomeOK, fmt.Sprint(i))
	},
		harness.HealthPolicy{LoopWarnings: new(int64(1))}, "loop_warnings", "tool_call", 3},
	{"alternates", func(a *attempt, i int) error {
		return a.call(fmt.Sprint(i), "bash", fmt.Sprint(i%2), harness.OutcomeOK, fmt.Sprint(i))
	}, harness.HealthPolicy{LoopWarnings: new(int64(1))}, "loop_warnings", "tool_call", 6},
	{"fails the same way", func(a *attempt, i int) error {
		if i%2 == 0 {
			return a.call(fmt.Sprint(i), "bash", `{"c":"make"}`, harness.OutcomeError, "no rule")
		}
		return a.call(fmt.Sprint(i), "read", fmt.Sprint(i), harness.OutcomeOK, fmt.Sprint(i))
	}, harness.HealthPolicy{LoopWarnings: new(int64(1))}, "loop_warnings", "tool_outcome", 5},
	{"gets the same answer", func(a *attempt, i int) error {
		if i%2 == 0 {
			return a.call(fmt.Sprint(i), "bash", `{"c":"date"}`, harness.OutcomeOK, "noon")
		}
		return a.call(fmt.Sprint(i), "read", fmt.Sprint(i), harness.OutcomeOK, fmt.Sprint(i))
	}, harness.HealthPolicy{LoopWarnings: new(int64(1))}, "loop_warnings", "tool_outcome", 7},
	{"burns tokens without evidence", func(a *attempt, i int) error {
		return a.host.Emit(a.ctx, &harness.Usage{InputTokens: int64(100 * (i + 1))})
	}, harness.HealthPolicy{EventsWithoutEvidence: new(int64(5))}, "events_without_evidence", "usage", 5},
	{"uses many tokens", func(a *attempt, i int) error {
		return a.host.Emit(a.ctx, &harness.Usage{InputTokens: int64(100 * (i + 1))})
	}, harness.HealthPolicy{TotalTokens: new(int64(1000))}, "total_tokens", "usage", 10},
	{"costs much", func(a *attempt, i int) error {
		return a.host.Emit(a.ctx, &harness.Usage{InputTokens: int64(i), CostUSD: new(0.25 * float64(i+1))})
	}, harness.HealthPolicy{CostUSD: new(1.0)}, "cost_usd", "usage", 4},
	{"fills its window", func(a *attempt, i int) error {
		return a.host.Emit(a.ctx, &harness.ContextWarning{Pct: float64(10 * (i + 1))})
	}, harness.HealthPolicy{ContextUsagePct: new(90.0)}, "context_usage_pct", "context_warning", 9},
	{"fails", func(a *attempt, i int) error {
		return a.call(fmt.Sprint(i), "bash", fmt.Sprint(i), harness.OutcomeError, fmt.Sprint(i))
	},
		harness.HealthPolicy{FailedToolCalls: new(int64(4))}, "failed_tool_calls", "tool_outcome", 4},
	{"plans in circles", func(a *attempt, i int) error {
		return a.host.Emit(a.ctx, &harness.StepProgress{StepID: "1", Total: 1, Title: "look", Status: []string{"running", "pending"}[i%2]})
	}, harness.HealthPolicy{RepeatedPlanEvents: new(int64(3))}, "repeated_plan_events", "step_progress", 5},
	{"waits for a slow tool", func(a *attempt, i int) error {
		if i == 0 {
			return a.host.Emit(a.ctx, &harness.ToolCall{Name: "bash", ToolCallID: harness.CallID(fmt.Sprint("slow", a.turn.Attempt))})
		}
		<-a.ctx.Done()
		return context.Cause(a.ctx)
	}, harness.HealthPolicy{ToolLatencyMS: new(int64(90_000))}, "tool_latency_ms", "tool_call", 1},
	{"runs for long", func(a *attempt, i int) error {
		select {
		case <-a.ctx.Done():
			return context.Cause(a.ctx)
		case <-time.After(time.Minute):
			return a.say("still here ")
		}
	}, harness.HealthPolicy{RuntimeMinutes: new(3.5)}, "runtime_minutes", "token", 3},
	{"looks bad", func(a *attempt, i int) error {
		return a.call(fmt.Sprint(i), "bash", `{"c":"ls"}`, harness.OutcomeError, "no")
	},
		harness.HealthPolicy{MinScore: new(int64(80))}, "min_score", "tool_outcome", 3},
}

// Each is stopped within the documented number of steps, by a question or a
// pause; and goes on when it is let.
func TestAStuckAgentIsStopped(t *testing.T) {
	for _, s := range stuckAgents {
		for _, action := range []harness.HealthAction{harness.RequireApproval, harness.PauseSession} {
			t.Run(s.name+"/"+string(action), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					p := s.policy
					p.Action = action
					r := bounded(t, p, func(a *attempt) error { return a.forever(s.step) })
					r.submit("go")
					st := r.held()
					pass(time.Minute) // nothing more is taken
					late := 0
					if s.kind == "usage" { // what was under way may still say what it cost
						late = 1
					}
					if n := r.count(s.kind); n < s.at || n > s.at+late {
						t.Errorf("stopped with %s number %d, want %d; %s", s.kind, n, s.at, r.story())
					}
					at := r.judged().Policy.Enforcement
					want := map[harness.HealthAction]string{harness.RequireApproval: health.Awaiting, harness.PauseSession: health.Paused}[action]
					if at.Budget != s.budget || at.State != want {
						t.Errorf("enforcement %+v", at)
					}
					if action == harness.RequireApproval {
						a := st.Pending[0]
						if string(a.Call) != "policy:"+string(a.ID) || st.Status != harness.AwaitingApproval || a.ID != at.Request {
							t.Errorf("approval %+v, status %s", a, st.Status)
						}
						r.allow()
					} else {
						if st.Reason != "budget" {
							t.Errorf("reason %q", st.Reason)
						}
						r.do(harness.Resume{})
					}
					if n := r.judged().Counters.Attempts; n != 2 {
						t.Errorf("%d attempts; %s", n, r.story())
					}
					if s.budget != "runtime_minutes" && s.budget != "tool_latency_ms" {
						r.held() // as much again is as much
					}
					r.do(harness.Cancel{})
					r.rest()
				})
			})
		}
	}
}

// steady uses a hundred tokens a step, up to a thousand.
func steady(a *attempt) error {
	for i := range 10 {
		if err := a.host.Emit(a.ctx, &harness.Usage{InputTokens: int64(100 * (5*(a.turn.Attempt-1) + i + 1))}); err != nil {
			return err
		}
	}
	return a.say("done")
}

func TestRaisingABudgetResumes(t *testing.T) {
	for _, action := range []harness.HealthAction{harness.RequireApproval, harness.PauseSession} {
		t.Run(string(action), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := bounded(t, harness.HealthPolicy{TotalTokens: new(int64(500)), Action: action}, steady)
				r.submit("go")
				r.held()
				r.do(harness.Configure{Patch: harness.ConfigPatch{Health: &harness.HealthPolicy{TotalTokens: new(int64(400)), Action: action}}})
				if st := r.state(); st.Status == harness.Running {
					t.Fatal("a lower limit let it go on")
				}
				r.do(harness.Configure{Patch: harness.ConfigPatch{Health: &harness.HealthPolicy{TotalTokens: new(int64(50_000)), Action: action}}, Actor: "ada"})
				st := r.rest()
				if got := r.conversation(st); !strings.Contains(got, "done") || st.Status != harness.Idle || st.Reason != "" {
					t.Errorf("%s, status %s; %s", got, st.Status, r.story())
				}
				if at := r.judged().Policy.Enforcement; at.State != health.Idle {
					t.Errorf("enforcement %+v", at)
				}
			})
		})
	}
}

func TestADeniedBudgetEndsTheTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := bounded(t, harness.HealthPolicy{TotalTokens: new(int64(500))}, steady)
		r.submit("go")
		r.held()
		r.decide(harness.Deny, harness.Once)
		st := r.rest()
		if st.Status != harness.Idle || !strings.Contains(r.story(), "turn_end cancelled budget") {
			t.Errorf("status %s; %s", st.Status, r.story())
		}
		r.submit("again") // it is asked again before anything runs
		r.held()
		if n := r.judged().Counters.ToolCalls; n != 0 || r.count("usage") != 5 {
			t.Errorf("it ran; %s", r.story())
		}
	})
}

// A question about a budget and a pause outlive the server, and the first answer
// wins.
func TestAHoldOutlivesACrash(t *testing.T) {
	for _, action := range []harness.HealthAction{harness.RequireApproval, harness.PauseSession} {
		t.Run(string(action), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := bounded(t, harness.HealthPolicy{TotalTokens: new(int64(500)), Action: action}, steady)
				r.submit("go")
				r.held()
				for range 3 {
					c := &rig{t: t, mem: r.mem.Clone(), id: r.id}
					c.bootWith(c.mem, &engine{steady}, nil)
					if _, err := c.k.Recover(t.Context()); err != nil {
						t.Fatal(err)
					}
					pass(time.Minute)
					if st := c.state(); st.Turn == nil || st.Status != r.state().Status {
						t.Fatalf("after a restart: %s; %s", st.Status, c.story())
					}
					r = c
				}
				if action == harness.PauseSession {
					r.do(harness.Resume{})
				} else {
					r.allow()
					r.allowed()
				}
				r.held() // with as much again
				if n := r.count("usage"); n != 10 {
					t.Errorf("%d usages; %s", n, r.story())
				}
			})
		})
	}
}

// allowed answers the last question as it was answered.
func (r *rig) allowed() {
	r.t.Helper()
	d := r.state().Decided
	r.do(harness.Answer{Approval: d[len(d)-1].ID, Decision: harness.Decision{Verdict: harness.Allow, Scope: harness.Once}})
	r.refused(harness.ErrDecided, harness.Answer{Approval: d[len(d)-1].ID, Decision: harness.Decision{Verdict: harness.Deny, Scope: harness.Once}})
}

// Budgets are for the whole tree: what the sessions below use counts, and they
// stop with the one above.
func TestBudgetsCountTheWholeTree(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var last harness.SessionID
		r := bounded(t, harness.HealthPolicy{TotalTokens: new(int64(1000))}, func(a *attempt) error {
			if harness.PlainText(a.turn.Parts) == "burn" {
				return a.forever(func(a *attempt, i int) error {
					select {
					case <-a.ctx.Done():
						return context.Cause(a.ctx)
					case <-time.After(time.Second):
						return a.host.Emit(a.ctx, &harness.Usage{InputTokens: int64(100 * (i + 1))})
					}
				})
			}
			if err := a.host.Emit(a.ctx, &harness.Usage{InputTokens: 150}); err != nil {
				return err
			}
			_, err := delegate(a, &last)
			return err
		})
		r.submit("do do burn")
		r.held()
		s := r.judged()
		if used := s.Budget.TotalTokens.Used; used != 1000 || s.Counters.Subagents != 1 {
			t.Errorf("%v tokens, %d below; %s", used, s.Counters.Subagents, r.story())
		}
		pass(time.Minute)
		child, err := r.k.At(t.Context(), last, 0)
		if err != nil || child.Turn != nil {
			t.Errorf("the session below goes on: %+v, %v", child.Status, err)
		}
		r.do(harness.Cancel{})
	})
}

// A session over its budget does not run, whoever asks it to.
func TestNothingRunsOverBudget(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ran := 0
		r := bounded(t, harness.HealthPolicy{TotalTokens: new(int64(100)), Action: harness.PauseSession}, func(a *attempt) error {
			ran++
			return a.host.Emit(a.ctx, &harness.Usage{InputTokens: 99})
		})
		r.submit("one")
		r.rest()
		r.do(harness.Configure{Patch: harness.ConfigPatch{Health: &harness.HealthPolicy{TotalTokens: new(int64(50)), Action: harness.PauseSession}}})
		r.submit("two")
		r.held()
		pass(time.Minute)
		if ran != 1 {
			t.Errorf("it ran %d times", ran)
		}
		r.do(harness.Resume{})
		if r.rest(); ran != 2 {
			t.Errorf("it ran %d times; %s", ran, r.story())
		}
	})
}

// Silence is in the log, in a few events however long it lasts.
func TestSilenceIsInTheLog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := with(t, nil, func(a *attempt) error {
			<-a.ctx.Done()
			return context.Cause(a.ctx)
		})
		r.submit("go")
		flags := func() (codes []string) {
			for _, f := range r.judged().Flags {
				codes = append(codes, f.Code)
			}
			return codes
		}
		pass(4 * time.Minute)
		if got := flags(); len(got) != 0 {
			t.Errorf("after 4 minutes: %v", got)
		}
		pass(2 * time.Minute)
		if got := flags(); !slices.Equal(got, []string{"stalled"}) {
			t.Errorf("after 6 minutes: %v", got)
		}
		before := len(r.log())
		pass(24 * time.Hour)
		if got := flags(); !slices.Equal(got, []string{"stuck", "stalled"}) || len(r.log())-before > 2 {
			t.Errorf("after a day: %v, %d events", got, len(r.log())-before)
		}
		r.do(harness.Cancel{})
		r.rest()
	})
}

// What engines say about budgets does not count.
func TestAnEngineCannotSpeakForThePolicy(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var refused error
		r := bounded(t, harness.HealthPolicy{TotalTokens: new(int64(500))}, func(a *attempt) error {
			if err := a.host.Emit(a.ctx, &harness.SubagentEvent{AgentID: "x", Status: "running", Tally: &harness.Tally{TotalTokens: -1000}}); err != nil {
				return err
			}
			if err := a.host.Emit(a.ctx, &harness.ToolCall{Name: harness.HealthTool, ToolCallID: "c"}); err != nil {
				return err
			}
			_, refused = a.host.Ask(a.ctx, harness.ToolUse{Call: "c", Tool: harness.HealthTool})
			return nil
		})
		r.submit("go")
		r.rest()
		if harness.AsError(refused) != harness.ErrInvalid || r.judged().Counters.Subagents != 0 {
			t.Errorf("asked: %v; %s", refused, r.story())
		}
	})
}

func TestABadPolicyIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "", nil)
		for _, p := range []harness.HealthPolicy{{Action: "explode"}, {MinScore: new(int64(101))}, {TotalTokens: new(int64(0))}, {CostUSD: new(-1.0)}} {
			r.refused(harness.ErrInvalid, harness.Configure{Patch: harness.ConfigPatch{Health: &p}})
			if _, err := r.k.Create(t.Context(), harness.NewSession{Config: harness.ConfigPatch{Health: &p}}); harness.AsError(err) != harness.ErrInvalid {
				t.Errorf("%+v: %v", p, err)
			}
		}
	})
}
