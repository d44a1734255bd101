package kernel_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"harness"
)

// branch makes a branch of r's session and returns a rig on it.
func (r *rig) branch(id harness.SessionID, seq harness.Seq) *rig {
	r.t.Helper()
	b := &rig{t: r.t, mem: r.mem, engine: r.engine, k: r.k}
	b.id = r.create(harness.NewSession{ID: id, From: &harness.Branch{Session: r.id, Seq: seq}})
	return b
}

// A branch at any place begins with the conversation up to there, idle, with
// nothing of what was under way, and goes on by itself.
func TestBranchAnywhere(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "when ask\nask bash c1 => files\nend\nwhen slow\nsay half\nhang\nend\nstream 12 20ms w", shortTail)
		for range 4 {
			r.do(keyed("go", fmt.Sprint("k", r.state().Seq)))
			r.rest()
			pass(time.Minute)
		}
		r.submit("ask")
		r.pending(1)
		r.do(keyed("slow", "k"))
		before := r.story()
		end := r.state().Seq
		for seq := harness.Seq(1); seq <= end; seq++ {
			b := r.branch(harness.SessionID(fmt.Sprint("ses_b", seq)), seq)
			checkBranch(t, r, b, seq)
		}
		if r.story() != before {
			t.Error("branching changed the source")
		}
		r.allow()
		synctest.Wait() // a source that runs can be branched as well
		b := r.branch("ses_live", 0)
		checkBranch(t, r, b, b.state().From.Seq)
		deep := b.branch("ses_deep", 0)
		checkBranch(t, b, deep, deep.state().From.Seq)
		early := deep.branch("ses_early", 5) // of a branch, at its ancestor's part
		checkBranch(t, deep, early, 5)
		deep.do(keyed("go", "k")) // the key is not inherited
		st := deep.rest()
		if last := st.Messages[len(st.Messages)-1]; last.Content.Len() != 12 {
			t.Errorf("the branch answered %q", last.Content)
		}
		r.do(harness.Cancel{})
	})
}

// checkBranch compares a new branch with the source's state at seq.
func checkBranch(t *testing.T, r, b *rig, seq harness.Seq) {
	t.Helper()
	src, err := r.k.At(t.Context(), r.id, seq)
	if err != nil {
		t.Fatal(err)
	}
	st := b.state()
	if st.Status != harness.Idle || st.Turn != nil || len(st.Queue)+len(st.Pending)+len(st.Keys)+len(st.Decided) != 0 {
		t.Errorf("branch at %d: status %s, turn %v, queue %v, pending %v, keys %v", seq, st.Status, st.Turn, st.Queue, st.Pending, st.Keys)
	}
	if st.Seq != seq+2 || st.From == nil || st.From.Seq != seq || st.From.Session != r.id || st.Session != b.id {
		t.Errorf("branch at %d: seq %d from %+v", seq, st.Seq, st.From)
	}
	if row := st.Summary(); row.Parent != r.id || row.Branched != harness.EventID(r.id, seq) || row.Cursor != fmt.Sprintf("event:%s:%d", r.id, seq) {
		t.Errorf("branch at %d: its row is %+v", seq, row)
	}
	want, got := r.messages(src), b.messages(st)
	if len(got) != len(want) {
		t.Fatalf("branch at %d has %d messages, want %d", seq, len(got), len(want))
	}
	for i, m := range want {
		if i < src.Sealed+src.Sealable() && got[i] != m {
			t.Errorf("branch at %d: message %d is %s, want %s", seq, i, got[i], m)
		}
	}
	for _, m := range st.Messages {
		if m.Status != harness.MessageComplete && m.Status != harness.MessageError {
			t.Errorf("branch at %d: message %s is %s", seq, m.ID, m.Status)
		}
	}
	n := harness.Seq(0)
	for _, e := range b.log() {
		if n++; e.Seq != n {
			t.Fatalf("branch at %d: event %d at place %d", seq, e.Seq, n)
		}
	}
	if n != seq+2 {
		t.Errorf("branch at %d reads %d events", seq, n)
	}
}

