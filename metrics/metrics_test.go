package metrics_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/metrics"
)

func scrape(m *metrics.Meter) string {
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

func commit(p ...harness.Payload) harness.Commit {
	var c harness.Commit
	for i, p := range p {
		c.Events = append(c.Events, harness.NewEvent("ses_canary", harness.Seq(i+1), time.Unix(0, 0), "trn_canary", p))
	}
	return c
}

func TestWhatHappensIsCountedWithoutNamingAnybody(t *testing.T) {
	t.Parallel()
	asked := 0
	m := metrics.New(metrics.Source{
		Sessions: func(context.Context) (map[harness.Status]int, error) {
			asked++
			return map[harness.Status]int{harness.Idle: 7, harness.Running: 2}, nil
		},
		Awake: func() int { return 3 }, Watchers: map[string]func() int{"websocket": func() int { return 4 }}, Processes: func() int { return 5 },
		Approvals: func(context.Context) (int, error) { return 6, nil }, Notices: func() int { return 8 },
	})
	m.Committed(commit(&harness.Token{Text: "canary"}, &harness.Unknown{Name: "canary", Raw: []byte("{}")}, &harness.TurnEnd{Status: "completed"}, &harness.TurnEnd{Status: "canary"},
		&harness.ApprovalRequired{}, &harness.ApprovalApplied{Decision: harness.Allow, Source: harness.ByUser, Actor: "canary"},
		&harness.PolicyDecision{Source: "health"}, &harness.PolicyDecision{Source: "policy"},
		&harness.Usage{InputTokens: 4, OutputTokens: 5, CostUSD: new(0.25)}, &harness.Usage{InputTokens: 10, OutputTokens: 20, CostUSD: new(0.5)}), time.Millisecond, nil) // of the turn so far
	m.Committed(commit(), 0, errors.New("canary"))
	m.Told("webhook", "delivered")
	m.Told("canary", "canary")
	scrape(m)
	text := scrape(m)
	for _, want := range []string{
		`harness_events_total{type="token"} 1`, `harness_events_total{type="other"} 1`, `harness_turns_total{status="completed"} 1`, `harness_turns_total{status="other"} 1`,
		`harness_approvals_asked_total 1`, `harness_approvals_decided_total{source="user",verdict="allow"} 1`,
		`harness_model_tokens_total{direction="output"} 20`, `harness_model_cost_usd_total 0.5`, `harness_commit_failures_total 1`, `harness_budgets_tripped_total 1`,
		`harness_commit_seconds_count 1`, `harness_sessions{status="idle"} 7`, `harness_sessions{status="running"} 2`, `harness_sessions{status="paused"} 0`,
		`harness_sessions_awake 3`, `harness_watchers{protocol="websocket"} 4`, `harness_processes 5`, `harness_approvals_waiting 6`, `harness_notices_waiting 8`, `harness_notices_total{hook="webhook",outcome="delivered"} 1`, `harness_notices_total{hook="other",outcome="other"} 1`, `harness_sessions_uncounted 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(text, "canary") {
		t.Error("somebody is named")
	}
	if asked != 1 {
		t.Errorf("the sessions were counted %d times at once", asked)
	}
}

func TestAStoreThatCannotCountIsToldOf(t *testing.T) {
	t.Parallel()
	m := metrics.New(metrics.Source{Sessions: func(context.Context) (map[harness.Status]int, error) { return nil, harness.ErrStorage }})
	if text := scrape(m); !strings.Contains(text, "harness_sessions_uncounted 1\n") || strings.Contains(text, "harness_sessions{") {
		t.Error(text)
	}
}

// BenchmarkCommitted is what counting adds to a commit of one word.
func BenchmarkCommitted(b *testing.B) {
	m := metrics.New(metrics.Source{})
	c := commit(&harness.Token{Text: "word"})
	b.ReportAllocs()
	for b.Loop() {
		m.Committed(c, time.Millisecond, nil)
	}
}
