package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"harness"
)

func appendIsConditional(t testing.TB, s Suite) {
	st := s.Open(t)
	a, b, c := commit("a", 0, 2), commit("a", 2, 2), commit("a", 4, 3)
	mustAppend(t, st, a, b, c)
	for _, after := range []harness.Seq{0, 2, 3, 8, 100} {
		err := st.Append(t.Context(), commit("a", after, 1))
		mustBe(t, err, harness.ErrConflict, fmt.Sprintf("append after %d to a log that ends at 7", after))
	}
	mustBe(t, st.Append(t.Context(), commit("b", 1, 1)), harness.ErrConflict, "append after 1 to a log that is not there")
	mustHave(t, st, "a", 0, events(a, b, c))
	mustAppend(t, st, commit("a", 7, 1))
}

func ofEightConcurrentWritersOneWins(t testing.TB, s Suite) {
	st := s.Open(t)
	const writers = 8
	head := harness.Seq(0)
	for range 20 {
		var wg sync.WaitGroup
		start := make(chan struct{})
		errs := make([]error, writers)
		for i := range writers {
			wg.Go(func() {
				c := commit("a", head, 1)
				c.Events[0] = harness.NewEvent("a", head+1, epoch, "", &harness.Token{Text: fmt.Sprintf("writer %d", i)})
				<-start
				errs[i] = st.Append(t.Context(), c)
			})
		}
		close(start)
		wg.Wait()
		winner := -1
		for i, err := range errs {
			switch {
			case err == nil && winner >= 0:
				t.Fatalf("after %d: writers %d and %d both won", head, winner, i)
			case err == nil:
				winner = i
			default:
				mustBe(t, err, harness.ErrConflict, "a writer that lost")
			}
		}
		if winner < 0 {
			t.Fatalf("after %d: nobody won", head)
		}
		want := harness.NewEvent("a", head+1, epoch, "", &harness.Token{Text: fmt.Sprintf("writer %d", winner)})
		mustHave(t, st, "a", head, []harness.Event{want})
		head++
	}
}

func aCommitIsAllOrNothing(t testing.TB, s Suite) {
	st := s.Open(t)
	first := commit("a", 0, 3)
	mustAppend(t, st, first)
	refused := []harness.Commit{commit("a", 1, 5), commit("a", 9, 5), branch("b", "nobody", 3, 4), branch("b", "a", 9, 4)}
	gap := commit("a", 3, 5)
	gap.Events[3] = event("a", 9)
	for _, c := range append(refused, gap) {
		if st.Append(t.Context(), c) == nil {
			t.Fatalf("append of %d events to %s after %d succeeded", len(c.Events), c.Session, c.After)
		}
	}
	mustHave(t, st, "a", 0, first.Events)
	rows, err := collect(st.List(t.Context(), harness.Filter{}))
	if err != nil || len(rows) != 1 || rows[0].Seq != 3 {
		t.Fatalf("list after refused commits: %v, %v", rows, err)
	}
	next := commit("a", 3, 2)
	mustAppend(t, st, next)
	mustHave(t, st, "a", 0, events(first, next))
}

func whatCannotFollowIsInvalid(t testing.TB, s Suite) {
	st := s.Open(t)
	mustAppend(t, st, commit("a", 0, 2))
	other := commit("a", 2, 2)
	other.Events[1] = event("b", 4)
	twice := commit("a", 2, 2)
	twice.Events[1] = event("a", 3)
	lines, err := harness.DecodeEvent([]byte("{\"seq\":3,\n\"ts\":\"2026-03-01T12:00:00Z\",\"session_id\":\"a\",\"type\":\"token\",\"payload\":{}}"))
	if err != nil {
		t.Fatal(err)
	}
	twoLines := commit("a", 2, 1)
	twoLines.Events[0] = lines
	elsewhere := branch("c", "a", 1, 1)
	elsewhere.From.Seq = 2
	for what, c := range map[string]harness.Commit{
		"no events":                               {Session: "a", After: 2, Summary: summary("a", 2)},
		"an event of another session":             other,
		"an event twice":                          twice,
		"an envelope of two lines":                twoLines,
		"a branch that starts elsewhere":          elsewhere,
		"a branch from before the first event":    branch("c", "a", 0, 1),
		"a branch from after the parent's events": branch("c", "a", 3, 1),
	} {
		mustBe(t, st.Append(t.Context(), c), harness.ErrInvalid, what)
	}
	mustBe(t, st.Append(t.Context(), branch("c", "nobody", 1, 1)), harness.ErrNotFound, "a branch of nothing")
}

