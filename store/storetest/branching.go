package storetest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"harness"
)

// branchesReadThrough builds a tree whose branches start at the first event, at
// the last, inside a commit, and inside the part that a branch itself inherited.
func branchesReadThrough(t testing.TB, s Suite) {
	st := s.Open(t)
	a1, a2 := commit("a", 0, 4), commit("a", 4, 6)
	mustAppend(t, st, a1, a2)
	a := events(a1, a2)
	histories := map[harness.SessionID][]harness.Event{"a": a}
	fork := func(id, parent harness.SessionID, seq harness.Seq, n int) {
		t.Helper()
		c := branch(id, parent, seq, n)
		mustAppend(t, st, c)
		histories[id] = append(histories[parent][:seq:seq], c.Events...)
	}
	fork("first", "a", 1, 3)
	fork("middle", "a", 6, 3)
	fork("last", "a", 10, 1)
	fork("of-branch", "middle", 8, 4)
	fork("of-branch-at-its-start", "middle", 6, 1)
	fork("of-inherited", "middle", 3, 2)
	fork("deep", "of-branch", 12, 2)
	fork("deep-inherited", "of-branch", 7, 2)
	fork("deep-ancestral", "deep", 2, 1)
	next := commit("middle", 9, 2)
	mustAppend(t, st, next)
	histories["middle"] = append(histories["middle"], next.Events...)
	for id, want := range histories {
		for after := 0; after <= len(want); after++ {
			mustHave(t, st, id, harness.Seq(after), want[after:])
		}
		head := harness.Seq(len(want))
		mustBe(t, st.Append(t.Context(), commit(id, head-1, 1)), harness.ErrConflict, fmt.Sprintf("append inside the history of %s", id))
	}
	mustBe(t, st.Append(t.Context(), branch("first", "a", 1, 1)), harness.ErrConflict, "a branch that is already there")
	rows, err := collect(st.List(t.Context(), harness.Filter{Parent: "middle"}))
	if err != nil || len(rows) != 3 {
		t.Fatalf("branches of middle: got %v, %v", rows, err)
	}
	for _, r := range rows {
		if seq := r.Seq; r.Session == "of-branch" && (seq != 12 || r.Branched != "middle.8" || r.Cursor != "turn:middle:8") {
			t.Fatalf("the row of a branch is %+v", r)
		}
	}
}

// chainsReadAsIfCopied makes a chain of branches at random places, longer than
// anybody's, and a flat copy of each history: whatever is read of the one is
// what the other has.
func chainsReadAsIfCopied(t testing.TB, s Suite) {
	rng := rand.New(rand.NewPCG(1, 20))
	st := s.Open(t)
	c := commit("chain-0", 0, 30)
	mustAppend(t, st, c)
	flat := [][]harness.Event{c.Events}
	for i := 1; i <= 20; i++ {
		of := i - 1
		if rng.IntN(4) == 0 {
			of = rng.IntN(i) // or of an older one
		}
		at := 1 + rng.IntN(len(flat[of]))
		c := branch(link(i), link(of), harness.Seq(at), 1+rng.IntN(12))
		mustAppend(t, st, c)
		flat = append(flat, append(flat[of][:at:at], c.Events...))
		for range 3 { // the others go on
			j := rng.IntN(i + 1)
			c := commit(link(j), harness.Seq(len(flat[j])), 1+rng.IntN(4))
			mustAppend(t, st, c)
			flat[j] = append(flat[j][:len(flat[j]):len(flat[j])], c.Events...)
		}
	}
	for i, want := range flat {
		mustHave(t, st, link(i), 0, want)
		for range 10 {
			after := rng.IntN(len(want) + 1)
			mustHave(t, st, link(i), harness.Seq(after), want[after:])
		}
	}
}

func link(i int) harness.SessionID { return harness.SessionID(fmt.Sprintf("chain-%d", i)) }

func aBranchNeverSeesItsParentsFuture(t testing.TB, s Suite) {
	st := s.Open(t)
	a := commit("a", 0, 4)
	b := branch("b", "a", 4, 1)
	mustAppend(t, st, a, b)
	want := events(a, b)
	for i := range 3 {
		mustAppend(t, st, commit("a", harness.Seq(4+i), 1))
		mustHave(t, st, "b", 0, want)
		next := commit("b", harness.Seq(5+i), 1)
		mustAppend(t, st, next)
		want = append(want, next.Events...)
	}
	mustHave(t, st, "b", 0, want)
	mustHave(t, st, "a", 0, commit("a", 0, 7).Events)
}
