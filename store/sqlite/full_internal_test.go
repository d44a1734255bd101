package sqlite

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/internal/batch"
	"harness/internal/chunk"
)

func at(id harness.SessionID, after harness.Seq, text string) harness.Commit {
	e := harness.NewEvent(id, after+1, time.UnixMilli(1), "", &harness.Token{Text: text})
	return harness.Commit{Session: id, After: after, Events: []harness.Event{e}, Summary: harness.Summary{Session: id, Seq: after + 1}}
}

func openForTest(t testing.TB) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// onWriter runs f on the writing connection, outside any transaction's result.
func onWriter(t testing.TB, s *Store, f func(*writer) error) {
	t.Helper()
	if err := s.doLow(t.Context(), 0, work{apply: f}); err != nil {
		t.Fatal(err)
	}
}

// TestAFullDiskRefusesOnlyWhatDoesNotFit: a commit that finds no room leaves no
// trace, and the store works again when there is room.
func TestAFullDiskRefusesOnlyWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	s := openForTest(t)
	onWriter(t, s, func(w *writer) error { return w.script("PRAGMA max_page_count=60") })
	text := strings.Repeat("x", 20_000)
	head := harness.Seq(0)
	var refused error
	for refused == nil && head < 1000 {
		if refused = s.Append(t.Context(), at("a", head, text)); refused == nil {
			head++
		}
	}
	if !errors.Is(refused, harness.ErrStorage) || !strings.Contains(refused.Error(), "no space left") {
		t.Fatalf("after %d commits: %v", head, refused)
	}
	t.Log(refused)
	for i := range 3 {
		if err := s.Append(t.Context(), at("a", head, text)); !errors.Is(err, harness.ErrStorage) {
			t.Fatalf("attempt %d without room: %v", i, err)
		}
	}
	if err := s.Append(t.Context(), at("small", 0, "y")); err != nil {
		t.Fatalf("a small commit that still fits: %v", err)
	}
	onWriter(t, s, func(w *writer) error { return w.script("PRAGMA max_page_count=6000") })
	if err := s.Append(t.Context(), at("a", head, text)); err != nil {
		t.Fatalf("with room again: %v", err)
	}
	n := harness.Seq(0)
	for e, err := range s.Read(t.Context(), "a", 0) {
		if n++; err != nil || e.Seq != n {
			t.Fatalf("event %d: %d, %v", n, e.Seq, err)
		}
	}
	if n != head+1 {
		t.Fatalf("read %d events, acknowledged %d", n, head+1)
	}
}

// TestOneBadCommitDoesNotFailItsGroup: in one transaction, a stale append and a
// failing one are refused, the others commit.
func TestOneBadCommitDoesNotFailItsGroup(t *testing.T) {
	t.Parallel()
	s := openForTest(t)
	if err := s.Append(t.Context(), at("a", 0, "x")); err != nil {
		t.Fatal(err)
	}
	failure := errors.New("not a refusal")
	group := make([]*task, 5)
	for i := range group {
		group[i] = batch.NewTask(work{}, 0)
	}
	put := func(id harness.SessionID, after harness.Seq) func(*writer) error {
		c := at(id, after, "y")
		data, _ := chunk.Encode(c)
		return entryOf(c, data, []byte(`{}`)).write
	}
	group[0].Work.apply, group[1].Work.apply, group[2].Work.apply, group[4].Work.apply = put("b", 0), put("a", 0), put("a", 1), put("c", 0)
	group[3].Work.apply = func(w *writer) error {
		if err := put("d", 0)(w); err != nil {
			return err
		}
		return failure
	}
	onWriter(t, s, func(w *writer) error { // the writer serves our group instead of its own
		if _, err := w.exec("COMMIT"); err != nil {
			return err
		}
		w.serve(group)
		_, err := w.exec("BEGIN IMMEDIATE")
		return err
	})
	for i, want := range []error{nil, harness.ErrConflict, nil, failure, nil} {
		if err := group[i].Wait(t.Context()); !errors.Is(err, want) {
			t.Errorf("task %d: got %v, want %v", i, err, want)
		}
	}
	for id, want := range map[harness.SessionID]int{"a": 2, "b": 1, "c": 1, "d": 0} {
		n := 0
		for _, err := range s.Read(t.Context(), id, 0) {
			if err == nil {
				n++
			}
		}
		if n != want {
			t.Errorf("%s has %d events, want %d", id, n, want)
		}
	}
}
