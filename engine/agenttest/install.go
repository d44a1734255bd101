package agenttest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Programs, by their paths among the npm packages. $PLATFORM is this one.
const (
	Claude   = "@anthropic-ai/claude-code-$PLATFORM/claude"
	Codex    = "@openai/codex-$PLATFORM/vendor/*/bin/codex"
	OpenCode = "opencode-$PLATFORM/bin/opencode"
)

// Find finds a program where make agents puts it: in the user's cache, in a
// directory named after the lock file.
func Find(name string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	if _, err := pinned(name, platform()); err != nil {
		return "", fmt.Errorf("%s on %s: %w", name, platform(), err)
	}
	sum := sha256.Sum256(lock)
	pattern := filepath.Join(cache, "harness-test", "agents-"+hex.EncodeToString(sum[:])[:12], "node_modules", strings.ReplaceAll(name, "$PLATFORM", platform()))
	found, err := filepath.Glob(pattern)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("no %s; make agents installs it", pattern)
	}
	if err != nil {
		return "", err
	}
	return found[0], nil
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
