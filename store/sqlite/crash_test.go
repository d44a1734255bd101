package sqlite_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"

	"harness"
	"harness/store/sqlite"
	"harness/store/storetest"
)

// TestKilledProcessLosesNothingAcknowledged kills a process that appends, at a
// moment it does not choose, again and again on the same data.
func TestKilledProcessLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	storetest.Lives(t, func() *exec.Cmd { return appending(dir) }, func(t *testing.T, acked map[harness.SessionID]harness.Seq) {
		st := open(t, dir)
		for id, want := range acked {
			if n, err := read(t, st, id); err != nil || harness.Seq(n) < want {
				t.Fatalf("%s: acknowledged up to %d, read %d events, %v", id, want, n, err)
			}
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// appending is a process that runs the test below.
func appending(dir string) *exec.Cmd {
	child := exec.Command(os.Args[0], "-test.run=^TestAppendUntilKilled$")
	child.Env = append(os.Environ(), "HARNESS_TEST_APPEND_IN="+dir)
	return child
}

// TestAppendUntilKilled is the child of the test above, and of those that limit
// what a process may write: it appends to eight sessions and says what was
// acknowledged, until it is killed or cannot write any more.
func TestAppendUntilKilled(t *testing.T) {
	dir := os.Getenv("HARNESS_TEST_APPEND_IN")
	if dir == "" {
		t.Skip("only as a child process")
	}
	st := open(t, dir)
	heads := map[harness.SessionID]harness.Seq{}
	for row, err := range st.List(t.Context(), harness.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		heads[row.Session] = row.Seq
	}
	var say sync.Mutex
	var wg sync.WaitGroup
	for i := range 8 {
		id := harness.SessionID(fmt.Sprintf("s%d", i))
		wg.Go(func() {
			if err := appendForever(t, st, id, heads[id], &say); err != nil {
				say.Lock()
				defer say.Unlock()
				fmt.Printf("error %v\n", err)
			}
		})
	}
	wg.Wait()
}

func appendForever(t *testing.T, st *sqlite.Store, id harness.SessionID, head harness.Seq, say *sync.Mutex) error {
	for {
		c := commit(id, head, 1+rand.IntN(4))
		if err := st.Append(t.Context(), c); err != nil {
			if st.Append(t.Context(), c) == nil {
				return errors.New("wrote on after an error")
			}
			return err
		}
		head += harness.Seq(len(c.Events))
		say.Lock()
		fmt.Printf("ack %s %d\n", id, head)
		say.Unlock()
		if rand.IntN(10) == 0 {
			if err := st.SaveSnapshot(t.Context(), harness.Snapshot{Session: id, Seq: head, State: []byte("{}")}); err != nil {
				return err
			}
		}
	}
}
