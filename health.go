package harness

import (
	"cmp"
	"fmt"
)

// HealthTool is the tool that approvals of a health policy are about. No engine
// may ask for it.
const HealthTool = "health_policy"

// HealthAction is what happens when a session crosses a limit of its policy.
type HealthAction string

// The actions of S3.
const (
	RequireApproval HealthAction = "require_approval" // ask, and wait for the answer; the default
	PauseSession    HealthAction = "pause"
)

// HealthPolicy bounds a session, and the sessions below it, by what S3 lets an
// operator name. A limit that is nil bounds nothing; one that is reached stops
// the session, but the score, which must fall below its own.
type HealthPolicy struct {
	MinScore              *int64       `json:"min_score,omitempty"`
	RuntimeMinutes        *float64     `json:"runtime_minutes,omitempty"`
	TotalTokens           *int64       `json:"total_tokens,omitempty"`
	CostUSD               *float64     `json:"cost_usd,omitempty"`
	ContextUsagePct       *float64     `json:"context_usage_pct,omitempty"`
	FailedToolCalls       *int64       `json:"failed_tool_calls,omitempty"`
	LoopWarnings          *int64       `json:"loop_warnings,omitempty"`
	RepeatedPlanEvents    *int64       `json:"repeated_plan_events,omitempty"`
	ToolLatencyMS         *int64       `json:"tool_latency_ms,omitempty"`
	EventsWithoutEvidence *int64       `json:"events_without_evidence,omitempty"`
	Action                HealthAction `json:"action,omitempty"`
}

// Check refuses limits that nothing could keep to, and unknown actions, with
// [ErrInvalid].
func (p *HealthPolicy) Check() error {
	if p == nil {
		return nil
	}
	if a := p.Action; a != "" && a != RequireApproval && a != PauseSession {
		return fmt.Errorf("health policy: action %q is neither require_approval nor pause: %w", a, ErrInvalid)
	}
	if s := p.MinScore; s != nil && (*s < 0 || *s > 100) {
		return fmt.Errorf("health policy: min_score %d: must be 0 to 100: %w", *s, ErrInvalid)
	}
	for name, n := range map[string]*int64{
		"total_tokens": p.TotalTokens, "failed_tool_calls": p.FailedToolCalls, "loop_warnings": p.LoopWarnings,
		"repeated_plan_events": p.RepeatedPlanEvents, "tool_latency_ms": p.ToolLatencyMS, "events_without_evidence": p.EventsWithoutEvidence,
	} {
		if n != nil && *n <= 0 {
			return fmt.Errorf("health policy: %s %d: must be more than 0: %w", name, *n, ErrInvalid)
		}
	}
	for name, n := range map[string]*float64{"runtime_minutes": p.RuntimeMinutes, "cost_usd": p.CostUSD, "context_usage_pct": p.ContextUsagePct} {
		if n != nil && !(*n > 0) {
			return fmt.Errorf("health policy: %s %v: must be more than 0: %w", name, *n, ErrInvalid)
		}
	}
	return nil
}

// Stricter has of each limit that which stops a session sooner. Nil bounds
// nothing.
func (p *HealthPolicy) Stricter(q *HealthPolicy) *HealthPolicy {
	if p == nil || q == nil {
		return cmp.Or(p, q)
	}
	s := HealthPolicy{
		RuntimeMinutes: least(p.RuntimeMinutes, q.RuntimeMinutes), TotalTokens: least(p.TotalTokens, q.TotalTokens), CostUSD: least(p.CostUSD, q.CostUSD),
		ContextUsagePct: least(p.ContextUsagePct, q.ContextUsagePct), FailedToolCalls: least(p.FailedToolCalls, q.FailedToolCalls),
		LoopWarnings: least(p.LoopWarnings, q.LoopWarnings), RepeatedPlanEvents: least(p.RepeatedPlanEvents, q.RepeatedPlanEvents),
		ToolLatencyMS: least(p.ToolLatencyMS, q.ToolLatencyMS), EventsWithoutEvidence: least(p.EventsWithoutEvidence, q.EventsWithoutEvidence),
		MinScore: cmp.Or(p.MinScore, q.MinScore), Action: cmp.Or(p.Action, q.Action),
	}
	if q.MinScore != nil && *q.MinScore > *s.MinScore { // a score must not fall below it
		s.MinScore = q.MinScore
	}
	if q.Action == PauseSession { // a question can be answered
		s.Action = q.Action
	}
	return &s
}

// least is the smaller of two limits, of which nil is none.
func least[T cmp.Ordered](a, b *T) *T {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}

// SessionPolicy is S3's policy of a session: what bounds it, and what came of
// that.
type SessionPolicy struct {
	Health      *HealthPolicy `json:"health,omitempty"`      // from now on, as a whole
	Enforcement *Enforcement  `json:"enforcement,omitempty"` // the session was paused
}

// Enforcement says which limit a session crossed.
type Enforcement struct {
	Budget    string  `json:"budget"` // a field of [HealthPolicy]
	Threshold float64 `json:"threshold"`
	Observed  float64 `json:"observed"`
}

// Aside is what another package folds beside a state and wants kept with it.
// One that was given to a state does not change any more.
type Aside interface {
	// AppendJSON appends a form of it that has no line ends.
	AppendJSON(dst []byte) []byte
}

// SetAside has s keep a, until the next SetAside. It is not part of the state:
// [State.Apply] does not touch it, and [State.JSON] does not show it.
func (s *State) SetAside(a Aside) { s.aside, s.asideForm = a, nil }

// Aside is what was kept with s: as it was given, or as it was stored.
func (s *State) Aside() (a Aside, stored []byte) { return s.aside, s.asideForm }
