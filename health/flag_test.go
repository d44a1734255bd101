package health_test

import (
	"fmt"
	"testing"
	"time"

	"harness"
	"harness/health"
)

// times tells something so often, with a number each.
func times(n int, f func(i int)) {
	for i := range n {
		f(i)
	}
}

// stories raise each flag and clear it again.
var stories = []struct {
	code         string
	policy       *harness.HealthPolicy
	raise, clear func(l *teller)
}{
	{"stuck", nil,
		func(l *teller) { l.after(16*time.Minute, &harness.SessionState{LastHeartbeatAt: &l.now}) },
		func(l *teller) { l.tell(&harness.Token{Text: "here"}) }},
	{"stuck", nil,
		func(l *teller) { times(5, func(int) { l.call("bash", `{"c":"ls"}`, harness.OutcomeOK, "x") }) },
		func(l *teller) {
			times(3, func(i int) { l.call("bash", fmt.Sprint(i), harness.OutcomeOK, fmt.Sprint(i)) })
		}},
	{"stuck", nil,
		func(l *teller) { l.tell(&harness.Failure{Message: "boom"}); l.end(harness.TurnError) },
		func(l *teller) { l.begin() }},
	{"waiting_approval", nil,
		func(l *teller) {
			l.tell(&harness.ApprovalRequired{RequestID: "apr_1", ToolName: "bash", ToolCallID: "c"})
		},
		func(l *teller) {
			l.tell(&harness.ApprovalApplied{RequestID: "apr_1", ToolName: "bash", ToolCallID: "c", Decision: harness.Allow})
		}},
	{"stalled", nil,
		func(l *teller) { l.after(6*time.Minute, &harness.SessionState{LastHeartbeatAt: &l.now}) },
		func(l *teller) { l.tell(&harness.Thinking{Text: "hm"}) }},
	{"degraded_provider", nil,
		func(l *teller) {
			l.tell(&harness.TransportDiagnostic{Status: "degraded", Kind: "provider_fallback"})
		},
		func(l *teller) { l.tell(&harness.TransportDiagnostic{Status: "ok", Kind: "provider_fallback"}) }},
	{"budget_tokens", &harness.HealthPolicy{TotalTokens: new(int64(1000))},
		func(l *teller) { l.tell(&harness.Usage{InputTokens: 700, OutputTokens: 150}) },
		func(l *teller) {
			l.tell(&harness.SessionState{Policy: &harness.SessionPolicy{Health: &harness.HealthPolicy{TotalTokens: new(int64(5000))}}})
		}},
	{"budget_cost", &harness.HealthPolicy{CostUSD: new(1.0)},
		func(l *teller) { l.tell(&harness.Usage{CostUSD: new(0.9)}) },
		func(l *teller) {
			l.tell(&harness.SessionState{Policy: &harness.SessionPolicy{Health: &harness.HealthPolicy{CostUSD: new(9.0)}}})
		}},
	{"budget_time", &harness.HealthPolicy{RuntimeMinutes: new(2.0)},
		func(l *teller) { l.after(110*time.Second, &harness.Response{Text: "still at it"}) },
		func(l *teller) {
			l.tell(&harness.SessionState{Policy: &harness.SessionPolicy{Health: &harness.HealthPolicy{RuntimeMinutes: new(20.0)}}})
		}},
	{"context_pressure", nil,
		func(l *teller) { l.tell(&harness.ContextWarning{Pct: 88}) },
		func(l *teller) { l.tell(&harness.ContextCompacted{OriginalCount: 9, CompactedCount: 2}) }},
	{"tool_failures", nil,
		func(l *teller) {
			times(3, func(i int) { l.call("bash", fmt.Sprint(i), harness.OutcomeError, fmt.Sprint("no ", i)) })
		},
		func(l *teller) {
			times(12, func(i int) { l.call("bash", fmt.Sprint(9+i), harness.OutcomeOK, fmt.Sprint(i)) })
		}},
	{"slow_tools", nil,
		func(l *teller) {
			l.tell(&harness.ToolCall{Name: "bash", ToolCallID: "slow"}, &harness.ToolOutcome{ToolCallID: "slow", Status: harness.OutcomeTimeout, ElapsedMS: 61_000})
		},
		func(l *teller) {
			times(3, func(i int) { l.call("bash", fmt.Sprint(i), harness.OutcomeOK, fmt.Sprint(i)) })
		}},
	{"looping", nil,
		func(l *teller) { times(3, func(int) { l.call("bash", `{"c":"ls"}`, harness.OutcomeOK, "x") }) },
		func(l *teller) {
			times(3, func(i int) { l.call("bash", fmt.Sprint(i), harness.OutcomeOK, fmt.Sprint(i)) })
		}},
	{"plan_churn", nil,
		func(l *teller) {
			times(4, func(int) {
				l.tell(&harness.StepProgress{StepID: "1", Total: 1, Title: "look", Status: "running"}, &harness.Response{Text: "a plan"})
			})
		},
		func(l *teller) {
			l.tell(&harness.StepProgress{StepID: "1", Total: 1, Title: "look", Status: "completed"})
		}},
	{"no_evidence", nil,
		func(l *teller) { times(8, func(i int) { l.tell(&harness.Usage{InputTokens: int64(100 * (i + 1))}) }) },
		func(l *teller) { l.call("read", `{}`, harness.OutcomeOK, "there it is") }},
	{"recovering", nil,
		func(l *teller) { l.tell(&harness.SessionState{Status: harness.Recovering, AttemptCount: 1}) },
		func(l *teller) {
			l.tell(&harness.TurnStart{TurnID: l.turn, ItemID: "itm_b", Attempt: 2})
			l.end(harness.TurnCompleted)
		}},
	{"expiring", nil,
		func(l *teller) { l.tell(&harness.SessionState{ExpiresAt: new(l.now.Add(8 * time.Minute))}) },
		func(l *teller) { l.tell(&harness.SessionState{ExpiresAt: new(l.now.Add(8 * time.Hour))}) }},
	{"orphaned_process", nil,
		func(l *teller) {
			l.tell(&harness.ToolCall{Name: "bash", ToolCallID: "gone"}, &harness.ToolOutcome{ToolCallID: "gone", Status: harness.OutcomeError, Reason: "interrupted"})
		},
		func(l *teller) { l.end(harness.TurnCompleted) }},
	{"low_fidelity", nil,
		func(l *teller) { l.end(harness.TurnCompleted) },
		func(l *teller) { l.begin(); l.tell(&harness.Usage{InputTokens: 10}) }},
}

