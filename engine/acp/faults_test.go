package acp_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
)

func faulty(t *testing.T, how string, opts program.Options) *bridgetest.Stage {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	opts.Env = []string{"HARNESS_TEST_ACP=agent", "HARNESS_TEST_STORY=" + how}
	return bridgetest.Open(t, t.TempDir(), opts, opener(self))
}

// TestAProgramThatMisbehavesEndsTheTurnNotTheSession lets the program go wrong
// in each way; afterwards the session takes another prompt.
func TestAProgramThatMisbehavesEndsTheTurnNotTheSession(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]string{
		"garbage": "a line that is no message",
		"huge":    "a line of more than 33554432 bytes",
		"silent":  "the program has said nothing for 300ms",
		"exit0":   "the program ended with 0 before the turn was over",
		"exit1":   "no more",
		"stderr":  "the program ended with 3: out of cheese",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			opts := program.Options{}
			if how == "silent" {
				opts.Silence = 300 * time.Millisecond
			}
			s := faulty(t, how, opts)
			s.Ask("wrong")
			if log := bridgetest.Tell(s.Events()); !strings.Contains(log, want) || !strings.Contains(log, "turn_end error") {
				t.Errorf("the log does not say %q:\n%s", want, log)
			}
			s.Ask("right")
			if log := bridgetest.Tell(s.Events()); !strings.Contains(log, "turn_end completed") {
				t.Errorf("the session is not alive:\n%s", log)
			}
		})
	}
}

// TestWhatIsUnknownIsCounted also shows that it hurts nobody.
func TestWhatIsUnknownIsCounted(t *testing.T) {
	t.Parallel()
	s := faulty(t, "unknown", program.Options{})
	s.Ask("wrong")
	for _, e := range s.Events() {
		if d, ok := e.Payload.(*harness.TransportDiagnostic); ok && d.Kind == "unknown_messages" {
			if d.FailureCount != 4 || d.Reason != "_brand/new ×1, _brand/request ×1, update brand_new ×2" {
				t.Errorf("the diagnostic is %+v", d)
			}
			return
		}
	}
	t.Errorf("nobody said so:\n%s", bridgetest.Tell(s.Events()))
}

// TestAProgramThatDoesNotStopIsKilled bounds a cancel.
func TestAProgramThatDoesNotStopIsKilled(t *testing.T) {
	t.Parallel()
	s := faulty(t, "deaf", program.Options{Interrupt: 200 * time.Millisecond})
	s.Say("wrong")
	s.Saw("token Half")
	s.Do(harness.Cancel{})
	s.Ended(1)
	if log := bridgetest.Tell(s.Events()); !strings.Contains(log, "turn_end cancelled") {
		t.Errorf("the turn was not cancelled:\n%s", log)
	}
	s.Ask("right")
}

// TestAnIdleProcessIsStopped and the next turn has another.
func TestAnIdleProcessIsStopped(t *testing.T) {
	t.Parallel()
	s := faulty(t, "", program.Options{Idle: 50 * time.Millisecond})
	s.Ask("right")
	s.Gone()
	s.Ask("right")
}

// TestAWarmProcessIsUsedAgain and ends with the engine.
func TestAWarmProcessIsUsedAgain(t *testing.T) {
	t.Parallel()
	s := faulty(t, "", program.Options{})
	s.Ask("right")
	first := s.Processes()
	s.Ask("right")
	if second := s.Processes(); len(first) == 0 || fmt.Sprint(first) != fmt.Sprint(second) {
		t.Errorf("processes were %v, are %v", first, second)
	}
	if err := s.Engine.Close(); err != nil {
		t.Error(err)
	}
	if left := s.Processes(); len(left) > 0 {
		t.Errorf("after Close, there are %v", left)
	}
}

// TestWhatACommandLeftEndsWithTheTurn although the program could have been kept.
func TestWhatACommandLeftEndsWithTheTurn(t *testing.T) {
	t.Parallel()
	s := faulty(t, "stray", program.Options{})
	s.Ask("right")
	s.Ask("wrong")
	if left := s.Processes(); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	s.Ask("right")
}
