//go:build linux

package sandboxtest

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	"harness"
)

func (b *bench) limits(t *testing.T) {
	limited := func(l harness.Limits) func(*harness.WorkspaceSpec) {
		return func(s *harness.WorkspaceSpec) { s.Limits = l }
	}
	need := func(t *testing.T, g harness.Guarantee) {
		if !b.enforces(g) {
			t.Skipf("the sandbox says that it lacks %s: %s", g, b.holds.Reason)
		}
	}
	t.Run("WallTime", func(t *testing.T) {
		w, _ := b.open(t, limited(harness.Limits{WallTime: 300 * time.Millisecond}))
		if got := run(t, w, b.probe, "hold", nonce(), "plain"); got.Exit != (harness.Exit{Code: 137, Cause: harness.ExitWallTime}) {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("Output", func(t *testing.T) {
		w, _ := b.open(t, limited(harness.Limits{Output: 100_000}))
		var n counter
		got := runProcess(t, w, harness.Process{Args: []string{b.probe, "write", "1000000000"}, Stdout: &n})
		if got.Cause != harness.ExitOutput || n != 100_000 {
			t.Errorf("got %+v and %d bytes, want exactly 100000", got, n)
		}
		var exact bytes.Buffer
		if got := runProcess(t, w, harness.Process{Args: []string{b.probe, "write", "100000"}, Stdout: &exact}); got.Exit != (harness.Exit{}) || exact.Len() != 100_000 {
			t.Errorf("at the limit: %+v and %d bytes", got, exact.Len())
		}
	})
	t.Run("Pids", func(t *testing.T) {
		need(t, harness.LimitPids)
		w, _ := b.open(t, limited(harness.Limits{Pids: 100}))
		mark := nonce()
		got := run(t, w, b.probe, "many", mark, "300")
		if n, err := strconv.Atoi(strings.TrimSpace(got.out)); err == nil && n >= 100 {
			t.Errorf("%d processes under a limit of 100: %+v", n, got)
		}
		if left := survivors(mark); left != 0 {
			t.Errorf("%d processes are left", left)
		}
	})
	t.Run("Memory", func(t *testing.T) {
		need(t, harness.LimitMemory)
		w, _ := b.open(t, limited(harness.Limits{Memory: 128 << 20}))
		if got := run(t, w, b.probe, "allocate", strconv.Itoa(1<<30)); got.Code != 137 || got.Cause != harness.ExitMemory {
			t.Errorf("got %+v, want 137 because of memory", got)
		}
		if got := run(t, w, b.probe, "allocate", strconv.Itoa(8<<20)); got.Code != 0 || got.Cause != "" {
			t.Errorf("afterwards, with little: %+v", got)
		}
	})
}
