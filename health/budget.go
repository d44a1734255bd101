package health

import (
	"encoding/json"
	"fmt"
	"time"

	"harness"
)

// limit is a row of what a policy may bound.
type limit struct {
	name  string
	of    func(p *harness.HealthPolicy) (float64, bool)
	used  func(f *Fold, t *harness.Tally) float64
	floor bool // it must not be less; all others must not be as much
	// further is the next threshold for whoever was let go on.
	further func(limit, used float64) float64
	text    string // with what was observed, and the threshold
}

// again grants as much again. What does not add up is granted a little more.
func again(limit, used float64) float64 { return used + limit }

// The limits that are looked at by themselves, in the order of the table.
const (
	minScore = iota
	runtimeMinutes
	totalTokens
	costUSD
	contextUsage
	failedCalls
	loopWarnings
	planRepeats
	toolLatency
	withoutEvidence
	limitCount
)

var limits = [limitCount]limit{
	minScore: {"min_score", whole(func(p *harness.HealthPolicy) *int64 { return p.MinScore }), func(f *Fold, t *harness.Tally) float64 { return float64(min(int64(f.Score()), 100-t.ScoreLost)) }, true,
		func(_, used float64) float64 { return used - 10 }, "the score is %v, below %v"},
	runtimeMinutes: {"runtime_minutes", some(func(p *harness.HealthPolicy) *float64 { return p.RuntimeMinutes }), func(f *Fold, _ *harness.Tally) float64 { return f.Runtime.Minutes() }, false,
		again, "it ran for %v minutes; the limit is %v"},
	totalTokens: {"total_tokens", whole(func(p *harness.HealthPolicy) *int64 { return p.TotalTokens }), func(_ *Fold, t *harness.Tally) float64 { return float64(t.TotalTokens) }, false,
		again, "it used %v tokens; the limit is %v"},
	costUSD: {"cost_usd", some(func(p *harness.HealthPolicy) *float64 { return p.CostUSD }), func(_ *Fold, t *harness.Tally) float64 { return t.CostUSD }, false,
		again, "it cost %v US dollars; the limit is %v"},
	contextUsage: {"context_usage_pct", some(func(p *harness.HealthPolicy) *float64 { return p.ContextUsagePct }), func(_ *Fold, t *harness.Tally) float64 { return t.ContextUsagePct }, false,
		func(_, used float64) float64 { return used + 5 }, "the model's window is %v%% full; the limit is %v"},
	failedCalls: {"failed_tool_calls", whole(func(p *harness.HealthPolicy) *int64 { return p.FailedToolCalls }), func(_ *Fold, t *harness.Tally) float64 { return float64(t.FailedToolCalls) }, false,
		again, "%v calls failed; the limit is %v"},
	loopWarnings: {"loop_warnings", whole(func(p *harness.HealthPolicy) *int64 { return p.LoopWarnings }), func(_ *Fold, t *harness.Tally) float64 { return float64(t.LoopWarnings) }, false,
		again, "the agent was seen in a loop %v times; the limit is %v"},
	planRepeats: {"repeated_plan_events", whole(func(p *harness.HealthPolicy) *int64 { return p.RepeatedPlanEvents }), func(_ *Fold, t *harness.Tally) float64 { return float64(t.RepeatedPlanEvents) }, false,
		again, "the plan repeated itself %v times; the limit is %v"},
	toolLatency: {"tool_latency_ms", whole(func(p *harness.HealthPolicy) *int64 { return p.ToolLatencyMS }), func(_ *Fold, t *harness.Tally) float64 { return float64(t.ToolLatencyMS) }, false,
		func(_, used float64) float64 { return 2 * used }, "a call took %v ms; the limit is %v"},
	withoutEvidence: {"events_without_evidence", whole(func(p *harness.HealthPolicy) *int64 { return p.EventsWithoutEvidence }), func(_ *Fold, t *harness.Tally) float64 { return float64(t.EventsWithoutEvidence) }, false,
		again, "%v words or expenses without any result; the limit is %v"},
}

func whole(of func(p *harness.HealthPolicy) *int64) func(*harness.HealthPolicy) (float64, bool) {
	return func(p *harness.HealthPolicy) (float64, bool) {
		if n := of(p); n != nil {
			return float64(*n), true
		}
		return 0, false
	}
}

func some(of func(p *harness.HealthPolicy) *float64) func(*harness.HealthPolicy) (float64, bool) {
	return func(p *harness.HealthPolicy) (float64, bool) {
		if n := of(p); n != nil {
			return *n, true
		}
		return 0, false
	}
}

// threshold is where a limit stands now, if there is one.
func (f *Fold) threshold(l *limit) (float64, bool) {
	if f.Policy == nil {
		return 0, false
	}
	at, ok := l.of(f.Policy)
	if moved, is := f.Raised[l.name]; ok && is {
		at = moved
	}
	return at, ok
}

// Crossing is a limit of the policy that was crossed.
type Crossing struct {
	Budget    string // a field of the policy
	Threshold float64
	Observed  float64
	Text      string // for people
}

// Exceeded is the first limit that is crossed, in the policy's order.
func (f *Fold) Exceeded() (Crossing, bool) {
	if f.Policy == nil {
		return Crossing{}, false
	}
	t := f.Tally()
	for i := range limits {
		l := &limits[i]
		at, ok := f.threshold(l)
		if !ok {
			continue
		}
		used := l.used(f, &t)
		if l.floor && used < at || !l.floor && used >= at {
			return Crossing{l.name, at, used, fmt.Sprintf(l.text, round(used, 2), round(at, 2))}, true
		}
	}
	return Crossing{}, false
}

