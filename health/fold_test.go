package health_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"harness"
	"harness/health"
)

// random tells of a session in which everything happens.
func random(t testing.TB, seed uint64, n int) *teller {
	rng := rand.New(rand.NewPCG(seed, 3))
	l := newTeller(t, &harness.HealthPolicy{TotalTokens: new(int64(9000)), MinScore: new(int64(40)), LoopWarnings: new(int64(3))})
	sofar := int64(0)
	for len(l.log) < n {
		l.begin()
		for i := range rng.IntN(20) {
			switch rng.IntN(5) {
			case 0, 1:
				good(l, rng, i)
			case 2, 3:
				bad(l, rng, &sofar)
			case 4:
				id := harness.ApprovalID(fmt.Sprint("apr_", len(l.log)))
				l.tell(&harness.ApprovalRequired{RequestID: id, ToolName: harness.HealthTool, ToolCallID: "policy:x", Input: []byte(`{"budget":"loop_warnings","threshold":3,"observed":3}`)},
					&harness.ApprovalApplied{RequestID: id, ToolName: harness.HealthTool, Decision: harness.Allow, Source: harness.ByUser})
			}
		}
		l.tell(&harness.SubagentEvent{AgentID: fmt.Sprint("ses_", rng.IntN(200)), Status: "running", Tally: &harness.Tally{TotalTokens: rng.Int64N(50), CostUSD: 0.01}})
		l.end([]string{harness.TurnCompleted, harness.TurnCancelled, harness.TurnError}[rng.IntN(3)])
	}
	return l
}

// The same log gives the same snapshot, byte for byte: from its beginning, from
// any stored fold on the way, and from events that were stored and read.
func TestTheSameLogAlwaysGivesTheSameSnapshot(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		l := random(t, seed, 200)
		want := string(l.fold.Snapshot().JSON())
		for cut := 0; cut < len(l.log); cut += 13 {
			f := health.New(nil)
			for i, e := range l.log {
				if i == cut {
					var err error
					if f, err = health.Decode(f.AppendJSON(nil)); err != nil {
						t.Fatal(err)
					}
				}
				read, err := harness.DecodeEvent(bytes.Clone(e.JSON()))
				if err != nil {
					t.Fatal(err)
				}
				f.Apply(read)
			}
			if got := string(f.Snapshot().JSON()); got != want {
				t.Fatalf("seed %d, stored at %d:\n%s\nwant\n%s", seed, cut, got, want)
			}
		}
	}
}

// Text that streams may come in any pieces under one position.
func TestPiecesOfTextAreOneEvent(t *testing.T) {
	t.Parallel()
	whole, pieces := newTeller(t, nil), newTeller(t, nil)
	for _, l := range []*teller{whole, pieces} {
		l.begin()
		l.tell(&harness.Token{Text: "one two"})
	}
	pieces.fold.Apply(pieces.log[len(pieces.log)-1])
	if a, b := whole.fold.AppendJSON(nil), pieces.fold.AppendJSON(nil); !bytes.Equal(a, b) {
		t.Errorf("pieces:\n%s\nwhole:\n%s", b, a)
	}
}

// What is remembered is bounded, however long the log is and whatever is in it.
func TestAFoldIsBounded(t *testing.T) {
	t.Parallel()
	l := random(t, 1, 4_000)
	for i := range 200 {
		l.tell(&harness.ToolCall{Name: "bash", ToolCallID: harness.CallID(fmt.Sprint("open", i))}, &harness.PolicyDecision{Subject: string(make([]byte, 5000)), Outcome: "allow"},
			&harness.ApprovalRequired{RequestID: harness.ApprovalID(fmt.Sprint("apr_", i)), ToolName: "bash"},
			&harness.StepProgress{StepID: fmt.Sprint(i), Index: i, Title: string(make([]byte, 5000)), Status: "running"})
	}
	if n := len(l.fold.AppendJSON(nil)); n > 64<<10 {
		t.Errorf("the fold of %d events has %d bytes", len(l.log), n)
	}
	if n := len(l.fold.Snapshot().JSON()); n > 32<<10 {
		t.Errorf("its snapshot has %d bytes", n)
	}
}

func TestACloneIsApart(t *testing.T) {
	t.Parallel()
	l := random(t, 2, 300)
	before := string(l.fold.AppendJSON(nil))
	c := l.fold.Clone()
	for _, e := range random(t, 3, 300).log {
		c.Apply(e)
	}
	if after := string(l.fold.AppendJSON(nil)); after != before {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}
}