func whatIsAcknowledgedIsThereAfterReopen(t testing.TB, s Suite) {
	if s.Reopen == nil {
		t.Skip("keeps nothing")
	}
	st := s.Open(t)
	parent, child := commit("a", 0, 3), branch("b", "a", 2, 2)
	mustAppend(t, st, parent, child)
	if sn, ok := st.(harness.Snapshotter); ok {
		snap := harness.Snapshot{Session: "a", Seq: 2, State: []byte("{}"), Sealed: [][]byte{[]byte("m0")}}
		if err := sn.SaveSnapshot(t.Context(), snap); err != nil {
			t.Fatal(err)
		}
	}
	for head := harness.Seq(3); head < 9; head += 2 {
		st = s.Reopen(t, st)
		next := commit("a", head, 2)
		mustAppend(t, st, next)
		parent.Events = append(parent.Events, next.Events...)
	}
	st = s.Reopen(t, st)
	mustHave(t, st, "a", 0, parent.Events)
	mustHave(t, st, "b", 0, append(parent.Events[:2:2], child.Events...))
	rows, err := collect(st.List(t.Context(), harness.Filter{Session: "a"}))
	if err != nil || len(rows) != 1 || !reflect.DeepEqual(rows[0], summary("a", 9)) {
		t.Fatalf("list: got %+v, %v", rows, err)
	}
	if sn, ok := st.(harness.Snapshotter); ok {
		snap, err := sn.LoadSnapshot(t.Context(), "a", 0)
		if err != nil || snap.Seq != 2 || string(snap.State) != "{}" {
			t.Fatalf("snapshot: got %+v, %v", snap, err)
		}
		mustHaveMessages(t, sn, "a", 0, "m0")
	}
}

func aCancelledContextLeavesNoHalf(t testing.TB, s Suite) {
	st := s.Open(t)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := st.Append(cancelled, commit("a", 0, 3)); !errors.Is(err, context.Canceled) {
		t.Fatalf("append with a cancelled context: got %v", err)
	}
	if all, err := collect(st.Read(t.Context(), "a", 0)); !errors.Is(err, harness.ErrNotFound) {
		t.Fatalf("a cancelled append left %d events, %v", len(all), err)
	}
	mustAppend(t, st, commit("a", 0, 3))
	if _, err := collect(st.Read(cancelled, "a", 0)); !errors.Is(err, context.Canceled) {
		t.Fatalf("read with a cancelled context: got %v", err)
	}
	head := harness.Seq(3)
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(cancel)
		err := st.Append(ctx, commit("a", head, 3))
		wg.Wait()
		got := harness.Seq(len(history(t, st, "a", 0)))
		if err != nil && got != head && got != head+3 || err == nil && got != head+3 {
			t.Fatalf("append of 3 after %d, cancelled meanwhile: error %v, log ends at %d", head, err, got)
		}
		head = got
	}
}

func aClosedStoreRefuses(t testing.TB, s Suite) {
	st := s.Open(t)
	mustAppend(t, st, commit("a", 0, 1))
	for range 2 {
		if err := st.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
	}
	mustBe(t, st.Append(t.Context(), commit("a", 1, 1)), harness.ErrStorage, "append to a closed store")
	_, err := collect(st.Read(t.Context(), "a", 0))
	mustBe(t, err, harness.ErrStorage, "read from a closed store")
	_, err = collect(st.List(t.Context(), harness.Filter{}))
	mustBe(t, err, harness.ErrStorage, "list of a closed store")
	if sn, ok := st.(harness.Snapshotter); ok {
		_, err := sn.LoadSnapshot(t.Context(), "a", 0)
		mustBe(t, err, harness.ErrStorage, "snapshot from a closed store")
		mustBe(t, sn.SaveSnapshot(t.Context(), snapshot("a", 1, 0)), harness.ErrStorage, "snapshot to a closed store")
	}
	if r, ok := st.(harness.Remover); ok {
		mustBe(t, r.Remove(t.Context(), "a"), harness.ErrStorage, "remove from a closed store")
	}
}
