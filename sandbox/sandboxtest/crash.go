//go:build linux

package sandboxtest

import (
	"bytes"
	"context"
	"io"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"harness"
)

// second runs the calling test again in a process of its own, with its own
// temporary directory, which does not return from crash, and waits until that
// is at work.
func (b *bench) second(t *testing.T, mark, how string) (temp string, kill func() (pid int)) {
	t.Helper()
	top, _, _ := strings.Cut(t.Name(), "/")
	temp, err := os.MkdirTemp("", "hc-") // short: it holds sockets of engines
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(temp) })
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+top+"$")
	cmd.Env = append(os.Environ(), "HARNESS_TEST_CRASH="+mark, "HARNESS_TEST_HOW="+how, "HARNESS_TEST_PROBE="+b.probe, "TMPDIR="+temp)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() int {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return cmd.Process.Pid
	}
	ready := filepath.Join(temp, "ready")
	deadline := time.Now().Add(patience)
	for tick := time.NewTicker(time.Millisecond); read(ready) == ""; <-tick.C {
		if time.Now().After(deadline) {
			kill()
			t.Fatalf("the second harness is not at work:\n%s", said.String())
		}
	}
	return temp, kill
}

// crash is the work of the second process: it has a tree, or starts one after
// the other, until it is killed.
func (b *bench) crash(t *testing.T, mark, how string) {
	w, _ := b.open(t)
	if how == "tree" {
		b.grow(t, t.Context(), w, mark)
	}
	write(t, filepath.Join(os.TempDir(), "ready"), "yes")
	for how == "busy" {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if c, err := w.Start(ctx, harness.Process{Args: []string{b.probe, "tree", mark}, Stdout: io.Discard}); err == nil {
			_, _ = c.Wait()
		}
		cancel()
	}
	select {}
}

func (b *bench) killHarness(t *testing.T) {
	if !b.enforces(harness.GuardCrash) {
		t.Skip("the sandbox says that it lacks " + string(harness.GuardCrash))
	}
	mark := nonce()
	temp, kill := b.second(t, mark, "tree")
	if n := survivors(mark); n < treeSize {
		t.Errorf("%d processes before the kill", n)
	}
	pid := kill()
	until(t, "the tree of a harness that was killed to be gone", func() bool { return survivors(mark) == 0 })
	b.next(t, temp, pid)
}

func (b *bench) killBusyHarness(t *testing.T) {
	if !b.enforces(harness.GuardCrash) {
		t.Skip("the sandbox says that it lacks " + string(harness.GuardCrash))
	}
	rounds := 1 + b.rounds/5
	if os.Getenv("LONG") != "" {
		rounds = 20 * b.rounds
	}
	for range rounds {
		mark := nonce()
		temp, kill := b.second(t, mark, "busy")
		<-time.After(time.Duration(mathrand.IntN(50_000)) * time.Microsecond) // any moment is as good as another
		pid := kill()
		until(t, "the trees of a harness that was killed to be gone", func() bool { return survivors(mark) == 0 })
		b.next(t, temp, pid)
	}
}

// next starts the next harness after one that was killed: it removes what only
// a living process could have removed, and then nothing of the dead one is left.
// A child of the dead one that has just been forked may need a moment to notice.
func (b *bench) next(t *testing.T, temp string, pid int) {
	t.Helper()
	was := os.TempDir()
	t.Setenv("TMPDIR", temp)
	defer t.Setenv("TMPDIR", was)
	mine := "harness-" + strconv.Itoa(pid) + "-"
	var left []string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if _, err := b.again(t).Probe(t.Context()); err != nil {
			t.Fatal(err)
		}
		left = slices.DeleteFunc(traces(t, pid, temp), func(x string) bool {
			return !strings.Contains(x, mine) && !strings.HasPrefix(x, "mount") && !strings.HasPrefix(x, "socket") && !strings.HasPrefix(x, "temporary file harness-")
		})
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("left behind by a harness that was killed:\n%s", strings.Join(left, "\n"))
}
