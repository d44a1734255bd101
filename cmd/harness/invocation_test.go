package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// invocation is the program with these arguments, in an environment that has
// nothing of the machine's user in it.
func invocation(t testing.TB, args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Env = []string{"HOME=/home/you", "TZ=UTC", "PATH=" + os.Getenv("PATH")}
	for _, a := range args {
		if token, ok := admission.Load(a); ok {
			cmd.Env = append(cmd.Env, "HARNESS_TOKEN="+token.(string))
		}
	}
	cmd.Dir = t.TempDir()
	return cmd
}

// admission has the token of every server that a test started, by its URL.
var admission sync.Map

// outcome is how an invocation ended.
type outcome struct {
	stdout, stderr string
	code           int
}

// invoke carries out a subcommand that ends by itself.
func invoke(t testing.TB, args ...string) outcome {
	t.Helper()
	return finish(t, invocation(t, args...))
}

// finish runs a command to its end.
func finish(t testing.TB, cmd *exec.Cmd) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer context.AfterFunc(ctx, func() { cmd.Process.Kill() })()
	cmd.Wait()
	if ctx.Err() != nil {
		t.Fatalf("%s did not end\n%s", cmd, stderr.String())
	}
	o := outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
	if strings.Contains(o.stderr, "panic") || strings.Contains(o.stderr, "goroutine ") {
		t.Fatalf("%s crashed:\n%s", cmd, o.stderr)
	}
	return o
}

// mustRun carries out a subcommand that must succeed, and returns its output.
func mustRun(t testing.TB, args ...string) string {
	t.Helper()
	o := invoke(t, args...)
	if o.code != 0 {
		t.Fatalf("harness %q: exit code %d\n%s", args, o.code, o.stderr)
	}
	return o.stdout
}

// mustFail carries out a subcommand that must fail with this exit code and
// these words, and nothing on standard output.
func mustFail(t testing.TB, code int, words []string, args ...string) string {
	t.Helper()
	o := invoke(t, args...)
	o.failed(t, code, words...)
	return o.stderr
}

func (o outcome) failed(t testing.TB, code int, words ...string) {
	t.Helper()
	if o.code != code || o.stdout != "" {
		t.Errorf("exit code %d, want %d\nstdout: %s\nstderr: %s", o.code, code, o.stdout, o.stderr)
	}
	for _, w := range words {
		if !strings.Contains(o.stderr, w) {
			t.Errorf("%q is missing from\n%s", w, o.stderr)
		}
	}
}
