package acp_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"harness"
	"harness/engine/acp"
	"harness/engine/enginetest"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
	"harness/sandbox/local"
)

// placed runs turns in a directory, as a kernel would.
type placed struct {
	*acp.Engine
	dir string
}

func (p placed) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	t.Directory = p.dir
	return p.Engine.Run(ctx, t, h)
}

// opened is a way to open engines for the suite, and what they leave.
type opened struct {
	tb   testing.TB
	mark string
	dir  string
}

func (o *opened) open(tb testing.TB, opts acp.Options) harness.Engine {
	o.tb, o.dir, o.mark = tb, tb.TempDir(), bridgetest.Mark(tb)
	opts.Sandbox = local.New(&local.Options{NoCgroup: true})
	opts.Env = append(slices.Clone(opts.Env), o.mark, "GORACE=atexit_sleep_ms=0")
	e := acp.New(opts)
	tb.Cleanup(func() { _ = e.Close() })
	return placed{e, o.dir}
}

// left is what an engine without warm processes leaves.
func (o *opened) left() (all []string) {
	for _, pid := range bridgetest.Processes(o.tb, o.mark) {
		all = append(all, strconv.Itoa(pid))
	}
	return all
}

func (o *opened) ran() bool {
	_, err := os.Stat(filepath.Join(o.dir, "ran"))
	return err == nil
}

func TestEngineKeepsThePromisesOfEngines(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, idle := range map[string]time.Duration{"Warm": 0, "Cold": -1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var o opened
			s := enginetest.Situations{
				Say: "say", Fail: "fail", Long: "long", Think: "think", Tool: "tool", Ask: "ask", Resume: "resume",
				Ran: o.ran, Bound: bridgetest.Bound,
			}
			if idle < 0 {
				s.Left = o.left
			}
			enginetest.Test(t, func(tb testing.TB) harness.Engine {
				return o.open(tb, acp.Options{Command: []string{self}, Base: program.Options{Env: []string{"HARNESS_TEST_ACP=agent"}, Idle: idle}})
			}, s)
		})
	}
}
