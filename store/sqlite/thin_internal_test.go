package sqlite

import (
	"fmt"
	"testing"

	"harness"
	"harness/internal/chunk"
	"harness/internal/thin"
)

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
	fill := work{apply: func(w *writer) error { // as a build before thinning left it
		k, err := w.session("a")
		for seq := int64(1); seq < n-8 && err == nil; seq++ {
			state := fmt.Appendf(nil, "state %d", seq)
			_, err = w.exec("INSERT INTO snapshots(session, seq, crc, state) VALUES(?, ?, ?, ?)", k.n, seq, chunk.Checksum(state), state)
		}
		return err
	}}
	if err := s.doLow(t.Context(), 0, fill); err != nil {
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
		if err != nil || string(snap.State) != fmt.Sprintf("state %d", snap.Seq) || (at-snap.Seq)*(thin.Part-1) > newest-at {
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
