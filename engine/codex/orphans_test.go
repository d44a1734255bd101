package codex_test

import (
	"os"
	"testing"

	"harness"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
)

// TestNothingIsLeftHoweverItEnds kills the program, or the engine's hold on it,
// at random times of a turn in which it runs commands that try to stay. LONG=1
// does it 200 times.
func TestNothingIsLeftHoweverItEnds(t *testing.T) {
	bin := real(t)
	rounds := 5
	if os.Getenv("LONG") != "" {
		rounds = 200
	}
	s := realStage(t, program.Options{}, `
when step 1
  call exec_command {"cmd":"sh -c 'trap \"\" TERM INT HUP; while :; do sleep 0.1; done' & setsid sleep 300 & sleep 30; echo over","yield_time_ms":20000}
else
  say Done.`, bin)
	s.Do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.FullAuto)}})
	bridgetest.Harass(s, rounds, 1500)
}
