package acp_test

import (
	"os"
	"testing"

	"harness"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
)

// TestAnAgentRunsInNamespaces of a sandbox in which nothing but the workspace can
// be written, and so do its terminals.
func TestAnAgentRunsInNamespaces(t *testing.T) {
	t.Parallel()
	s := faulty(t, "", program.Options{Sandbox: bridgetest.Walls(t)})
	s.Do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.FullAuto)}})
	s.Ask("run echo made > made.txt; touch /outside 2>/dev/null && echo out; echo over")
	has(s, "sandbox_notice namespaces", `"output":"over\n"`)
	if b, err := os.ReadFile(s.Dir + "/made.txt"); err != nil || string(b) != "made\n" {
		t.Errorf("made.txt holds %q, %v", b, err)
	}
}

// TestTheRealAgent is about OpenCode.
func TestTheRealAgent(t *testing.T) {
	if os.Getenv("LONG")+os.Getenv("UPDATE") == "" {
		t.Skip("LONG=1 plays all scenes with it; cmd/harness plays some in every run")
	}
	bridge.Alone(t, nil)
}

// TestNothingIsLeftOfTheRealAgent: two rounds in CI, where its seconds are worth
// it; the stand-in has more in every run, and LONG=1 has 200 of each.
func TestNothingIsLeftOfTheRealAgent(t *testing.T) {
	if os.Getenv("CI") == "" || os.Getenv("LONG") != "" {
		t.Skip("CI harasses it for two rounds, LONG=1 for 200 with all scenes")
	}
	bridge.Orphans(t, 2)
}

// TestItRunsInNamespaces of ours, and its own sandbox is off there.
func TestItRunsInNamespaces(t *testing.T) {
	t.Parallel()
	bridge.Fenced(t, "a sandbox of its own cannot nest in it")
}
