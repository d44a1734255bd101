package jsonl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"harness"
	"harness/internal/batch"
)

func at(id harness.SessionID, after harness.Seq, n int) harness.Commit {
	c := harness.Commit{Session: id, After: after, Summary: harness.Summary{Session: id, Seq: after + harness.Seq(n)}}
	for i := range n {
		c.Events = append(c.Events, harness.NewEvent(id, after+1+harness.Seq(i), time.UnixMilli(1), "", &harness.Token{Text: strings.Repeat("x", 30)}))
	}
	return c
}

func openForTest(t testing.TB, o *Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), ".harness"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// onWriter runs f in the writer's goroutine.
func onWriter(t testing.TB, s *Store, f func(*writer)) {
	t.Helper()
	if err := s.doLow(t.Context(), func(w *writer, t *task) { f(w); t.Answer(nil) }); err != nil {
		t.Fatal(err)
	}
}

func mustAppend(t testing.TB, s *Store, commits ...harness.Commit) {
	t.Helper()
	for _, c := range commits {
		if err := s.Append(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
}

func mustEndAt(t testing.TB, s *Store, id harness.SessionID, want harness.Seq) {
	t.Helper()
	n := harness.Seq(0)
	for e, err := range s.Read(t.Context(), id, 0) {
		if n++; err != nil || e.Seq != n {
			t.Fatalf("event %d of %s: %d, %v", n, id, e.Seq, err)
		}
	}
	if n != want {
		t.Fatalf("%s ends at %d, want %d", id, n, want)
	}
}

// of reports whether f is a file of thread id.
func of(f *os.File, id harness.SessionID) bool {
	return filepath.Base(filepath.Dir(f.Name())) == string(id)
}

// TestAFullDiskRefusesOnlyWhatDoesNotFit: half a commit is taken back, others
// are written in the same group, and the thread goes on when there is room.
func TestAFullDiskRefusesOnlyWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	s := openForTest(t, nil)
	mustAppend(t, s, at("a", 0, 2), at("b", 0, 2))
	var write func(*os.File, []byte, int64) error
	onWriter(t, s, func(w *writer) {
		write = w.write
		w.write = func(f *os.File, data []byte, pos int64) error {
			if !of(f, "a") && !of(f, "new") {
				return write(f, data, pos)
			}
			return errors.Join(write(f, data[:len(data)/2], pos), syscall.ENOSPC)
		}
	})
	for range 3 {
		for id, after := range map[harness.SessionID]harness.Seq{"a": 2, "new": 0} {
			if err := s.Append(t.Context(), at(id, after, 3)); !errors.Is(err, harness.ErrStorage) || !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("append to %s: %v", id, err)
			}
		}
	}
	mustEndAt(t, s, "a", 2)
	if info, err := os.Stat(filepath.Join(s.threadDir("a"), logFile)); err != nil || info.Size() != s.threads["a"].end.at {
		t.Fatalf("%v, %v", info, err)
	}
	if _, _, err := s.find("new"); !errors.Is(err, harness.ErrNotFound) {
		t.Fatalf("a thread that could not be made: %v", err)
	}
	mustAppend(t, s, at("b", 2, 3))
	onWriter(t, s, func(w *writer) { w.write = write })
	mustAppend(t, s, at("a", 2, 3), at("new", 0, 3))
	mustEndAt(t, s, "a", 5)
	mustEndAt(t, s, "new", 3)
}

// TestAFailedFlushIsNeverTriedAgain: the thread refuses until the next open, and
// what was not acknowledged is gone; others go on.
func TestAFailedFlushIsNeverTriedAgain(t *testing.T) {
	t.Parallel()
	s := openForTest(t, nil)
	mustAppend(t, s, at("a", 0, 2), at("b", 0, 2))
	var flushes int
	var mu sync.Mutex // guards flushes
	onWriter(t, s, func(w *writer) {
		flush := w.flush
		w.flush = func(f *os.File) error {
			if !of(f, "a") {
				return flush(f)
			}
			mu.Lock()
			defer mu.Unlock()
			if flushes++; flushes > 1 {
				return nil // as the kernel does
			}
			return syscall.EIO
		}
	})
	for i := range 3 {
		if err := s.Append(t.Context(), at("a", 2, 3)); !errors.Is(err, harness.ErrStorage) || !errors.Is(err, syscall.EIO) {
			t.Fatalf("append %d: %v", i, err)
		}
	}
	if flushes != 1 {
		t.Fatalf("%d flushes", flushes)
	}
	mustEndAt(t, s, "a", 2)
	mustAppend(t, s, at("b", 2, 3))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(t.Context(), s.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	mustEndAt(t, again, "a", 2)
	mustAppend(t, again, at("a", 2, 3))
	mustEndAt(t, again, "a", 5)
}

// TestOpenLogsAreBounded appends to many threads at once with few files.
func TestOpenLogsAreBounded(t *testing.T) {
	t.Parallel()
	s := openForTest(t, &Options{OpenFiles: 3})
	const threads, commits = 20, 15
	var wg sync.WaitGroup
	for i := range threads {
		id := harness.SessionID(fmt.Sprintf("s%d", i))
		wg.Go(func() {
			for n := range harness.Seq(commits) {
				if err := s.Append(t.Context(), at(id, n, 1)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	onWriter(t, s, func(w *writer) {
		if n := w.logs.used.Len(); n != 3 || len(w.logs.files) != 3 {
			t.Errorf("%d files are open", n)
		}
	})
	for i := range threads {
		mustEndAt(t, s, harness.SessionID(fmt.Sprintf("s%d", i)), commits)
	}
}

// TestSeveralCommitsOfAThreadShareAGroup: each is answered for itself.
func TestSeveralCommitsOfAThreadShareAGroup(t *testing.T) {
	t.Parallel()
	s := openForTest(t, nil)
	branch := at("b", 3, 1)
	branch.From = &harness.Branch{Session: "a", Seq: 3}
	var tasks []*task
	for _, c := range []harness.Commit{at("a", 0, 2), at("a", 2, 2), at("a", 2, 1), branch, at("a", 4, 1), at("b", 4, 1)} {
		lines, err := encode(c)
		if err != nil {
			t.Fatal(err)
		}
		tasks = append(tasks, batch.NewTask[work](func(w *writer, t *task) {
			if err := w.append(c, lines, t); err != nil {
				t.Answer(err)
			}
		}, 0))
	}
	onWriter(t, s, func(w *writer) {
		for _, task := range tasks {
			task.Work(w, task)
		}
	})
	for i, task := range tasks {
		if err := task.Wait(t.Context()); (err == nil) != (i != 2) || i == 2 && !errors.Is(err, harness.ErrConflict) {
			t.Errorf("commit %d: %v", i, err)
		}
	}
	mustEndAt(t, s, "a", 5)
	mustEndAt(t, s, "b", 5)
}
