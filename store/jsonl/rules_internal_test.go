package jsonl

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"

	"harness"
)

func withRule(c harness.Commit, id harness.RuleID) harness.Commit {
	c.Rules = []harness.Rule{{ID: id, Directory: "/w", Tool: "bash"}}
	return c
}

func mustStand(t testing.TB, s *Store, want ...harness.RuleID) {
	t.Helper()
	var got []harness.RuleID
	for r, err := range s.Rules(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.ID)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("rules %v, want %v", got, want)
	}
}

// TestARuleIsFlushedBeforeItsEventsAreWritten watches the disk.
func TestARuleIsFlushedBeforeItsEventsAreWritten(t *testing.T) {
	t.Parallel()
	s := openForTest(t, nil)
	mustAppend(t, s, at("a", 0, 1))
	var mu sync.Mutex // guards done
	var done []string
	onWriter(t, s, func(w *writer) {
		write, flush := w.write, w.flush
		note := func(what string, f *os.File) {
			mu.Lock()
			defer mu.Unlock()
			done = append(done, what+" "+filepath.Base(f.Name()))
		}
		w.write = func(f *os.File, data []byte, pos int64) error { note("write", f); return write(f, data, pos) }
		w.flush = func(f *os.File) error { note("flush", f); return flush(f) }
	})
	mustAppend(t, s, withRule(at("a", 1, 1), "rul_1"))
	want := []string{"write rules.jsonl", "flush rules.jsonl", "write events.jsonl", "flush events.jsonl"}
	if !slices.Equal(done, want) {
		t.Errorf("the disk did %q, want %q", done, want)
	}
}

// TestARuleThatDoesNotFitTakesItsCommitWithIt: nothing of either is there, other
// commits of the group are, and it goes on when there is room.
func TestARuleThatDoesNotFitTakesItsCommitWithIt(t *testing.T) {
	t.Parallel()
	s := openForTest(t, nil)
	mustAppend(t, s, withRule(at("a", 0, 1), "rul_1"))
	var write func(*os.File, []byte, int64) error
	onWriter(t, s, func(w *writer) {
		write = w.write
		w.write = func(f *os.File, data []byte, pos int64) error {
			if filepath.Base(f.Name()) != rulesFile {
				return write(f, data, pos)
			}
			return errors.Join(write(f, data[:len(data)/2], pos), syscall.ENOSPC)
		}
	})
	if err := s.Append(t.Context(), withRule(at("a", 1, 1), "rul_2")); !errors.Is(err, harness.ErrStorage) || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("append: %v", err)
	}
	mustAppend(t, s, at("b", 0, 1))
	mustEndAt(t, s, "a", 1)
	mustStand(t, s, "rul_1")
	onWriter(t, s, func(w *writer) { w.write = write })
	mustAppend(t, s, withRule(at("a", 1, 1), "rul_2"))
	mustEndAt(t, s, "a", 2)
	mustStand(t, s, "rul_1", "rul_2")
	if b, err := readRules(s.dir); err != nil || len(b.rules) != 2 || b.torn || b.damage != nil {
		t.Errorf("the file says %+v, %v", b, err)
	}
}

// TestAFailedFlushOfRulesIsNeverTriedAgain: no rule is kept until the next open,
// and threads go on.
func TestAFailedFlushOfRulesIsNeverTriedAgain(t *testing.T) {
	t.Parallel()
	s := openForTest(t, nil)
	mustAppend(t, s, withRule(at("a", 0, 1), "rul_1"))
	flushes := 0 // only the writer touches it, and it is read after its last answer
	onWriter(t, s, func(w *writer) {
		flush := w.flush
		w.flush = func(f *os.File) error {
			if filepath.Base(f.Name()) != rulesFile {
				return flush(f)
			}
			flushes++
			return syscall.EIO
		}
	})
	for range 3 {
		if err := s.Append(t.Context(), withRule(at("a", 1, 1), "rul_2")); !errors.Is(err, harness.ErrStorage) || !errors.Is(err, syscall.EIO) {
			t.Fatalf("append: %v", err)
		}
		if err := s.RevokeRule(t.Context(), "rul_1"); !errors.Is(err, harness.ErrStorage) {
			t.Fatalf("revoke: %v", err)
		}
	}
	if flushes != 1 {
		t.Errorf("%d flushes", flushes)
	}
	mustAppend(t, s, at("a", 1, 1))
	mustEndAt(t, s, "a", 2)
}
