package sqlite_test

import (
	"testing"

	"harness"
	"harness/store/storetest"
)

// TestAFileThatMayNotGrowRefusesAndLosesNothing gives a process a limit on the
// size of its files, so that writing fails in the middle of a commit: it is told
// ErrStorage, writes nothing more, and everything acknowledged before is there
// for the next process.
func TestAFileThatMayNotGrowRefusesAndLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	acked := storetest.Grows(t, 3000, 8, appending(dir))
	st := open(t, dir)
	for id, want := range acked {
		n, err := read(t, st, id)
		if err != nil || harness.Seq(n) < want {
			t.Fatalf("%s: acknowledged up to %d, read %d events, %v", id, want, n, err)
		}
		mustAppend(t, st, commit(id, harness.Seq(n), 1))
	}
}
