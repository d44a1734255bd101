package storetest

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"harness"
)

// Lives starts a process that appends, again and again on the same data, and kills
// it at a moment it does not choose; after each life check is given what was ever
// acknowledged. With LONG=1 there are a hundred.
func Lives(t *testing.T, start func() *exec.Cmd, check func(t *testing.T, acked map[harness.SessionID]harness.Seq)) {
	t.Helper()
	lives := 10
	if os.Getenv("LONG") != "" {
		lives = 100
	}
	acked, total := map[harness.SessionID]harness.Seq{}, 0
	for life := range lives {
		n, refusals := Hear(t, start(), 1+rand.IntN(400), acked)
		if len(refusals) > 0 {
			t.Errorf("life %d: the process says %q", life, refusals)
		}
		total += n
		check(t, acked)
	}
	t.Logf("%d kills, %d acknowledged commits, all there", lives, total)
}

// Hear runs a process that says "ack SESSION SEQ" of each commit, and notes in
// acked how far each session got. It kills it after so many of them, unless that
// is 0, and returns their number and whatever else it said.
func Hear(t *testing.T, child *exec.Cmd, kill int, acked map[harness.SessionID]harness.Seq) (n int, refusals []string) {
	t.Helper()
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var id harness.SessionID
		var seq harness.Seq
		if _, err := fmt.Sscanf(lines.Text(), "ack %s %d", &id, &seq); err != nil {
			refusals = append(refusals, lines.Text())
			continue
		}
		acked[id] = max(acked[id], seq)
		if n++; n == kill {
			child.Process.Kill()
		}
	}
	child.Wait()
	return n, refusals
}

// Grows runs a process that may write only so many blocks into a file. Each of its
// sessions, of which there are so many, is told that the storage failed; it returns
// what was acknowledged before.
func Grows(t *testing.T, blocks, sessions int, child *exec.Cmd) (acked map[harness.SessionID]harness.Seq) {
	t.Helper()
	limited := exec.Command("sh", append([]string{"-c", fmt.Sprintf(`ulimit -f %d; exec "$0" "$@"`, blocks)}, child.Args...)...)
	limited.Env = child.Env
	acked = map[harness.SessionID]harness.Seq{}
	_, said := Hear(t, limited, 0, acked)
	refused := 0
	for _, line := range said {
		if strings.HasPrefix(line, "error ") && strings.Contains(line, harness.ErrStorage.Text) {
			refused++
		}
	}
	if refused != sessions || len(acked) != sessions {
		t.Fatalf("%d of %d sessions were refused, %d had written: %q", refused, sessions, len(acked), said)
	}
	return acked
}
