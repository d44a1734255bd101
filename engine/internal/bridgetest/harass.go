package bridgetest

import (
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"time"

	"harness"
)

// Harass lets the session's program work, and at a random time of each round,
// within so many milliseconds, kills it, or one of its commands, or cancels the
// turn. When the engine is closed, no process is left. It does so in these
// rounds; LONG=1 does it 200 times.
func Harass(s *Stage, within, rounds int) {
	s.Helper()
	if os.Getenv("LONG") != "" {
		rounds = 200
	}
	s.Freely()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range rounds {
		n := s.Turns()
		s.Say("go")
		timer := time.NewTimer(time.Duration(random.IntN(within)) * time.Millisecond)
		<-timer.C // anywhere between its start and its commands
		how := random.IntN(3)
		switch live := s.Processes(); {
		case how == 0 && len(live) > 0:
			_ = syscall.Kill(live[len(live)-1], syscall.SIGKILL) // the program, or one of its commands
		case how == 1 && len(live) > 1:
			_ = syscall.Kill(live[len(live)/2], syscall.SIGKILL)
		}
		if s.Turns() == n {
			if _, err := s.Kernel.Do(s.Context(), s.ID, harness.Cancel{}); err != nil && !strings.Contains(err.Error(), "no turn") {
				s.Fatal(err)
			}
		}
		s.Ended(n + 1)
		if i%2 == 0 { // at times, a process that was interrupted goes on
			if err := s.Engine.Close(); err != nil {
				s.Fatal(err)
			}
			if left := s.Processes(); len(left) > 0 {
				s.Fatalf("round %d: processes are left: %v", i, left)
			}
			s.Reboot()
		}
	}
}
