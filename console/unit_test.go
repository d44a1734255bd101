package console

import (
	"os"
	"os/exec"
	"regexp"
	"testing"
)

// What is pure of the page has tests of its own, written for node:test. Without
// node or the packages they are skipped, and fail where CI=true.
func TestWhatIsPure(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat("node_modules/.package-lock.json")
	}
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("run make deps: %v", err)
	}
	out, err := exec.Command(node, "test/run.mjs", t.TempDir()).CombinedOutput()
	if err != nil || !regexp.MustCompile(`(?m)^ℹ skipped 0$`).Match(out) {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}
