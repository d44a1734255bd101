//go:build linux

// Package sandboxtest is what every sandbox passes.
//
// What must hold in all of them (files, streams, ends of processes) is tested
// outright. What a sandbox may or may not enforce is tested against its own
// words: an attack on something that its Isolation enforces must fail, and one
// on something that it lacks must succeed, or the words are wrong.
package sandboxtest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"harness"
)

// Suite is a sandbox under test.
type Suite struct {
	// Open makes the sandbox. probe is a static program that is also its shim.
	Open func(t testing.TB, probe string) harness.Sandbox
	// Rounds is how many runs with random kills are affordable; LONG makes it
	// a hundred times as many.
	Rounds int
	// Only names the parts that root runs, if others show the rest; LONG runs all.
	Only []string
}

// Trees are the parts that look different without control groups.
var Trees = []string{"Limits", "Bombs", "KillTree", "RandomKillsLeaveNothing"}

// Test runs the suite.
func (s Suite) Test(t *testing.T) {
	b := s.bench(t)
	if nonce := os.Getenv("HARNESS_TEST_CRASH"); nonce != "" {
		b.crash(t, nonce, os.Getenv("HARNESS_TEST_HOW"))
	}
	for _, part := range []struct {
		name string
		run  func(*bench, *testing.T)
	}{
		{"Files", (*bench).files},
		{"Streams", (*bench).streams},
		{"Ends", (*bench).ends},
		{"Surroundings", (*bench).surroundings},
		{"Limits", (*bench).limits},
		{"Bombs", (*bench).bombs},
		{"KillTree", (*bench).killTree},
		{"Attacks", (*bench).attacks},
		{"RandomKillsLeaveNothing", (*bench).randomKills},
	} {
		if s.Only != nil && !slices.Contains(s.Only, part.name) && os.Geteuid() == 0 && os.Getenv("LONG") == "" {
			continue
		}
		t.Run(part.name, func(t *testing.T) { part.run(b, t) })
	}
}

// bench is a sandbox and the program that looks at it from inside.
type bench struct {
	sandbox harness.Sandbox
	again   func(testing.TB) harness.Sandbox // makes another of the kind
	probe   string
	holds   harness.Isolation
	rounds  int // of the suite
}

func (s Suite) bench(t testing.TB) *bench {
	t.Helper()
	b := &bench{probe: Probe(t), rounds: s.Rounds}
	b.again = func(t testing.TB) harness.Sandbox { return s.Open(t, b.probe) }
	b.sandbox = b.again(t)
	var err error
	if b.holds, err = b.sandbox.Probe(t.Context()); err != nil {
		if os.Getenv("CI") == "" {
			t.Skipf("the sandbox does not work here: %v", err)
		}
		t.Fatalf("probe: %v", err)
	}
	var all, said []harness.Guarantee
	for _, g := range harness.Guarantees {
		all = append(all, g.Name)
	}
	said = slices.Concat(b.holds.Enforces, b.holds.Lacks)
	slices.Sort(said)
	if slices.Sort(all); !slices.Equal(said, all) {
		t.Fatalf("probe names the guarantees %q, want each of %q once", said, all)
	}
	t.Logf("%s; lacks %v; %s", b.holds.Kind, b.holds.Lacks, b.holds.Reason)
	return b
}

// enforces reports whether the sandbox claims a guarantee.
func (b *bench) enforces(g harness.Guarantee) bool { return slices.Contains(b.holds.Enforces, g) }

// Probe builds the program that runs in sandboxes, without C, and returns its path.
func Probe(t testing.TB) string {
	t.Helper()
	if built := os.Getenv("HARNESS_TEST_PROBE"); built != "" {
		return built
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		t.Fatalf("find the module: %v", err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "probe")
	build := exec.Command("go", "run", "-exec", "cp", "./sandbox/sandboxtest/testdata/probe", path) // it keeps what it links
	build.Dir, build.Env = strings.TrimSpace(string(root)), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the probe: %v\n%s", err, out)
	}
	return path
}

// patience is how long a test waits for what takes milliseconds.
const patience = 30 * time.Second

// path is the PATH of processes under test.
const path = "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"

// open opens a workspace of a fresh directory.
func (b *bench) open(t testing.TB, change ...func(*harness.WorkspaceSpec)) (harness.Workspace, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	spec := harness.WorkspaceSpec{Session: "ses_test", Directory: dir, ReadOnly: []string{b.probe}, Env: []string{path}}
	for _, c := range change {
		c(&spec)
	}
	w, err := b.sandbox.Open(t.Context(), spec)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return w, dir
}

type result struct {
	harness.Exit
	out, err string
}

// run runs a command to its end.
func run(t testing.TB, w harness.Workspace, args ...string) result {
	t.Helper()
	return runProcess(t, w, harness.Process{Args: args})
}

func sh(t testing.TB, w harness.Workspace, script string) result {
	t.Helper()
	return run(t, w, "/bin/sh", "-c", script)
}

func runProcess(t testing.TB, w harness.Workspace, p harness.Process) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out, errs bytes.Buffer
	if p.Stdout == nil {
		p.Stdout = &out
	}
	if p.Stderr == nil {
		p.Stderr = &errs
	}
	c, err := w.Start(ctx, p)
	if err != nil {
		t.Fatalf("start %q: %v\n%s", p.Args, err, errs.String())
	}
	exit, err := c.Wait()
	if err != nil {
		t.Fatalf("wait for %q: %v\n%s", p.Args, err, errs.String())
	}
	return result{exit, out.String(), errs.String()}
}

// until waits for a condition.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for pause := time.NewTicker(2 * time.Millisecond); !ok(); <-pause.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for %s", patience, what)
		}
	}
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(name string) string {
	b, _ := os.ReadFile(name)
	return string(b)
}
