package ts_test

import (
	"os"
	"os/exec"
	"regexp"
	"testing"
)

// The package's own tests, written for node:test, against a real server: a
// process that is killed and comes back. The server is built from this module.
func TestTheClient(t *testing.T) {
	t.Parallel()
	node, server := findNode(t), buildServer(t)
	cmd := exec.Command(node, "test/run.mjs", t.TempDir())
	cmd.Env = append(os.Environ(), "HARNESS_TEST_BIN="+server)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !regexp.MustCompile(`(?m)^ℹ fail 0$`).Match(out) || !regexp.MustCompile(`(?m)^ℹ skipped 0$`).Match(out) {
		t.Errorf("not every test ran:\n%s", out)
	}
	t.Logf("%s", out)
}

// Everything is well typed, and what types.test-d.ts promises holds.
func TestItIsWellTyped(t *testing.T) {
	t.Parallel()
	run(t, "node_modules/typescript/bin/tsc", "-p", ".")
}
