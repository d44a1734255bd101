package acp_test

import (
	"os"
	"testing"

	"harness"
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

// TestTheRealAgentRunsInNamespaces and remembers there what was said.
func TestTheRealAgentRunsInNamespaces(t *testing.T) {
	bin := real(t)
	if os.Getenv("LONG") == "" {
		t.Skip("LONG=1 runs the real agent in namespaces")
	}
	box := bwrap.New(nil)
	if _, err := box.Probe(t.Context()); err != nil {
		t.Skip(err)
	}
	s := realStage(t, program.Options{Sandbox: box, Network: true}, `
when user "again"
  say Back.
when step 1 and tool bash
  call bash {"command":"echo made > made.txt; touch /outside 2>/dev/null && echo out; echo over","description":"make"}
else
  say Done.`, bin, "acp")
	s.Do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.FullAuto)}})
	s.Ask("go") // it asks twice: about the command, and about the path outside
	s.Made("made.txt", "made\n")
	has(s, "sandbox_notice namespaces", `"over\n"`)
	s.Reboot()
	s.Ask("again")
	s.Told(-1, "echo made", "again")
}
