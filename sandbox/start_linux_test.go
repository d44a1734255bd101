package sandbox_test

import (
	"context"
	"os/exec"
	"slices"
	"testing"
	"time"

	"harness"
	"harness/sandbox/bwrap"
	"harness/sandbox/landlock"
	"harness/sandbox/local"
	"harness/sandbox/sandboxtest"
)

// BenchmarkStart runs "true" from its start to its end, in a workspace that is
// open: plainly, and in each sandbox.
func BenchmarkStart(b *testing.B) {
	b.Run("exec", func(b *testing.B) {
		var took []time.Duration
		for b.Loop() {
			begin := time.Now()
			if err := exec.Command("/bin/true").Run(); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(begin))
		}
		report(b, took)
	})
	probe := sandboxtest.Probe(b)
	for _, s := range []struct {
		name    string
		sandbox harness.Sandbox
	}{
		{"local", local.New(&local.Options{Shim: probe})},
		{"landlock", landlock.New(&landlock.Options{Shim: probe})},
		{"bwrap", bwrap.New(nil)},
	} {
		b.Run(s.name, func(b *testing.B) { start(b, s.sandbox) })
	}
}

func start(b *testing.B, s harness.Sandbox) {
	if _, err := s.Probe(b.Context()); err != nil {
		b.Skip(err)
	}
	w, err := s.Open(b.Context(), harness.WorkspaceSpec{Directory: b.TempDir(), Env: []string{"PATH=/usr/bin:/bin"}})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	var took []time.Duration
	for b.Loop() {
		begin := time.Now()
		c, err := w.Start(context.Background(), harness.Process{Args: []string{"/bin/true"}})
		if err != nil {
			b.Fatal(err)
		}
		if exit, err := c.Wait(); err != nil || exit.Code != 0 {
			b.Fatalf("%+v, %v", exit, err)
		}
		took = append(took, time.Since(begin))
	}
	report(b, took)
}

// report adds what a busy machine distorts least.
func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(took[0].Seconds()*1000, "ms-min")
	b.ReportMetric(took[len(took)/2].Seconds()*1000, "ms-p50")
}
