package faulty_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"testing"

	"harness"
	"harness/store/faulty"
	"harness/store/memory"
	"harness/store/sqlite"
)

// playUntilCrash appends to three sessions as seed says until the store crashes.
// It returns how long each log may be: what was acknowledged, and one commit
// more where the crash tore it.
func playUntilCrash(t *testing.T, inner harness.Store, seed uint64) (acked, possible map[harness.SessionID]int) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 1))
	last := 1 + rnd.IntN(40)
	st := faulty.Wrap(inner, func(op faulty.Op) faulty.Fault {
		return faulty.Fault{Crash: op.N == last, Landed: rnd.IntN(2) == 0}
	})
	acked, possible = map[harness.SessionID]int{}, map[harness.SessionID]int{}
	for n := 1; ; n++ {
		id := harness.SessionID(fmt.Sprintf("s%d", rnd.IntN(3)))
		c := commit(id, harness.Seq(acked[id]), 1+rnd.IntN(4))
		possible[id] = acked[id] + len(c.Events)
		err := st.Append(t.Context(), c)
		if err == nil {
			acked[id] = possible[id]
			continue
		}
		if !errors.Is(err, harness.ErrStorage) || n != last {
			t.Fatalf("seed %d, call %d: %v", seed, n, err)
		}
		if err := st.Append(t.Context(), c); !errors.Is(err, harness.ErrStorage) {
			t.Fatalf("seed %d: append after the crash: %v", seed, err)
		}
		return acked, possible
	}
}

// mustHold checks a clone against what its dead original acknowledged.
func mustHold(t *testing.T, clone harness.Store, seed uint64, acked, possible map[harness.SessionID]int) {
	t.Helper()
	for id := range possible {
		if n := length(t, clone, id); n != acked[id] && n != possible[id] {
			t.Errorf("seed %d: %s has %d events, acknowledged %d, possible %d", seed, id, n, acked[id], possible[id])
		}
		if err := clone.Append(t.Context(), commit(id, harness.Seq(length(t, clone, id)), 1)); err != nil {
			t.Errorf("seed %d: the clone does not go on: %v", seed, err)
		}
	}
}

func TestACrashCloneOfMemoryHasWhatWasAcknowledged(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		st := memory.New()
		acked, possible := playUntilCrash(t, st, seed)
		mustHold(t, st.Clone(), seed, acked, possible)
	}
}

// The copy is made by another process while nothing is under way and before the
// store is closed: files as kill -9 leaves them, write-ahead log included.
func TestACrashCloneOfSQLiteHasWhatWasAcknowledged(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		from, to := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "data")
		st, err := sqlite.Open(t.Context(), filepath.Join(from, "store.db"), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		acked, possible := playUntilCrash(t, st, seed)
		if out, err := exec.Command("cp", "-R", from, to).CombinedOutput(); err != nil {
			t.Fatalf("cp: %v: %s", err, out)
		}
		clone, err := sqlite.Open(t.Context(), filepath.Join(to, "store.db"), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer clone.Close()
		mustHold(t, clone, seed, acked, possible)
	}
}