// Action is what the policy wants done then.
func (f *Fold) Action() harness.HealthAction {
	if f.Policy != nil && f.Policy.Action != "" {
		return f.Policy.Action
	}
	return harness.RequireApproval
}

// bound finds what is used of a limit, and the threshold if there is one.
func (f *Fold) bound(i int, t *harness.Tally) (used, at float64, ok bool) {
	at, ok = f.threshold(&limits[i])
	return limits[i].used(f, t), at, ok
}

// pressed is how near a limit is.
func pressed(f *Fold, i int) level {
	if f.Policy == nil {
		return none
	}
	used, at, ok := f.bound(i, &f.tally)
	if !ok {
		return none
	}
	return max(when(warn, used >= nearLimit*at), when(critical, used >= at))
}

func pressure(f *Fold, i int, unit string) string {
	t := f.Tally()
	used, at, _ := f.bound(i, &t)
	return fmt.Sprintf("%v of %v %s are used.", round(used, 2), round(at, 2), unit)
}

// States of enforcement.
const (
	Idle       = "none"       // no limit was crossed, or the policy changed since
	Awaiting   = "awaiting"   // it waits for an answer
	Paused     = "paused"     // it was paused
	Overridden = "overridden" // somebody let it go on
	Denied     = "denied"     // somebody did not
)

// trip is the last limit that was crossed and acted on.
type trip struct {
	State     string             `json:"state,omitempty"`
	Budget    string             `json:"budget,omitempty"`
	Threshold float64            `json:"threshold,omitempty"`
	Observed  float64            `json:"observed,omitempty"`
	Request   harness.ApprovalID `json:"request,omitempty"`
	Seq       harness.Seq        `json:"seq,omitempty"`
}

// tripped notes a question about a limit.
func (f *Fold) tripped(e harness.Event, p *harness.ApprovalRequired) {
	var at harness.Enforcement
	if json.Unmarshal(p.Input, &at) != nil {
		return
	}
	f.Trip = trip{Awaiting, at.Budget, at.Threshold, at.Observed, p.RequestID, e.Seq}
}

// answered notes the answer.
func (f *Fold) answered(p *harness.ApprovalApplied) {
	switch {
	case p.Decision == harness.Deny:
		f.Trip.State = Denied
	case p.Source == harness.ByPolicy: // the limit is another now
		f.Trip = trip{}
	default:
		f.override()
	}
}

// override moves the threshold that was crossed: whoever was let go on may go on
// for as much again.
func (f *Fold) override() {
	f.Trip.State = Overridden
	f.Loop.forget()
	for i := range limits {
		if l := &limits[i]; l.name == f.Trip.Budget && f.Policy != nil {
			base, ok := l.of(f.Policy)
			if !ok {
				return
			}
			moved := map[string]float64{}
			for name, at := range f.Raised {
				moved[name] = at
			}
			moved[l.name] = l.further(base, f.Trip.Observed)
			f.Raised = moved
		}
	}
}

// seePolicy notes a new policy, or that the old one paused the session.
func (f *Fold) seePolicy(e harness.Event, p *harness.SessionPolicy) {
	if p.Health != nil {
		f.Policy, f.Raised, f.Renewed = p.Health, nil, true
		f.record(Row{Kind: "policy", Subject: harness.HealthTool, Outcome: "configured"}, e)
	}
	if at := p.Enforcement; at != nil {
		f.Trip = trip{Paused, at.Budget, at.Threshold, at.Observed, "", e.Seq}
		f.record(Row{Kind: "policy", Subject: harness.HealthTool, Outcome: "paused", Reason: at.Budget}, e)
	}
}

// renewed forgets what the old policy did, unless the new one would do it, too.
func (f *Fold) renewed() {
	f.Renewed = false
	if _, over := f.Exceeded(); !over || f.Trip.State != Awaiting && f.Trip.State != Paused {
		f.Trip = trip{}
	}
}

// Next is when time alone would next change the judgement of a session that
// runs; zero if it would not. Whoever sees to the session adds an event then.
func (f *Fold) Next() time.Time {
	if !f.running() {
		return time.Time{}
	}
	var next time.Time
	at := func(t time.Time) {
		if t.After(f.Now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	at(f.Progress.Add(stalledAfter))
	at(f.Progress.Add(stuckAfter))
	if !f.Expires.IsZero() {
		at(f.Expires.Add(-expiresSoon))
		at(f.Expires)
	}
	if f.Policy == nil {
		return next
	}
	if limit, ok := f.threshold(&limits[runtimeMinutes]); ok {
		for _, share := range []float64{nearLimit, 1} {
			at(f.Now.Add(ceil(time.Duration(share*limit*float64(time.Minute)) - f.Runtime)))
		}
	}
	if limit, ok := f.threshold(&limits[toolLatency]); ok {
		for _, o := range f.Open {
			at(o.Since.Add(ceil(time.Duration(limit * float64(time.Millisecond)))))
		}
	}
	return next
}

// ceil is the next whole millisecond, which is what events are told to.
func ceil(d time.Duration) time.Duration {
	return (d + time.Millisecond - 1).Truncate(time.Millisecond)
}
