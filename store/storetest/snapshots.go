package storetest

import (
	"bytes"
	"fmt"
	"testing"

	"harness"
)

// snapshot is a head at seq with the messages that it seals.
func snapshot(id harness.SessionID, seq harness.Seq, first int, sealed ...string) harness.Snapshot {
	s := harness.Snapshot{Session: id, Seq: seq, State: fmt.Appendf(nil, `{"session_id":%q,"seq":%d}`, id, seq), First: first}
	for _, m := range sealed {
		s.Sealed = append(s.Sealed, []byte(m))
	}
	return s
}

func mustSave(t testing.TB, st harness.Snapshotter, snaps ...harness.Snapshot) {
	t.Helper()
	for _, s := range snaps {
		if err := st.SaveSnapshot(t.Context(), s); err != nil {
			t.Fatalf("save snapshot of %s at %d: %v", s.Session, s.Seq, err)
		}
	}
}

// mustLoad checks which snapshot is found, and that it is not wrong about the end
// of the log; of is the session that saved it.
func mustLoad(t testing.TB, st harness.Snapshotter, id harness.SessionID, at harness.Seq, of harness.SessionID, seq harness.Seq) {
	t.Helper()
	got, err := st.LoadSnapshot(t.Context(), id, at)
	if err != nil {
		t.Fatalf("load snapshot of %s at %d: %v", id, at, err)
	}
	if want := snapshot(of, seq, 0); got.Session != id || got.Seq != seq || !bytes.Equal(got.State, want.State) || got.Sealed != nil {
		t.Fatalf("snapshot of %s at %d: got %d of %s, %s, want %s", id, at, got.Seq, got.Session, got.State, want.State)
	}
	if end := harness.Seq(len(history(t, st.(harness.Store), id, 0))); got.End != 0 && got.End != end {
		t.Fatalf("snapshot of %s at %d: the log ends at %d, want %d", id, at, got.End, end)
	}
}

func mustHaveMessages(t testing.TB, st harness.Snapshotter, id harness.SessionID, from int, want ...string) {
	t.Helper()
	got, err := collect(st.Messages(t.Context(), id, from, from+len(want)))
	if err != nil {
		t.Fatalf("messages of %s from %d: %v", id, from, err)
	}
	if g, w := fmt.Sprintf("%s", got), fmt.Sprintf("%s", want); g != w {
		t.Fatalf("messages of %s from %d\n got %s\nwant %s", id, from, g, w)
	}
}

func loadSnapshotFindsTheNewestAtOrBefore(t testing.TB, s Suite) {
	st := s.Open(t)
	sn := snapshotter(t, st)
	mustAppend(t, st, commit("a", 0, 50), commit("b", 0, 50))
	mustSave(t, sn, snapshot("a", 10, 0), snapshot("a", 30, 0), snapshot("a", 20, 0), snapshot("b", 25, 0))
	for at, want := range map[harness.Seq]harness.Seq{0: 30, 10: 10, 11: 10, 19: 10, 20: 20, 29: 20, 30: 30, 31: 30, 50: 30, 1 << 40: 30, 1<<64 - 1: 30} {
		mustLoad(t, sn, "a", at, "a", want)
	}
	_, err := sn.LoadSnapshot(t.Context(), "a", 9)
	mustBe(t, err, harness.ErrNotFound, "a snapshot before the first")
}

func savingASnapshotAgainChangesNothing(t testing.TB, s Suite) {
	st := s.Open(t)
	sn := snapshotter(t, st)
	mustAppend(t, st, commit("a", 0, 9))
	for range 3 {
		mustSave(t, sn, snapshot("a", 4, 0, "m0", "m1"), snapshot("a", 8, 2, "m2"))
		mustLoad(t, sn, "a", 0, "a", 8)
		mustLoad(t, sn, "a", 7, "a", 4)
		mustHaveMessages(t, sn, "a", 0, "m0", "m1", "m2")
	}
}

func aSnapshotIsNeverAheadOfItsLog(t testing.TB, s Suite) {
	st := s.Open(t)
	sn := snapshotter(t, st)
	mustAppend(t, st, commit("a", 0, 3))
	mustBe(t, sn.SaveSnapshot(t.Context(), snapshot("a", 4, 0, "m0")), harness.ErrConflict, "a snapshot at 4 of a log that ends at 3")
	mustAppend(t, st, commit("a", 3, 3))
	_, err := sn.LoadSnapshot(t.Context(), "a", 0)
	mustBe(t, err, harness.ErrNotFound, "a snapshot that was refused")
}

