//go:build linux

package sandboxtest

import (
	"context"
	"io"
	"slices"
	"testing"
	"time"

	"harness"
)

// bomb is something that tries to use a machine up, or to stay.
type bomb struct {
	name   string
	needs  []harness.Guarantee // without these it would
	kinds  []string            // where it is bounded; nil is everywhere
	limits harness.Limits
	args   func(probe, mark string) []string
	// lit is after how many lines of output it is killed; zero is never: a limit
	// must end it.
	lit  int
	want harness.ExitCause
}

// bombs are thrown at each sandbox that says it can stand them.
var bombs = []bomb{
	{
		"Forks", []harness.Guarantee{harness.LimitPids}, nil, harness.Limits{Pids: 80},
		func(_, mark string) []string {
			// A shell that cannot fork ends, so the first one does not: it reads.
			return []string{"/bin/sh", "-c", "f() { echo; while :; do f & done; }; f & read x", mark}
		},
		60, harness.ExitCancelled,
	},
	{
		"Memory", []harness.Guarantee{harness.LimitMemory}, nil, harness.Limits{Memory: 192 << 20},
		func(probe, mark string) []string {
			return []string{"/bin/sh", "-c", "for i in 1 2 3 4; do " + probe + " allocate 4000000000 & done; wait", mark}
		},
		0, harness.ExitMemory,
	},
	{ // what is not the workspace is memory there
		"ThrowAwayDisk", []harness.Guarantee{harness.LimitMemory}, boxed, harness.Limits{Memory: 96 << 20},
		func(_, mark string) []string { return []string{"/bin/sh", "-c", "cat /dev/zero >/tmp/full", mark} },
		0, harness.ExitMemory,
	},
	{
		"Output", nil, nil, harness.Limits{Output: 1 << 20},
		func(probe, mark string) []string { return []string{probe, "write", "10000000000", mark} },
		0, harness.ExitOutput,
	},
	{
		"Files", nil, nil, harness.Limits{WallTime: 300 * time.Millisecond},
		func(probe, mark string) []string { return []string{probe, "files", mark, "1000000"} },
		0, harness.ExitWallTime,
	},
	{
		"Tree", nil, nil, harness.Limits{},
		func(probe, mark string) []string { return []string{probe, "tree", mark} },
		treeSize, harness.ExitCancelled,
	},
	{
		"Deaf", nil, nil, harness.Limits{WallTime: 300 * time.Millisecond},
		func(probe, mark string) []string { return []string{probe, "hold", mark, "deaf"} },
		0, harness.ExitWallTime,
	},
}

func (b *bench) bombs(t *testing.T) {
	for _, row := range bombs {
		t.Run(row.name, func(t *testing.T) {
			for _, g := range row.needs {
				if !b.enforces(g) {
					t.Skipf("the sandbox says that it lacks %s: %s", g, b.holds.Reason)
				}
			}
			if row.kinds != nil && !slices.Contains(row.kinds, b.holds.Kind) {
				t.Skip("it is not bounded there, and the page says so")
			}
			b.throw(t, row)
		})
	}
}

func (b *bench) throw(t *testing.T, row bomb) {
	w, _ := b.open(t, func(s *harness.WorkspaceSpec) { s.Limits = row.limits })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	mark := nonce()
	in, say := io.Pipe()
	defer say.Close()
	lit := &lines{want: row.lit, all: make(chan struct{})}
	var out counter
	c, err := w.Start(ctx, harness.Process{Args: row.args(b.probe, mark), Stdin: in, Stdout: io.MultiWriter(&out, lit)})
	if err != nil {
		t.Fatal(err)
	}
	if row.lit > 0 {
		select {
		case <-lit.all:
		case <-time.After(patience):
			t.Fatalf("%d lines after %s", row.lit, patience)
		}
		cancel()
	}
	exit, err := c.Wait()
	// A container's first process may be killed, too, and then nobody counts.
	uncounted := row.want == harness.ExitMemory && b.holds.Kind == "container" && exit == harness.Exit{Code: 137}
	if err != nil || exit.Cause != row.want && !uncounted {
		t.Errorf("wait: %+v, %v, want the cause %s", exit, err, row.want)
	}
	if n := survivors(mark); n != 0 {
		t.Errorf("%d processes are left", n)
	}
	if row.limits.Output > 0 && int64(out) != row.limits.Output {
		t.Errorf("%d bytes, want %d", out, row.limits.Output)
	}
}
