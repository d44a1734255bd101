package health_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"harness"
)

// below tells the works of many children in any order and keeps what is true.
type below struct {
	*teller
	rng   *rand.Rand
	truth map[string]harness.Tally
}

func newBelow(t testing.TB, seed uint64) *below {
	b := &below{newTeller(t, nil), rand.New(rand.NewPCG(seed, 1)), map[string]harness.Tally{}}
	b.begin()
	return b
}

// work lets a child come to a little more; what has ended has no window and no
// score any more.
func (b *below) work(id, status string) {
	now := b.truth[id]
	now.TotalTokens += b.rng.Int64N(1000)
	now.FailedToolCalls += b.rng.Int64N(2)
	now.LoopWarnings += b.rng.Int64N(2)
	now.RepeatedPlanEvents += b.rng.Int64N(2)
	now.ContextUsagePct, now.ScoreLost = float64(b.rng.IntN(90)), b.rng.Int64N(90)
	if status != harness.SubagentRunning {
		now.ContextUsagePct, now.ScoreLost = 0, 0
	}
	b.truth[id] = now
	b.tell(&harness.SubagentEvent{AgentID: id, Status: status, Tally: &now})
}

func (b *below) true() (sum harness.Tally) {
	for _, t := range b.truth {
		sum.TotalTokens += t.TotalTokens
		sum.FailedToolCalls += t.FailedToolCalls
		sum.LoopWarnings += t.LoopWarnings
		sum.RepeatedPlanEvents += t.RepeatedPlanEvents
		sum.ContextUsagePct, sum.ScoreLost = max(sum.ContextUsagePct, t.ContextUsagePct), max(sum.ScoreLost, t.ScoreLost)
	}
	return sum
}

func (b *below) exact(when string) {
	b.t.Helper()
	if got, want := b.fold.Tally(), b.true(); got != want {
		b.t.Fatalf("%s: got %+v, want %+v", when, got, want)
	}
}

// However 200 children that work at a time take turns, and come back after their
// end, the sum is what they came to.
func TestTheSumOverChildrenIsTrueInAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		b := newBelow(t, seed)
		for i := range 1500 {
			status := []string{harness.SubagentRunning, harness.SubagentRunning, harness.SubagentCompleted, harness.SubagentFailed}[b.rng.IntN(4)]
			b.work(fmt.Sprint("ses_", b.rng.IntN(200)), status)
			b.exact(fmt.Sprint("seed ", seed, ", word ", i))
		}
		if n := b.fold.Snapshot().Counters.Subagents; n != int64(len(b.truth)) {
			t.Errorf("%d children are counted, there were %d", n, len(b.truth))
		}
	}
}

// A thousand children of which some hundred run at a time: those that ended are
// forgotten before any that runs, so the sum stays true, and neither the score
// nor the window of one that has ended holds anybody up.
func TestEndedChildrenAreForgottenFirst(t *testing.T) {
	t.Parallel()
	b := newBelow(t, 7)
	var running []string
	for i := range 1000 {
		running = append(running, fmt.Sprint("ses_", i))
		b.work(running[len(running)-1], harness.SubagentRunning)
		b.work(running[b.rng.IntN(len(running))], harness.SubagentRunning)
		if len(running) > 100 {
			at := b.rng.IntN(len(running))
			b.work(running[at], harness.SubagentCompleted)
			running = append(running[:at], running[at+1:]...)
		}
		b.exact(fmt.Sprint("child ", i))
	}
	for _, id := range running {
		b.work(id, harness.SubagentCancelled)
	}
	b.exact("at the end")
	if got := b.fold.Tally(); got.ScoreLost != 0 || got.ContextUsagePct != 0 {
		t.Errorf("all have ended, and the tally is %+v", got)
	}
}

// Beyond what is remembered, budgets err on the side of more, and the fold stays
// bounded.
func TestBudgetsNeverCountLessThanChildrenUsed(t *testing.T) {
	t.Parallel()
	b := newBelow(t, 3)
	for i := range 3000 {
		b.work(fmt.Sprint("ses_", b.rng.IntN(600)), []string{harness.SubagentRunning, harness.SubagentCompleted}[b.rng.IntN(2)])
		got, want := b.fold.Tally(), b.true()
		if got.TotalTokens < want.TotalTokens || got.FailedToolCalls < want.FailedToolCalls || got.LoopWarnings < want.LoopWarnings || got.RepeatedPlanEvents < want.RepeatedPlanEvents {
			t.Fatalf("word %d: got %+v, true is %+v", i, got, want)
		}
	}
	if n := len(b.fold.AppendJSON(nil)); n > 64<<10 {
		t.Errorf("the fold takes %d bytes", n)
	}
}