// A fold is found with a state at its own place only, in memory and stored.
func TestAFoldIsKeptWithItsState(t *testing.T) {
	t.Parallel()
	l := random(t, 4, 60)
	st := new(harness.State)
	for _, e := range l.log {
		st.Apply(e)
	}
	if health.Kept(st) {
		t.Error("a state has a fold that nobody gave it")
	}
	st.SetAside(l.fold.Clone())
	plain := string(st.JSON())
	stored, err := harness.DecodeState(harness.EncodeState(st))
	if err != nil {
		t.Fatal(err)
	}
	for name, st := range map[string]*harness.State{"in memory": st, "stored": stored, "stored twice": again(t, stored)} {
		f, ok := health.Of(st)
		if !ok || !bytes.Equal(f.Snapshot().JSON(), l.fold.Snapshot().JSON()) {
			t.Errorf("%s: it is not there, or another", name)
		}
		if string(st.JSON()) != plain {
			t.Errorf("%s: the state shows it", name)
		}
	}
	stored.Apply(harness.NewEvent("ses_h", st.Seq+1, time.Now(), "", &harness.Token{Text: "x"}))
	if health.Kept(stored) {
		t.Error("a state that went on still has it")
	}
}

func again(t *testing.T, st *harness.State) *harness.State {
	t.Helper()
	st, err := harness.DecodeState(harness.EncodeState(st))
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func TestAFoldOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	form := bytes.Replace(health.New(nil).AppendJSON(nil), []byte(fmt.Sprintf(`{"v":%d,`, health.Version)), []byte(`{"v":999,`), 1)
	if _, err := health.Decode(form); !errors.Is(err, harness.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	if _, err := health.Decode(fmt.Appendf(nil, `{"v":%d,"flags":[{"l":9}]}`, health.Version)); !errors.Is(err, harness.ErrCorrupt) {
		t.Errorf("got %v", err)
	}
}

// A branch answers for itself: it has the policy, and nothing of what its parent
// used.
func TestABranchBeginsAnew(t *testing.T) {
	t.Parallel()
	l := newTeller(t, &harness.HealthPolicy{TotalTokens: new(int64(100))})
	l.begin()
	l.tell(&harness.Usage{InputTokens: 500})
	l.end(harness.TurnCompleted)
	if _, over := l.fold.Exceeded(); !over {
		t.Fatal("the parent is not over its limit")
	}
	l.tell(&harness.SessionState{SessionID: "ses_b", Status: harness.Idle, ParentSessionID: "ses_h", BranchSourceEventID: "ses_h.5"})
	s := l.fold.Snapshot()
	if _, over := l.fold.Exceeded(); over || s.Budget.TotalTokens.Used != 0 || s.Policy.Health.TotalTokens == nil {
		t.Errorf("the branch is %s", s.JSON())
	}
}

// Tokens are told as what a turn used so far; they add up over turns, and over
// an engine that begins to count anew.
func TestTokensAddUp(t *testing.T) {
	t.Parallel()
	l := newTeller(t, nil)
	l.begin()
	l.tell(&harness.Usage{InputTokens: 100}, &harness.Usage{InputTokens: 250, OutputTokens: 50}, &harness.Usage{InputTokens: 40})
	l.end(harness.TurnCompleted)
	l.begin()
	l.tell(&harness.Usage{InputTokens: 1000})
	l.tell(&harness.SubagentEvent{AgentID: "ses_c", Status: "running", Tally: &harness.Tally{TotalTokens: 5}}, &harness.SubagentEvent{AgentID: "ses_c", Status: "running", Tally: &harness.Tally{TotalTokens: 7}})
	if got := l.fold.Snapshot().Budget.TotalTokens.Used; got != 300+40+1000+7 {
		t.Errorf("%v tokens", got)
	}
}

// What a session cost is told by the day it was spent on, the latest few; a
// branch has spent nothing yet.
func TestSpendingIsToldByDay(t *testing.T) {
	t.Parallel()
	l := newTeller(t, nil)
	for i := range 9 {
		l.begin()
		l.after(24*time.Hour, &harness.Usage{InputTokens: 1, CostUSD: new(0.5)})
		l.tell(&harness.Usage{InputTokens: 2, CostUSD: new(0.75 + float64(i))}, &harness.Usage{InputTokens: 3})
		l.end(harness.TurnCompleted)
	}
	var row harness.Summary
	l.fold.Rate(&row)
	if len(row.Spent) != 7 || row.Spent[6] != (harness.Day{Date: "2023-11-23", CostUSD: 8.75}) || row.Spent[0].CostUSD != 2.75 || row.CostUSD != 9*0.75+36 {
		t.Errorf("spent %v of %v", row.Spent, row.CostUSD)
	}
	l.tell(&harness.SessionState{SessionID: "ses_b", Status: harness.Idle, ParentSessionID: "ses_h", BranchSourceEventID: "ses_h.5"})
	if l.fold.Rate(&row); row.Spent != nil || row.CostUSD != 0 {
		t.Errorf("the branch has spent %v of %v", row.Spent, row.CostUSD)
	}
}