func TestEachFlagIsRaisedAndCleared(t *testing.T) {
	t.Parallel()
	told := map[string]bool{}
	for _, s := range stories {
		told[s.code] = true
		t.Run(s.code, func(t *testing.T) {
			t.Parallel()
			l := newTeller(t, s.policy)
			l.begin()
			if l.has(s.code) {
				t.Fatalf("it is up before anything happened: %v", l.codes())
			}
			calm := l.fold.Score()
			s.raise(l)
			if !l.has(s.code) {
				t.Fatalf("it is not up, but %v", l.codes())
			}
			if now := l.fold.Score(); now >= calm {
				t.Errorf("the score is %d and was %d", now, calm)
			}
			checkEvidence(t, l)
			s.clear(l)
			if l.has(s.code) {
				t.Errorf("it is still up: %+v", l.fold.Snapshot().Flags)
			}
		})
	}
	for _, code := range health.Codes() {
		if !told[code] {
			t.Errorf("no story raises %s", code)
		}
	}
}

// checkEvidence: every flag that is up names events of the log, in order, and
// says since when.
func checkEvidence(t *testing.T, l *teller) {
	t.Helper()
	for _, f := range l.fold.Snapshot().Flags {
		if f.SinceSeq == 0 || f.Message == "" || len(f.Evidence) == 0 || len(f.Evidence) > 5 {
			t.Errorf("%+v", f)
		}
		last := harness.Seq(0)
		for _, id := range f.Evidence {
			_, seq, err := harness.ParseEventID(id)
			if err != nil || seq <= last || int(seq) > len(l.log) {
				t.Errorf("%s: evidence %q: %v", f.Code, id, err)
			}
			last = seq
		}
	}
}

func TestDesignNamesEveryFlag(t *testing.T) {
	t.Parallel()
	want := "[stuck waiting_approval stalled degraded_provider budget_tokens budget_cost budget_time context_pressure tool_failures slow_tools looping plan_churn no_evidence recovering expiring orphaned_process low_fidelity]"
	if got := fmt.Sprint(health.Codes()); got != want {
		t.Errorf("the flags are\n%s\nwant\n%s", got, want)
	}
}
