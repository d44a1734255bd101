package kernel_test

import (
	"errors"
	"fmt"
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
	if st.Seq != seq+1 || st.From == nil || st.From.Seq != seq || st.From.Session != r.id || st.Session != b.id {
		t.Errorf("branch at %d: seq %d from %+v", seq, st.Seq, st.From)
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
	if n != seq+1 {
		t.Errorf("branch at %d reads %d events", seq, n)
	}
}

func TestBranchFromNowhere(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "", nil)
		for _, from := range []harness.Branch{{Session: "ses_none", Seq: 1}, {Session: r.id, Seq: 2}} {
			if _, err := r.k.Create(t.Context(), harness.NewSession{From: &from}); !errors.Is(err, harness.ErrNotFound) {
				t.Errorf("branch from %+v: %v", from, err)
			}
		}
		if _, err := r.k.Create(t.Context(), harness.NewSession{ID: r.id}); !errors.Is(err, harness.ErrExists) {
			t.Errorf("create again: %v", err)
		}
		if _, err := r.k.Create(t.Context(), harness.NewSession{ID: "../x"}); !errors.Is(err, harness.ErrInvalid) {
			t.Errorf("create with a bad id: %v", err)
		}
	})
}
