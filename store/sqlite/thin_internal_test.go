package sqlite

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"harness"
)

// TestThinnedHeadsStayFewAndNear saves at random distances. For every position
// the head that is left is the one that was there, or at most a seventh of the
// way to the newest before the position; and few are left.
func TestThinnedHeadsStayFewAndNear(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var all, have []harness.Seq // all oldest first, have newest first
		last := harness.Seq(0)
		for range 5000 {
			last += 1 + harness.Seq(rnd.IntN(1+rnd.IntN(200)))
			all = append(all, last)
			have = slices.Insert(have, 0, last)
			gone := needless(have[:min(len(have), thinLimit)])
			have = slices.DeleteFunc(have, func(s harness.Seq) bool { return slices.Contains(gone, s) })
		}
		if !slices.Equal(have[:thinKeep], lastOf(all, thinKeep)) {
			t.Errorf("seed %d: the newest are %d", seed, have[:thinKeep])
		}
		if len(have) > 160 {
			t.Errorf("seed %d: %d of %d are left", seed, len(have), len(all))
		}
		for at := all[0]; at <= last; at++ {
			is := have[slices.IndexFunc(have, func(s harness.Seq) bool { return s <= at })]
			i, exact := slices.BinarySearch(all, at)
			if !exact {
				i--
			}
			if is != all[i] && (at-is)*(thinPart-1) > last-at {
				t.Fatalf("seed %d: at %d of %d the head is %d, it was %d", seed, at, last, is, all[i])
			}
		}
	}
}

// lastOf is the last n of s, newest first.
func lastOf(s []harness.Seq, n int) []harness.Seq {
	s = slices.Clone(s[len(s)-n:])
	slices.Reverse(s)
	return s
}

// TestThinningCatchesUp: a database that was never thinned is done within a few
// saves, and no message goes with a head.
func TestThinningCatchesUp(t *testing.T) {
	t.Parallel()
	s := openForTest(t)
	const n = 3 * thinLimit
	for after := range harness.Seq(n) {
		if err := s.Append(t.Context(), at("a", after, "x")); err != nil {
			t.Fatal(err)
		}
	}
	fill := &task{apply: func(w *writer) error { // as a build before thinning left it
		k, err := w.session("a")
		for seq := int64(1); seq < n-8 && err == nil; seq++ {
			state := fmt.Appendf(nil, "state %d", seq)
			_, err = w.exec("INSERT INTO snapshots(session, seq, crc, state) VALUES(?, ?, ?, ?)", k.n, seq, checksum(state), state)
		}
		return err
	}}
	if err := s.queue.do(t.Context(), fill, true); err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		seq := harness.Seq(n - 8 + i)
		snap := harness.Snapshot{Session: "a", Seq: seq, State: fmt.Appendf(nil, "state %d", seq), First: i, Sealed: [][]byte{fmt.Appendf(nil, "message %d", i)}}
		if err := s.SaveSnapshot(t.Context(), snap); err != nil {
			t.Fatal(err)
		}
	}
	if left := rowsLeft(t, s); left > n+8+100 { // commits, messages, heads
		t.Errorf("%d rows are left", left)
	}
	const newest = n - 1
	for at := harness.Seq(1); at <= newest; at++ {
		snap, err := s.LoadSnapshot(t.Context(), "a", at)
		if err != nil || string(snap.State) != fmt.Sprintf("state %d", snap.Seq) || (at-snap.Seq)*(thinPart-1) > newest-at {
			t.Fatalf("at %d: %d, %q, %v", at, snap.Seq, snap.State, err)
		}
	}
	i := 0
	for data, err := range s.Messages(t.Context(), "a", 0, 8) {
		if err != nil || string(data) != fmt.Sprintf("message %d", i) {
			t.Fatalf("message %d: %q, %v", i, data, err)
		}
		i++
	}
}
