package ts_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// findNode is the path of node. Without it, or without the packages, a test is
// skipped, or fails where CI=true.
func findNode(tb testing.TB) string {
	tb.Helper()
	node, err := exec.LookPath("node")
	why := "node is not installed"
	if err == nil {
		_, err = os.Stat("node_modules/.package-lock.json")
		why = "the packages are not installed: npm ci --prefix client/ts"
	}
	if err == nil {
		return node
	}
	if os.Getenv("CI") == "true" {
		tb.Fatal(why)
	}
	tb.Skip(why)
	return ""
}

// run is node's output.
func run(tb testing.TB, args ...string) []byte {
	tb.Helper()
	out, err := exec.Command(findNode(tb), args...).CombinedOutput()
	if err != nil {
		tb.Fatalf("node %v: %v\n%s", args, err, out)
	}
	return out
}

// buildServer is the path of a server made from this module.
func buildServer(tb testing.TB) string {
	tb.Helper()
	server := filepath.Join(tb.TempDir(), "harness")
	// go run keeps what it links; go build would link again every time.
	if out, err := exec.Command("go", "run", "-exec", "cp", "../../cmd/harness", server).CombinedOutput(); err != nil {
		tb.Fatalf("build the server: %v\n%s", err, out)
	}
	return server
}

func absolute(tb testing.TB, name string) string {
	tb.Helper()
	path, err := filepath.Abs(name)
	if err != nil {
		tb.Fatal(err)
	}
	return path
}
