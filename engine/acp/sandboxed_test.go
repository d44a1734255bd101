package acp_test

import (
	"os"
	"testing"

	"harness"
	"harness/engine/agenttest"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
	"harness/sandbox/bwrap"
)

// TestAnAgentRunsInNamespaces of a sandbox in which nothing but the workspace can
// be written, and so do its terminals.
func TestAnAgentRunsInNamespaces(t *testing.T) {
	t.Parallel()
	box := bwrap.New(nil)
	if _, err := box.Probe(t.Context()); err != nil {
		t.Skip(err)
	}
	s := faulty(t, "", program.Options{Sandbox: box})
	s.Do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.FullAuto)}})
	s.Ask("run echo made > made.txt; touch /outside 2>/dev/null && echo out; echo over")
	has(s, "sandbox_notice namespaces", `"output":"over\n"`)
	if b, err := os.ReadFile(s.Dir + "/made.txt"); err != nil || string(b) != "made\n" {
		t.Errorf("made.txt holds %q, %v", b, err)
	}
}

// TestTheRealAgent is all that OpenCode has to show, where nothing but loopback
// can be reached.
func TestTheRealAgent(t *testing.T) {
	agenttest.Installed(t, bridge.Package)
	if os.Getenv("LONG")+os.Getenv("UPDATE") == "" {
		t.Skip("LONG=1 plays all scenes with it; cmd/harness plays some in every run")
	}
	if !agenttest.Alone(t) {
		return
	}
	t.Run("Scenes", bridge.PlayReal)
	t.Run("RunsInNamespaces", runsInNamespaces)
	t.Run("NothingIsLeftHoweverItEnds", func(t *testing.T) {
		t.Parallel()
		bridgetest.Harass(bridge.Real(t, program.Options{}, `
when step 1 and tool bash
  call bash {"command":"`+bridgetest.Stay+`","description":"stay"}
else
  say Done.`), 8000)
	})
}

// runsInNamespaces and remembers there what was said.
func runsInNamespaces(t *testing.T) {
	t.Parallel()
	box := bwrap.New(nil)
	if _, err := box.Probe(t.Context()); err != nil {
		t.Skip(err)
	}
	s := bridge.Real(t, program.Options{Sandbox: box, Network: true}, `
when user "again"
  say Back.
when step 1 and tool bash
  call bash {"command":"echo made > made.txt; touch /outside 2>/dev/null && echo out; echo over","description":"make"}
else
  say Done.`)
	s.Do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.FullAuto)}})
	s.Ask("go") // it asks twice: about the command, and about the path outside
	s.Made("made.txt", "made\n")
	s.Has("sandbox_notice namespaces", `"over\n"`)
	s.Reboot()
	s.Ask("again")
	s.Told(-1, "echo made", "again")
}
