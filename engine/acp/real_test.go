package acp_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"harness/engine/acp"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
	"harness/model/modeltest"
)

// version is the one that the recordings are of.
const version = "1.18.33"

// real finds OpenCode, or installs it where later runs find it: the package of
// this platform alone (60 MB), without its scripts. A test that needs it is
// skipped where it cannot be had, and fails there if HARNESS_REAL_AGENTS=1.
func real(tb testing.TB) string {
	tb.Helper()
	path, err := install()
	if err == nil {
		return path
	}
	if os.Getenv("HARNESS_REAL_AGENTS") == "1" {
		tb.Fatalf("opencode %s: %v", version, err)
	}
	tb.Skipf("opencode %s: %v", version, err)
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
	dir := filepath.Join(cache, "harness-test", "opencode-"+version)
	pkg := "opencode-" + runtime.GOOS + "-" + arch
	path := filepath.Join(dir, "node_modules", pkg, "bin", "opencode")
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

// scripted is the environment in which a server at url is the agent's model, and
// nobody else is called.
func scripted(tb testing.TB, url string) []string {
	tb.Helper()
	type m = map[string]any
	config, err := json.Marshal(m{
		"provider": m{"scripted": m{
			"npm": "@ai-sdk/openai-compatible", "name": "Scripted", "options": m{"baseURL": url + "/v1", "apiKey": "x"},
			"models": m{
				"mock":  m{"name": "Mock", "tool_call": true, "reasoning": true, "limit": m{"context": 200000, "output": 8000}},
				"other": m{"name": "Other", "tool_call": true, "limit": m{"context": 200000, "output": 8000}},
			},
		}},
		"model": "scripted/mock", "small_model": "scripted/mock", "autoupdate": false, "share": "manual", "agent": m{"title": m{"disable": true}},
		"permission": m{"bash": "ask", "edit": "ask", "webfetch": "deny"},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return []string{
		"OPENCODE_CONFIG_CONTENT=" + string(config), "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "npm_config_registry=http://127.0.0.1:9/", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost",
	}
}

// opener makes engines of the given agent.
func opener(command ...string) func(program.Options) bridgetest.Engine {
	return func(p program.Options) bridgetest.Engine { return acp.New(acp.Options{Command: command, Base: p}) }
}

// realStage is a stage with a model of its own behind the agent.
func realStage(tb testing.TB, opts program.Options, script string, command ...string) *bridgetest.Stage {
	tb.Helper()
	dir := tb.TempDir()
	m := modeltest.Serve(tb, strings.ReplaceAll(script, "$WORK", dir))
	opts.Env = slices.Concat(opts.Env, scripted(tb, m.URL))
	s := bridgetest.Open(tb, dir, opts, opener(command...))
	s.Model = m
	return s
}
