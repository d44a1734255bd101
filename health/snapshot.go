package health

import (
	"time"

	"harness"
)

// Snapshot is S3's health of a session, at an event.
type Snapshot struct {
	Version   int               `json:"version"`
	SessionID harness.SessionID `json:"session_id"`
	Seq       harness.Seq       `json:"seq"`
	AsOf      time.Time         `json:"as_of"` // the time of that event
	Score     int               `json:"score"`
	Grade     Grade             `json:"grade" rule:"words=healthy|watch|degraded|critical"`
	Flags     []Flag            `json:"flags"`
	Budget    Budgets           `json:"budget"`
	Counters  Counters          `json:"counters"`
	Liveness  Liveness          `json:"liveness"`
	Memory    Memory            `json:"memory"`
	Audit     []Row             `json:"audit"` // newest first
	Hint      Hint              `json:"recovery_hint"`
	Policy    Control           `json:"policy"`
}

// Flag is one that is up.
type Flag struct {
	Code     string      `json:"code"`
	Severity Severity    `json:"severity" rule:"words=info|warn|critical"`
	SinceSeq harness.Seq `json:"since_seq"`
	Evidence []string    `json:"evidence"` // ids of events: the first, and the latest
	Message  string      `json:"message"`
}

// Budgets are what a policy may bound and what is used of it, with the work of
// subagents.
type Budgets struct {
	RuntimeMinutes  Budget `json:"runtime_minutes"`
	TotalTokens     Budget `json:"total_tokens"`
	CostUSD         Budget `json:"cost_usd"`
	ContextUsagePct Budget `json:"context_usage_pct"`
}

// Budget is how much is used of one.
type Budget struct {
	Used    float64  `json:"used"`
	Limit   *float64 `json:"limit"` // null: none
	Ratio   *float64 `json:"ratio"` // null without a limit
	Unknown bool     `json:"unknown,omitempty"`
}

// Counters are what is counted of the session and of those below it.
type Counters struct {
	FailedToolCalls       int64 `json:"failed_tool_calls"`
	LoopWarnings          int64 `json:"loop_warnings"`
	RepeatedPlanEvents    int64 `json:"repeated_plan_events"`
	MaxToolLatencyMS      int64 `json:"max_tool_latency_ms"`
	EventsWithoutEvidence int64 `json:"events_without_evidence"`
	ToolCalls             int64 `json:"tool_calls"` // its own, as are those that follow
	Attempts              int64 `json:"attempts"`
	Turns                 int64 `json:"turns"`
	Subagents             int64 `json:"subagents"` // sessions below that have told what they used
}

// Liveness is when the session was last heard of. Times are of events.
type Liveness struct {
	Live            bool           `json:"live"` // an engine works, as far as the log tells
	Status          harness.Status `json:"status"`
	LastEventAt     time.Time      `json:"last_event_at"`
	LastProgressAt  *time.Time     `json:"last_progress_at"`
	LastHeartbeatAt *time.Time     `json:"last_heartbeat_at"`
	SilentMS        int64          `json:"silent_ms"` // without progress, when the last event was written
}

// Memory is what the agent remembered, and wants remembered.
type Memory struct {
	Proposals  int64    `json:"proposals"`
	Accepted   int64    `json:"accepted"`
	Provenance []Source `json:"provenance"` // newest first
}

// Control is what bounds the session, and what came of that.
type Control struct {
	Health      harness.HealthPolicy `json:"health"`
	Enforcement Enforcement          `json:"enforcement"`
}

// Enforcement is the last limit that was acted on.
type Enforcement struct {
	State     string             `json:"state" rule:"words=none|awaiting|paused|overridden|denied"`
	Budget    string             `json:"budget,omitempty"`
	Threshold *float64           `json:"threshold,omitempty"`
	Observed  *float64           `json:"observed,omitempty"`
	Request   harness.ApprovalID `json:"approval_request_id,omitempty"`
	AtSeq     harness.Seq        `json:"at_seq,omitempty"`
}

// Snapshot is the session's health at the last event. It shares nothing with f.
func (f *Fold) Snapshot() Snapshot {
	t := f.Tally()
	score := f.Score()
	s := Snapshot{
		Version: Version, SessionID: f.Session, Seq: f.Seq, AsOf: f.Now, Score: score, Grade: GradeOf(score), Flags: f.flags(), Budget: f.budgets(),
		Counters: Counters{
			t.FailedToolCalls, t.LoopWarnings, t.RepeatedPlanEvents, t.ToolLatencyMS, t.EventsWithoutEvidence, f.Calls, f.Attempts, f.Turns, f.Tree.Seen,
		},
		Liveness: Liveness{f.running(), f.status(), f.Now, optional(f.Progress), optional(f.Heartbeat), f.Silence.Milliseconds()},
		Memory:   Memory{f.Memory.Proposals, f.Memory.Accepted, reversed(f.Memory.Sources)},
		Audit:    reversed(f.Audit), Hint: f.hint(),
	}
	if f.Policy != nil {
		s.Policy.Health = *f.Policy
		s.Policy.Health.Action = f.Action()
	}
	s.Policy.Enforcement = Enforcement{State: Idle}
	if tr := f.Trip; tr.State != "" {
		s.Policy.Enforcement = Enforcement{tr.State, tr.Budget, new(round(tr.Threshold, 4)), new(round(tr.Observed, 4)), tr.Request, tr.Seq}
	}
	return s
}

// status is the session's, in S3's words.
func (f *Fold) status() harness.Status {
	switch {
	case len(f.Pending) > 0:
		return harness.AwaitingApproval
	case f.Status == "":
		return harness.Idle
	}
	return f.Status
}

func (f *Fold) flags() []Flag {
	list := []Flag{}
	for i := range rows {
		m := &f.Flags[i]
		if m.Level == none {
			continue
		}
		up := Flag{rows[i].code, severities[m.Level], m.Since, make([]string, 0, len(m.By)), rows[i].text(f)}
		for _, seq := range m.By {
			up.Evidence = append(up.Evidence, harness.EventID(f.Session, seq))
		}
		list = append(list, up)
	}
	return list
}

func (f *Fold) budgets() Budgets {
	t := f.Tally()
	of := func(i, digits int, unknown bool) Budget {
		used, at, ok := f.bound(i, &t)
		b := Budget{Used: round(used, digits), Unknown: unknown}
		if ok {
			b.Limit, b.Ratio = new(round(at, 4)), new(round(used/at, 3))
		}
		return b
	}
	return Budgets{
		of(runtimeMinutes, 1, false), of(totalTokens, 0, f.Blind), of(costUSD, 6, f.Unpriced || f.Blind || f.Tree.Total.Unpriced),
		of(contextUsage, 1, !f.HasPct && t.ContextUsagePct == 0),
	}
}

func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func reversed[T any](list []T) []T {
	out := make([]T, 0, len(list))
	for i := len(list) - 1; i >= 0; i-- {
		out = append(out, list[i])
	}
	return out
}
