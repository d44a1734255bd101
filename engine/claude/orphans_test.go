package claude_test

import (
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"harness"
	"harness/engine/claude"
)

// TestNothingIsLeftHoweverItEnds kills the program, or the engine's hold on it,
// at random times of a turn in which it runs commands that try to stay. LONG=1
// does it 200 times.
func TestNothingIsLeftHoweverItEnds(t *testing.T) {
	program := real(t)
	rounds := 5
	if os.Getenv("LONG") != "" {
		rounds = 200
	}
	const model = `
when step 1
  call Bash {"command":"sh -c 'trap \"\" TERM INT HUP; while :; do sleep 0.1; done' & setsid sleep 300 & sleep 30; echo over"}
else
  say Done.`
	s := realStage(t, claude.Options{Program: []string{program}}, model)
	s.do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.FullAuto)}})
	random := rand.New(rand.NewPCG(1, 2))
	for i := range rounds {
		n := s.turns()
		s.say("go")
		timer := time.NewTimer(time.Duration(random.IntN(2500)) * time.Millisecond)
		<-timer.C // anywhere between its start and its commands
		how := random.IntN(3)
		switch live := s.processes(); {
		case how == 0 && len(live) > 0:
			_ = syscall.Kill(live[len(live)-1], syscall.SIGKILL) // the program, or one of its commands
		case how == 1 && len(live) > 1:
			_ = syscall.Kill(live[len(live)/2], syscall.SIGKILL)
		}
		if s.turns() == n {
			if _, err := s.k.Do(t.Context(), s.id, harness.Cancel{}); err != nil && !strings.Contains(err.Error(), "no turn") {
				t.Fatal(err)
			}
		}
		s.ended(n + 1)
		if i%2 == 0 { // at times, a process that was interrupted goes on
			if err := s.engine.Close(); err != nil {
				t.Fatal(err)
			}
			if left := s.processes(); len(left) > 0 {
				t.Fatalf("round %d: processes are left: %v", i, left)
			}
			s.reboot()
		}
	}
}
