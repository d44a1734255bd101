package rest

import (
	"context"
	"net/http"

	"harness"
	"harness/health"
)

// vitals is a session's health in lists: from its row, without its log.
type vitals struct {
	Score int          `json:"score"`
	Grade health.Grade `json:"grade" rule:"words=healthy|watch|degraded|critical"`
	Stuck bool         `json:"stuck,omitempty"` // it needs somebody, whatever the score

	CostUSD float64 `json:"cost_usd,omitempty"` // with the sessions below, as far as prices are known
	Spent   []day   `json:"spent,omitempty"`    // without them, on its latest days
}

// day is what was spent on one, in UTC.
type day struct {
	Date    string  `json:"date"`
	CostUSD float64 `json:"cost_usd"`
}

// asVitals is nil for a row that nobody has judged yet.
func asVitals(s harness.Summary) *vitals {
	if s.Grade == "" {
		return nil
	}
	v := &vitals{Score: s.Score, Grade: health.Grade(s.Grade), Stuck: s.Stuck, CostUSD: s.CostUSD}
	for _, d := range s.Spent {
		v.Spent = append(v.Spent, day(d))
	}
	return v
}

// healthOf is a session's health at st, which the server keeps with it.
func healthOf(st *harness.State) *health.Snapshot {
	f, ok := health.Of(st)
	if !ok {
		return nil
	}
	s := f.Snapshot()
	s.SessionID = st.Session // also where its last event is its parent's
	return &s
}

// withHealth is a command's receipt with the session's health behind it, so that
// clients need not ask again.
func (s *Server) withHealth(ctx context.Context, id harness.SessionID, got harness.Receipt, err error) (receipt, error) {
	answer := asReceipt(id, got)
	if err != nil {
		return answer, err
	}
	if st, err := s.k.At(ctx, id, 0); err == nil { // else the command was carried out all the same
		answer.Health = healthOf(st)
	}
	return answer, nil
}

// policyChange is what a client may set of a session's policy. What it names is
// replaced as a whole.
type policyChange struct {
	Health *healthBounds `json:"health"`
}

// healthBounds are harness.HealthPolicy's limits.
type healthBounds struct {
	MinScore              *int64   `json:"min_score" rule:"min=0 max=100"`
	RuntimeMinutes        *float64 `json:"runtime_minutes" rule:"min=0 max=1000000000"`
	TotalTokens           *int64   `json:"total_tokens" rule:"min=1"`
	CostUSD               *float64 `json:"cost_usd" rule:"min=0 max=1000000000"`
	ContextUsagePct       *float64 `json:"context_usage_pct" rule:"min=0 max=100"`
	FailedToolCalls       *int64   `json:"failed_tool_calls" rule:"min=1"`
	LoopWarnings          *int64   `json:"loop_warnings" rule:"min=1"`
	RepeatedPlanEvents    *int64   `json:"repeated_plan_events" rule:"min=1"`
	ToolLatencyMS         *int64   `json:"tool_latency_ms" rule:"min=1"`
	EventsWithoutEvidence *int64   `json:"events_without_evidence" rule:"min=1"`
	Action                string   `json:"action" rule:"words=require_approval|pause"`
}

func (p *policyChange) bounds() *harness.HealthPolicy {
	if p == nil || p.Health == nil {
		return nil
	}
	b := p.Health
	return &harness.HealthPolicy{
		MinScore: b.MinScore, RuntimeMinutes: b.RuntimeMinutes, TotalTokens: b.TotalTokens, CostUSD: b.CostUSD, ContextUsagePct: b.ContextUsagePct,
		FailedToolCalls: b.FailedToolCalls, LoopWarnings: b.LoopWarnings, RepeatedPlanEvents: b.RepeatedPlanEvents, ToolLatencyMS: b.ToolLatencyMS,
		EventsWithoutEvidence: b.EventsWithoutEvidence, Action: harness.HealthAction(b.Action),
	}
}

type healthQuery struct {
	ID    harness.SessionID `json:"id" rule:"required id"`
	Until string            `json:"until" rule:"words=terminal"`
}

func (s *Server) streamHealth(w http.ResponseWriter, r *http.Request, p *healthQuery, _ *none) error {
	if err := acceptable(r, mediaEvents); err != nil {
		return err
	}
	return s.feeds.serve(w, r, subscription{session: p.ID, until: until{terminal: p.Until == "terminal"}, health: true})
}
