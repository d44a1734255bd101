package claude_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
)

// version is the one that the recordings are of.
const version = "2.1.325"

// real finds the program, or installs it where later runs find it: the package
// of this platform alone, without its scripts. A test that needs it is skipped
// where it cannot be had, and fails there if CI and HARNESS_REAL_AGENTS say that
// it must be.
func real(tb testing.TB) string {
	tb.Helper()
	path, err := install()
	if err == nil {
		return path
	}
	if os.Getenv("CI") != "" && os.Getenv("HARNESS_REAL_AGENTS") == "1" {
		tb.Fatalf("claude %s: %v", version, err)
	}
	tb.Skipf("claude %s: %v", version, err)
	return ""
}

var install = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	dir := filepath.Join(cache, "harness-test", "claude-code-"+version)
	pkg := "@anthropic-ai/claude-code-" + runtime.GOOS + "-" + arch
	path := filepath.Join(dir, "node_modules", filepath.FromSlash(pkg), "claude")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if os.Getenv("HARNESS_REAL_AGENTS") != "1" {
		return "", &os.PathError{Op: "find (HARNESS_REAL_AGENTS=1 installs it)", Path: path, Err: os.ErrNotExist}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	cmd := exec.Command("npm", "install", "--prefix", dir, "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", pkg+"@"+version)
	cmd.WaitDelay = 5 * time.Minute
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", &os.PathError{Op: "npm install", Path: pkg + ": " + string(out), Err: err}
	}
	_, err = os.Stat(path)
	return path, err
})
