package agenttest

import (
	"errors"
	"strings"
	"testing"
)

// TestEveryPlatformHasItsPackages in one version of each program, by its
// checksum, as far as npm has them: OpenCode's for Linux on arm64 is an older
// one, and there is none for macOS.
func TestEveryPlatformHasItsPackages(t *testing.T) {
	t.Parallel()
	want := map[string]map[string]string{
		Claude:    {"linux-x64": "2.1.325", "linux-arm64": "2.1.325", "darwin-x64": "2.1.325", "darwin-arm64": "2.1.325"},
		Codex:     {"linux-x64": "0.166.0-linux-x64", "linux-arm64": "0.166.0-linux-arm64", "darwin-x64": "0.166.0-darwin-x64", "darwin-arm64": "0.166.0-darwin-arm64"},
		OpenCode:  {"linux-x64": "1.18.33", "linux-arm64": "1.18.18", "darwin-x64": "", "darwin-arm64": ""},
		ClaudeACP: {"linux-x64": "0.99.1", "darwin-arm64": "0.99.1"},
		Gemini:    {"linux-x64": "0.61.0", "darwin-arm64": "0.61.0"},
	}
	for program, platforms := range want {
		for on, version := range platforms {
			got, err := pinned(program, on)
			switch {
			case version == "" && !errors.Is(err, errUnpublished):
				t.Errorf("%s on %s is there: %+v, %v", program, on, got, err)
			case version != "" && (err != nil || got.Version != version || !strings.HasPrefix(got.Integrity, "sha512-")):
				t.Errorf("%s on %s: %+v, %v; want %s", program, on, got, err, version)
			}
		}
	}
}
