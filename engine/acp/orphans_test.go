package acp_test

import (
	"os"
	"testing"

	"harness"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
)

// TestNothingIsLeftHoweverItEnds kills an agent, or the engine's hold on it, at
// random times of a turn in which it runs commands that try to stay. LONG=1 does
// it 200 times.
func TestNothingIsLeftHoweverItEnds(t *testing.T) {
	t.Parallel()
	rounds := 5
	if os.Getenv("LONG") != "" {
		rounds = 200
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := bridgetest.Open(t, t.TempDir(), program.Options{Env: []string{"HARNESS_TEST_ACP=agent", "HARNESS_TEST_STORY=busy"}}, opener(self))
	s.Do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.FullAuto)}})
	bridgetest.Harass(s, rounds, 300)
}

// TestNothingIsLeftOfTheRealAgent is the same with OpenCode.
func TestNothingIsLeftOfTheRealAgent(t *testing.T) {
	bin := real(t)
	if os.Getenv("LONG") == "" {
		t.Skip("LONG=1 kills the real agent")
	}
	s := realStage(t, program.Options{}, `
when step 1 and tool bash
  call bash {"command":"sh -c 'trap \"\" TERM INT HUP; while :; do sleep 0.1; done' & setsid sleep 300 & sleep 30; echo over","description":"stay"}
else
  say Done.`, bin, "acp")
	s.Do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.FullAuto)}})
	bridgetest.Harass(s, 20, 20000)
}
