package bridgetest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"harness"
	"harness/engine/agenttest"
	"harness/engine/enginetest"
	"harness/engine/internal/program"
	"harness/model/modeltest"
	"harness/sandbox/local"
)

// placed runs turns in a directory, as a kernel would.
type placed struct {
	Engine
	dir string
}

func (p placed) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	t.Directory = p.dir
	return p.Engine.Run(ctx, t, h)
}

// Place is a directory in which engines run without a kernel, and what they
// leave there.
type Place struct {
	tb   testing.TB
	mark string
	dir  string
}

// Place opens an engine in a place of its own.
func (b *Bridge) Place(tb testing.TB, command []string, base program.Options) (Engine, *Place) {
	tb.Helper()
	p := &Place{tb, Mark(tb), tb.TempDir()}
	base.Sandbox = local.New(&local.Options{NoCgroup: true})
	base.Env = append(slices.Clone(base.Env), p.mark, "GORACE=atexit_sleep_ms=0")
	e := b.Open(command, base)
	tb.Cleanup(func() { _ = e.Close() })
	return placed{e, p.dir}, p
}

// Processes are those that live.
func (p *Place) Processes() []int { return Processes(p.tb, p.mark) }

// Promises runs the suite of engines: with a process that is kept, and with one
// for each turn, which leaves nothing.
func (b *Bridge) Promises(t *testing.T, s enginetest.Situations) {
	for name, idle := range map[string]time.Duration{"Warm": 0, "Cold": -1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := program.Options{Idle: idle, Env: []string{"HARNESS_TEST_ROLE=conform"}}
			b.promises(t, []string{Self(t)}, base, s)
		})
	}
}

// RealPromises is the suite with the real program and a model that brings it
// into the situations, with LONG=1: it takes minutes.
func (b *Bridge) RealPromises(t *testing.T, model string, s enginetest.Situations) {
	if os.Getenv("LONG") == "" {
		t.Skip("LONG=1 runs the suite with the real program")
	}
	args, env := b.Behind(modeltest.Serve(t, model).URL)
	b.promises(t, slices.Concat(agenttest.Command(t, b.Package), b.Args, args), program.Options{Idle: -1, Env: env}, s)
}

func (b *Bridge) promises(t *testing.T, command []string, base program.Options, s enginetest.Situations) {
	t.Helper()
	var p *Place
	s.Bound = 2 * Bound
	s.Ran = func() bool {
		_, err := os.Stat(filepath.Join(p.dir, "ran"))
		return err == nil
	}
	if base.Idle < 0 {
		s.Left = func() (all []string) {
			for _, pid := range p.Processes() {
				all = append(all, strconv.Itoa(pid))
			}
			return all
		}
	}
	enginetest.Test(t, func(tb testing.TB) harness.Engine {
		var e Engine
		e, p = b.Place(tb, command, base)
		return e
	}, s)
}