func TestBranchFromNowhere(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "", nil)
		other := r.create(harness.NewSession{ID: "ses_other"})
		branch := r.create(harness.NewSession{ID: "ses_branch", From: &harness.Branch{Session: r.id, Seq: 1}})
		for _, c := range []struct {
			from harness.Branch
			want *harness.Error
		}{
			{harness.Branch{Session: "ses_none", Seq: 1}, harness.ErrNotFound},
			{harness.Branch{Session: "ses_none", Cursor: "turn:ses_none:1"}, harness.ErrNotFound},
			{harness.Branch{Session: r.id, Seq: 2}, harness.ErrInvalid},
			{harness.Branch{Session: r.id, Cursor: "turn:ses_1:2"}, harness.ErrInvalid},
			{harness.Branch{Session: r.id, Seq: 1, Cursor: "turn:ses_1:2"}, harness.ErrInvalid},
			{harness.Branch{Session: r.id, Cursor: "turn:ses_1"}, harness.ErrInvalid},
			{harness.Branch{Session: r.id, Cursor: "turn:ses_other:1"}, harness.ErrInvalid},
			{harness.Branch{Session: r.id, Cursor: "turn:ses_branch:1"}, harness.ErrInvalid}, // a child is no ancestor
			{harness.Branch{Session: other, Cursor: "event:ses_1:1"}, harness.ErrInvalid},
			{harness.Branch{Session: branch, Cursor: "event:ses_1:2"}, harness.ErrInvalid}, // behind what they share
		} {
			if id, err := r.k.Create(t.Context(), harness.NewSession{From: &c.from}); !errors.Is(err, c.want) {
				t.Errorf("branch from %+v: %s, %v", c.from, id, err)
			}
		}
		for i, from := range []harness.Branch{
			{Session: branch, Cursor: "event:ses_1:1"}, {Session: branch, Cursor: "event:ses_branch:1"}, {Session: branch, Cursor: "checkpoint:ses_branch:3"},
		} {
			b := r.create(harness.NewSession{ID: harness.SessionID(fmt.Sprint("ses_named_", i)), From: &from})
			if st, err := r.k.At(t.Context(), b, 0); err != nil || st.From.Cursor != from.Cursor || st.From.Session != branch {
				t.Errorf("branch from %+v: %+v, %v", from, st.From, err)
			}
		}
		for _, n := range []harness.NewSession{{ID: r.id}, {ID: r.id, From: &harness.Branch{Session: r.id}}, {ID: other, From: &harness.Branch{Session: r.id}}} {
			if _, err := r.k.Create(t.Context(), n); !errors.Is(err, harness.ErrExists) {
				t.Errorf("create again: %v", err)
			}
		}
		if _, err := r.k.Create(t.Context(), harness.NewSession{ID: "../x"}); !errors.Is(err, harness.ErrInvalid) {
			t.Errorf("create with a bad id: %v", err)
		}
	})
}

