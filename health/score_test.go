package health_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"harness"
)

// bad are things that can only make matters worse, each with where the matter
// stands: tokens used, percent of context, steps told.
func bad(l *teller, rng *rand.Rand, sofar *int64) {
	*sofar += 1 + rng.Int64N(400)
	switch rng.IntN(13) {
	case 0:
		l.call("bash", `{"c":"make"}`, harness.OutcomeError, "no rule")
	case 1:
		l.call("bash", fmt.Sprint(*sofar), harness.OutcomeTimeout, "too late")
	case 2:
		l.call("write", `{}`, harness.OutcomeDenied, "no")
	case 3:
		l.tell(&harness.ToolCall{Name: "bash", Arguments: []byte(`{"c":"ls"}`), ToolCallID: harness.CallID(fmt.Sprint("c", *sofar))})
	case 4:
		l.tell(&harness.Usage{InputTokens: *sofar, CostUSD: new(float64(*sofar) / 1000)})
	case 5:
		l.tell(&harness.ContextWarning{Pct: min(100, 50+float64(*sofar)/100)})
	case 6:
		l.tell(&harness.TransportDiagnostic{Status: "degraded", Kind: "api_retry", FailureCount: 1})
	case 7:
		l.tell(&harness.StepProgress{StepID: "1", Total: 1, Title: "look", Status: "running"})
	case 8:
		l.tell(&harness.ToolValidationError{ToolName: "bash", Errors: []string{"cmd is missing"}})
	case 9:
		l.after(time.Duration(rng.IntN(400))*time.Second, &harness.SessionState{LastHeartbeatAt: &l.now})
	case 10:
		l.tell(&harness.SessionState{Status: harness.Recovering, AttemptCount: 1})
	case 11:
		id := harness.CallID(fmt.Sprint("s", *sofar))
		l.tell(&harness.ToolCall{Name: "fetch", Arguments: []byte(fmt.Sprint(*sofar)), ToolCallID: id},
			&harness.ToolOutcome{ToolCallID: id, Status: harness.OutcomeError, Error: "slow", ElapsedMS: 70_000})
	case 12:
		l.tell(&harness.ToolCall{Name: "bash", ToolCallID: harness.CallID(fmt.Sprint("g", *sofar))},
			&harness.ToolOutcome{ToolCallID: harness.CallID(fmt.Sprint("g", *sofar)), Status: harness.OutcomeError, Reason: "interrupted"})
	}
}

// good is some of what usually happens.
func good(l *teller, rng *rand.Rand, n int) {
	switch rng.IntN(4) {
	case 0:
		l.call("read", fmt.Sprint(n), harness.OutcomeOK, fmt.Sprint("text ", n))
	case 1:
		l.tell(&harness.Token{Text: "so"}, &harness.Response{Text: "so"})
	case 2:
		l.tell(&harness.Artifact{ArtifactID: "art_1", ArtifactType: "diff"})
	case 3:
		l.tell(&harness.Retrieval{Query: "q", Chunks: []harness.Chunk{{Source: "a.go"}}})
	}
}

// Whatever came before, a session that only has bad luck never looks better for
// it, and a failed turn at the end does not help either.
func TestTheScoreNeverImprovesWhenOnlyBadEventsAreAdded(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 9))
		l := newTeller(t, &harness.HealthPolicy{TotalTokens: new(int64(20_000)), CostUSD: new(30.0), RuntimeMinutes: new(60.0), ContextUsagePct: new(90.0)})
		l.begin()
		l.tell(&harness.StepProgress{StepID: "1", Total: 1, Title: "look", Status: "running"})
		sofar := int64(0)
		for i := range 30 {
			if rng.IntN(2) == 0 {
				good(l, rng, i)
			} else {
				bad(l, rng, &sofar)
			}
		}
		score, codes := l.fold.Score(), l.codes()
		for range 40 {
			before := len(l.log)
			bad(l, rng, &sofar)
			if now := l.fold.Score(); now > score {
				t.Fatalf("seed %d: the score rose from %d %v to %d %v with %s", seed, score, codes, now, l.codes(), l.log[before].JSON())
			}
			score, codes = l.fold.Score(), l.codes()
		}
		l.tell(&harness.Failure{Message: "boom"})
		l.end(harness.TurnError)
		if now := l.fold.Score(); now > score {
			t.Fatalf("seed %d: the score rose from %d %v to %d %v when the turn failed", seed, score, codes, now, l.codes())
		}
	}
}
