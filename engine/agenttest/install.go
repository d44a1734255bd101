package agenttest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Programs, by their paths among the npm packages. $PLATFORM is this one. Those
// in JavaScript are run by Node, see [Command].
const (
	Claude    = "@anthropic-ai/claude-code-$PLATFORM/claude"
	Codex     = "@openai/codex-$PLATFORM/vendor/*/bin/codex"
	OpenCode  = "opencode-$PLATFORM/bin/opencode"
	ClaudeACP = "@agentclientprotocol/claude-agent-acp/dist/index.js"
	Gemini    = "@google/gemini-cli/bundle/gemini.js"
)

// Find finds a program where make agents puts it: in the user's cache, in a
// directory named after the lock file that has it.
func Find(name string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	if _, err := pinned(name, platform()); err != nil {
		return "", fmt.Errorf("%s on %s: %w", name, platform(), err)
	}
	kind, lock := lockOf(name)
	sum := sha256.Sum256(lock)
	pattern := filepath.Join(cache, "harness-test", kind+"-"+hex.EncodeToString(sum[:])[:12], "node_modules", strings.ReplaceAll(name, "$PLATFORM", platform()))
	found, err := filepath.Glob(pattern)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("no %s; make agents installs it", pattern)
	}
	if err != nil {
		return "", err
	}
	return found[0], nil
}

// Command is how a program is run.
func Command(tb testing.TB, name string) []string {
	tb.Helper()
	path := Installed(tb, name)
	if !inNode(name) {
		return []string{path}
	}
	node, err := exec.LookPath("node")
	switch {
	case err != nil && os.Getenv("CI") != "":
		tb.Fatal(err)
	case err != nil:
		tb.Skip(err)
	}
	return []string{node, path}
}

// Installed is the program. Where it is missing, a test that needs it is skipped;
// with CI it fails, unless nobody can have it on this platform.
func Installed(tb testing.TB, name string) string {
	tb.Helper()
	path, err := Find(name)
	switch {
	case err != nil && os.Getenv("CI") != "" && !errors.Is(err, errUnpublished):
		tb.Fatal(err)
	case err != nil:
		tb.Skip(err)
	}
	return path
}
