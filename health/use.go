package health

import (
	"math"
	"slices"
	"time"

	"harness"
)

// spent is tokens: those of turns before, and of this one. An engine tells what
// a turn used so far; if that falls, it has begun to count anew.
type spent struct {
	Before int64 `json:"before,omitempty"`
	Turn   int64 `json:"turn,omitempty"`
}

func (s *spent) settle() { *s = spent{Before: s.total()} }

func (s *spent) total() int64 { return s.Before + s.Turn }

func (s *spent) tell(n int64) {
	if n < s.Turn {
		s.settle()
	}
	s.Turn = max(0, n)
}

// paid is dollars, likewise.
type paid struct {
	Before float64 `json:"before,omitempty"`
	Turn   float64 `json:"turn,omitempty"`
}

func (p *paid) settle() { *p = paid{Before: p.total()} }

func (p *paid) total() float64 { return p.Before + p.Turn }

func (p *paid) tell(n float64) {
	if n < p.Turn {
		p.settle()
	}
	p.Turn = max(0, n)
}

// maxDays is how many days with spending are remembered.
const maxDays = 7

// days is what the latest days cost, without the sessions below: those have rows
// of their own.
type days []harness.Day

func (d *days) spend(now time.Time, usd float64) {
	if usd <= 0 {
		return
	}
	date := now.UTC().Format(time.DateOnly)
	if n := len(*d); n > 0 && (*d)[n-1].Date >= date { // a clock may be set back
		(*d)[n-1].CostUSD = round((*d)[n-1].CostUSD+usd, 6)
		return
	}
	*d = append(*d, harness.Day{Date: date, CostUSD: round(usd, 6)})
	*d = slices.Delete(*d, 0, max(0, len(*d)-maxDays))
}

func (f *Fold) seeUsage(p *harness.Usage) flags {
	f.Measured, f.Blind = true, false
	f.Tokens.tell(p.InputTokens + p.OutputTokens)
	if p.CostUSD != nil {
		before := f.Cost.total()
		f.Cost.tell(*p.CostUSD)
		f.Days.spend(f.Now, f.Cost.total()-before)
	} else {
		f.Unpriced = true
	}
	if p.ContextPct != nil {
		f.Context, f.HasPct = *p.ContextPct, true
	}
	f.Evidence.claim()
	return set(budgetTokens) | set(budgetCost) | set(contextPressure) | set(noEvidence)
}

// tree is the work of the sessions below: of each its last tally, and of those
// that are forgotten their sum. It is exact while no more than maxBelow of them
// run at a time and none that was forgotten works again. One that does counts
// beside what it came to before: budgets err on the side of more, never of less.
type tree struct {
	Sum   harness.Tally `json:"sum,omitzero"`
	Each  []below       `json:"each,omitempty"` // the one that told last comes last
	Seen  int64         `json:"seen,omitempty"`
	Total harness.Tally `json:"total,omitzero"` // of all
}

type below struct {
	ID    string        `json:"id"`
	Tally harness.Tally `json:"tally"`
	Ended bool          `json:"ended,omitempty"`
}

// maxBelow keeps a fold of many children under the 64 kB that are stored of it.
const maxBelow = 256

func (t *tree) tell(id, status string, now harness.Tally) {
	if i := slices.IndexFunc(t.Each, func(b below) bool { return b.ID == id }); i >= 0 {
		t.Each = slices.Delete(t.Each, i, i+1)
	} else {
		t.Seen++
	}
	if len(t.Each) == maxBelow {
		t.forget()
	}
	t.Each = append(t.Each, below{id, now, status != harness.SubagentRunning})
	t.Total = t.Sum
	for i := range t.Each {
		t.Total = add(t.Total, t.Each[i].Tally)
	}
}

// forget sums up one that has ended, or else the one that is silent for longest.
// What was of the moment goes with it.
func (t *tree) forget() {
	i := max(0, slices.IndexFunc(t.Each, func(b below) bool { return b.Ended }))
	gone := t.Each[i].Tally
	gone.ContextUsagePct, gone.ScoreLost = 0, 0
	t.Sum = add(t.Sum, gone)
	t.Each = slices.Delete(t.Each, i, i+1)
}

func add(a, b harness.Tally) harness.Tally {
	return harness.Tally{
		TotalTokens: a.TotalTokens + b.TotalTokens, CostUSD: a.CostUSD + b.CostUSD, Unpriced: a.Unpriced || b.Unpriced,
		FailedToolCalls: a.FailedToolCalls + b.FailedToolCalls, LoopWarnings: a.LoopWarnings + b.LoopWarnings,
		RepeatedPlanEvents: a.RepeatedPlanEvents + b.RepeatedPlanEvents, ToolLatencyMS: max(a.ToolLatencyMS, b.ToolLatencyMS),
		EventsWithoutEvidence: max(a.EventsWithoutEvidence, b.EventsWithoutEvidence),
		ContextUsagePct:       max(a.ContextUsagePct, b.ContextUsagePct), ScoreLost: max(a.ScoreLost, b.ScoreLost),
	}
}

// Tally is what the session and those below it came to so far. The latency, the
// window and what went without evidence are the worst of them, all else adds up;
// the score is of those below, for it depends on the rest.
func (f *Fold) Tally() harness.Tally {
	return add(f.Tree.Total, harness.Tally{
		TotalTokens: f.Tokens.total(), CostUSD: f.Cost.total(), Unpriced: f.Unpriced, FailedToolCalls: f.Tools.Failed,
		LoopWarnings: f.Loop.Warnings, RepeatedPlanEvents: f.Plan.Repeats, ToolLatencyMS: f.latency(), EventsWithoutEvidence: f.Evidence.Without,
		ContextUsagePct: f.Context,
	})
}

// Told is the tally for whoever handed the work on, with the score. When nothing
// runs any more, its window and its score hold nobody up.
func (f *Fold) Told(running bool) harness.Tally {
	t := f.Tally()
	t.ScoreLost = max(t.ScoreLost, int64(100-f.Score()))
	if !running {
		t.ContextUsagePct, t.ScoreLost = 0, 0
	}
	return t
}

func (f *Fold) seeSubagent(p *harness.SubagentEvent) flags {
	if p.Tally == nil {
		f.progress()
		return 0
	}
	if p.AgentID != "" && len(p.AgentID) <= harness.MaxID {
		f.Tree.tell(p.AgentID, p.Status, *p.Tally)
	}
	return set(budgetTokens) | set(budgetCost) | set(contextPressure)
}

// round keeps figures that people read, and compares, short.
func round(x float64, digits int) float64 {
	p := math.Pow10(digits)
	return math.Round(x*p) / p
}