// A branch's first commit says what was said last, where, and where from, in
// few bytes however much was said.
func TestABranchIsSeeded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "when ask\n  ask bash => files\nelse\n  echo\nend", shortTail)
		seeded := func(from harness.Branch) (*harness.SessionCheckpoint, string) {
			t.Helper()
			from.Session = r.id
			b := &rig{t: t, mem: r.mem, engine: r.engine, k: r.k}
			b.id = r.create(harness.NewSession{From: &from})
			log := b.log()
			first := log[len(log)-2].Payload.(*harness.SessionState)
			seed := log[len(log)-1].Payload.(*harness.SessionCheckpoint)
			if first.SessionID != b.id || first.ParentSessionID != r.id || first.BranchSourceEventID != harness.EventID(r.id, log[len(log)-3].Seq) {
				t.Errorf("the branch begins with %+v", first)
			}
			if seed.SessionID != b.id || seed.CheckpointType != "resume_seed" || *seed.ResumeCursor != first.BranchResumeCursor || seed.Sequence != len(log) {
				t.Errorf("the seed is %+v", seed)
			}
			if n := len(log[len(log)-1].JSON()) + len(log[len(log)-2].JSON()); n > 2048 {
				t.Errorf("a branch begins with %d bytes", n)
			}
			if c := b.state().Trail().Checkpoints; len(c) == 0 || c[len(c)-1].Payload.SummaryText != seed.SummaryText {
				t.Errorf("the state has other checkpoints: %+v", c)
			}
			return seed, *seed.ResumeCursor
		}
		says := func(seed *harness.SessionCheckpoint, want string) {
			t.Helper()
			if seed.SummaryText != want {
				t.Errorf("the seed says\n%s\nwant\n%s", seed.SummaryText, want)
			}
		}
		seed, cursor := seeded(harness.Branch{})
		says(seed, "Branched at event ses_1.1, before the first turn.")
		if cursor != "event:ses_1:1" {
			t.Errorf("the cursor is %s", cursor)
		}
		r.submit("one")
		end := r.rest().Seq
		pass(time.Minute) // what was said is sealed
		seed, cursor = seeded(harness.Branch{Cursor: fmt.Sprintf("turn:ses_1:%d", end)})
		says(seed, fmt.Sprintf("Branched at event ses_1.%d, after turn 1. Last asked: “one” Last answered: “one”", end))
		if cursor != fmt.Sprintf("turn:ses_1:%d", end) {
			t.Errorf("the cursor is %s", cursor)
		}
		r.submit("ask\n\tme")
		st := r.pending(1)
		seed, _ = seeded(harness.Branch{})
		says(seed, fmt.Sprintf("Branched at event ses_1.%d, in turn 2. Last asked: “ask me” Last answered: “one”", st.Seq))
		if r.state().Status != harness.AwaitingApproval {
			t.Error("the source no longer waits")
		}
		r.allow()
		r.rest()
		r.submit(strings.Repeat("é ", 1000))
		r.rest()
		if seed, _ = seeded(harness.Branch{}); len(seed.SummaryText) > harness.MaxSummary || strings.Count(seed.SummaryText, "…") != 2 {
			t.Errorf("the seed says %s", seed.SummaryText)
		}
	})
}

// What is under way in a source goes on there, and only there: its open turn,
// its question, its queue.
func TestABranchOfARunningSessionLeavesItAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "say before\nask bash c1 => files\nsay after", nil)
		r.submit("one")
		asked := r.pending(1).Pending[0]
		r.submit("two") // waits
		before := r.story()
		b := r.branch("ses_b", 0)
		st := b.state()
		if st.Status != harness.Idle || st.Turn != nil || len(st.Pending)+len(st.Queue) != 0 || b.conversation(st) != "user:one(complete) assistant:before(complete) user:two(complete)" {
			t.Errorf("the branch is %s with %s", st.Status, b.conversation(st))
		}
		b.refused(harness.ErrNoApproval, harness.Answer{Approval: asked.ID, Decision: harness.Decision{Verdict: harness.Allow}})
		b.refused(harness.ErrNotRunning, harness.Cancel{})
		if r.story() != before {
			t.Error("branching changed the source")
		}
		b.submit("three") // asks for itself, while the source waits
		theirs := b.pending(1).Pending[0]
		if theirs.ID == asked.ID {
			t.Errorf("two questions are both %s", asked.ID)
		}
		b.do(harness.Answer{Approval: theirs.ID, Decision: harness.Decision{Verdict: harness.Deny}})
		b.rest()
		if st := r.state(); len(st.Pending) != 1 || st.Pending[0].ID != asked.ID || len(st.Queue) != 1 {
			t.Errorf("the source has pending %v and queue %v", st.Pending, st.Queue)
		}
		r.allow()
		r.pending(1) // of the second turn
		r.allow()
		if st := r.rest(); st.Turns != 2 || st.Status != harness.Idle {
			t.Errorf("the source is %s after %d turns", st.Status, st.Turns)
		}
	})
}
