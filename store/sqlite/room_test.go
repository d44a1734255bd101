package sqlite_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"harness"
)

// TestAFileThatMayNotGrowRefusesAndLosesNothing gives a process a limit on the
// size of its files, so that writing fails in the middle of a commit: it is told
// ErrStorage, writes nothing more, and everything acknowledged before is there
// for the next process.
func TestAFileThatMayNotGrowRefusesAndLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	child := exec.Command("sh", "-c", `ulimit -f 3000; exec "$0" -test.run='^TestAppendUntilKilled$'`, os.Args[0])
	child.Env = append(os.Environ(), "HARNESS_TEST_APPEND_IN="+dir)
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	acked, refusals := map[harness.SessionID]harness.Seq{}, 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var id harness.SessionID
		var seq harness.Seq
		if _, err := fmt.Sscanf(lines.Text(), "ack %s %d", &id, &seq); err == nil {
			acked[id] = seq
		} else if strings.HasPrefix(lines.Text(), "error ") && strings.Contains(lines.Text(), harness.ErrStorage.Text) {
			refusals++
			t.Log(lines.Text())
		}
	}
	child.Wait()
	if refusals != 8 || len(acked) != 8 {
		t.Fatalf("%d of 8 sessions were refused, %d had written", refusals, len(acked))
	}
	st := open(t, dir)
	for id, want := range acked {
		n, err := read(t, st, id)
		if err != nil || harness.Seq(n) < want {
			t.Fatalf("%s: acknowledged up to %d, read %d events, %v", id, want, n, err)
		}
		mustAppend(t, st, commit(id, harness.Seq(n), 1))
	}
}