func messagesAreDense(t testing.TB, s Suite) {
	st := s.Open(t)
	sn := snapshotter(t, st)
	mustAppend(t, st, commit("a", 0, 9), commit("gap", 0, 9))
	var want []string
	for seq := harness.Seq(1); seq < 9; seq++ {
		m := []string{fmt.Sprintf("m%d", len(want)), fmt.Sprintf("m%d %s", len(want)+1, bytes.Repeat([]byte("x"), 200_000))}
		mustSave(t, sn, snapshot("a", seq, len(want), m...))
		want = append(want, m...)
	}
	for from := range want {
		mustHaveMessages(t, sn, "a", from, want[from:]...)
		mustHaveMessages(t, sn, "a", from, want[from])
		mustHaveMessages(t, sn, "a", from)
	}
	got, err := collect(sn.Messages(t.Context(), "a", 14, 18))
	mustBe(t, err, harness.ErrCorrupt, "messages beyond the last")
	if len(got) > 2 {
		t.Fatalf("got %d messages before the missing one, want at most 2", len(got))
	}
	mustSave(t, sn, snapshot("gap", 3, 0, "m0"), snapshot("gap", 5, 2, "m2"))
	_, err = collect(sn.Messages(t.Context(), "gap", 0, 3))
	mustBe(t, err, harness.ErrCorrupt, "a message that is missing between two")
}

func branchesReadSnapshotsAndMessagesThrough(t testing.TB, s Suite) {
	st := s.Open(t)
	sn := snapshotter(t, st)
	mustAppend(t, st, commit("a", 0, 30))
	mustSave(t, sn, snapshot("a", 10, 0, "a0", "a1"), snapshot("a", 20, 2, "a2", "a3"))
	mustAppend(t, st, branch("b", "a", 15, 5), branch("early", "a", 5, 1), branch("late", "a", 30, 1))
	mustSave(t, sn, snapshot("a", 30, 4, "a4"))

	mustLoad(t, sn, "b", 0, "a", 10)
	mustLoad(t, sn, "b", 20, "a", 10)
	mustLoad(t, sn, "late", 0, "a", 30)
	mustLoad(t, sn, "late", 29, "a", 20)
	_, err := sn.LoadSnapshot(t.Context(), "b", 9)
	mustBe(t, err, harness.ErrNotFound, "a snapshot before the parent's first")
	_, err = sn.LoadSnapshot(t.Context(), "early", 0)
	mustBe(t, err, harness.ErrNotFound, "a snapshot of a branch that starts before the parent's first")

	mustHaveMessages(t, sn, "late", 0, "a0", "a1", "a2", "a3", "a4")
	mustHaveMessages(t, sn, "b", 0, "a0", "a1")
	_, err = collect(sn.Messages(t.Context(), "b", 0, 3))
	mustBe(t, err, harness.ErrCorrupt, "a message that the parent sealed after the branch point")

	mustSave(t, sn, snapshot("b", 18, 2, "b2", "b3", "b4"))
	mustLoad(t, sn, "b", 0, "b", 18)
	mustLoad(t, sn, "b", 17, "a", 10)
	mustHaveMessages(t, sn, "b", 0, "a0", "a1", "b2", "b3", "b4")
	mustAppend(t, st, branch("c", "b", 18, 2), branch("d", "b", 12, 2))
	mustLoad(t, sn, "c", 0, "b", 18)
	mustLoad(t, sn, "d", 0, "a", 10)
	mustHaveMessages(t, sn, "c", 1, "a1", "b2", "b3", "b4")
	mustSave(t, sn, snapshot("c", 20, 5, "c5"))
	mustHaveMessages(t, sn, "c", 0, "a0", "a1", "b2", "b3", "b4", "c5")
	_, err = collect(sn.Messages(t.Context(), "d", 0, 3))
	mustBe(t, err, harness.ErrCorrupt, "a message that a branch sealed after its own branch left")
	mustHaveMessages(t, sn, "a", 0, "a0", "a1", "a2", "a3", "a4")
}
