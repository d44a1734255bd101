package jsonl_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"harness"
	"harness/store/jsonl"
	"harness/store/storetest"
)

// TestKilledProcessLosesNothingAcknowledged kills a process that appends, at a
// moment it does not choose, again and again on the same data: what was
// acknowledged is there, no commit is halved, the list says what the log says,
// and line n is event n.
func TestKilledProcessLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".harness")
	storetest.Lives(t, func() *exec.Cmd { return appending(dir) }, func(t *testing.T, acked map[harness.SessionID]harness.Seq) {
		st := open(t, dir)
		for id, want := range acked {
			s := mustAgree(t, st, id)
			if s.Seq < want {
				t.Fatalf("%s: acknowledged up to %d, the log ends at %d", id, want, s.Seq)
			}
			mustEndWhole(t, load(t, file(dir, id, "events.jsonl")), s.Seq)
		}
		mustClose(t, st)
	})
}

// mustEndWhole checks that a log has as many lines as events and ends with the
// last event of a commit.
func mustEndWhole(t *testing.T, log []byte, head harness.Seq) {
	t.Helper()
	lines := strings.SplitAfter(string(log), "\n")
	var i, n int
	last := lines[max(len(lines)-2, 0)]
	at := strings.Index(last, " of ")
	if len(lines)-1 != int(head) || at < 0 {
		t.Fatalf("%d lines for %d events, the last is %s", len(lines)-1, head, last)
	}
	from := strings.LastIndexByte(last[:at], '"') + 1
	if _, err := fmt.Sscanf(last[from:], "%d of %d", &i, &n); err != nil || i != n {
		t.Fatalf("the log ends with event %d of %d of a commit, %v: %s", i, n, err, last)
	}
}

// appending is a process that runs the test below.
func appending(dir string) *exec.Cmd {
	child := exec.Command(os.Args[0], "-test.run=^TestAppendUntilKilled$")
	child.Env = append(os.Environ(), "HARNESS_TEST_APPEND_IN="+dir)
	return child
}

// TestAppendUntilKilled is the child of the tests that end a process or limit
// what it may write: it appends to eight threads and says what was acknowledged,
// until it is killed or cannot write any more.
func TestAppendUntilKilled(t *testing.T) {
	dir := os.Getenv("HARNESS_TEST_APPEND_IN")
	if dir == "" {
		t.Skip("only as a child process")
	}
	st := open(t, dir)
	var say sync.Mutex
	var wg sync.WaitGroup
	for i := range 8 {
		id := harness.SessionID(fmt.Sprintf("s%d", i))
		wg.Go(func() {
			err := appendForever(t, st, id, &say)
			say.Lock()
			defer say.Unlock()
			fmt.Printf("error %v\n", err)
		})
	}
	wg.Wait()
}

func appendForever(t *testing.T, st *jsonl.Store, id harness.SessionID, say *sync.Mutex) error {
	a := new(author)
	if s, err := fold(t, st, id); err == nil {
		a.state = *s
	} else if !errors.Is(err, harness.ErrNotFound) {
		return err
	}
	for {
		if err := st.Append(t.Context(), a.next(id, 1+rand.IntN(4))); err != nil {
			return err
		}
		say.Lock()
		fmt.Printf("ack %s %d\n", id, a.state.Seq)
		say.Unlock()
		if rand.IntN(10) == 0 {
			s := harness.Snapshot{Session: id, Seq: a.state.Seq, State: harness.EncodeState(&a.state)}
			if err := st.SaveSnapshot(t.Context(), s); err != nil {
				return err
			}
		}
	}
}

// TestAFileThatMayNotGrowRefusesAndLosesNothing gives a process a limit on the
// size of its files, so that writing fails in the middle of a commit: it is told
// ErrStorage, and everything acknowledged before is there for the next process.
func TestAFileThatMayNotGrowRefusesAndLosesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".harness")
	acked := storetest.Grows(t, 64, 8, appending(dir))
	st := open(t, dir)
	for id, want := range acked {
		s := mustAgree(t, st, id)
		if s.Seq != want || !bytes.HasSuffix(load(t, file(dir, id, "events.jsonl")), []byte("}\n")) {
			t.Fatalf("%s: acknowledged up to %d, the log ends at %d", id, want, s.Seq)
		}
		mustAppend(t, st, (&author{*s}).next(id, 2))
	}
}
