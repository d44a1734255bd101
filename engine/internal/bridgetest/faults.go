package bridgetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/engine/internal/program"
)

// Faults has a program that says "Half" to each prompt and does well, but for
// "wrong": then it goes wrong in the way that HARNESS_TEST_STORY says. Each ends
// the turn and not the session, or does no harm at all. refusal is what it says
// when it refuses, unknown what it says that nobody knows.
func (b *Bridge) Faults(t *testing.T, refusal, unknown string) {
	faulty := func(t *testing.T, how string, opts program.Options) *Stage {
		t.Helper()
		return b.As(t, "fault", opts, "HARNESS_TEST_STORY="+how)
	}
	for how, want := range map[string]string{
		"garbage": "a line that is no message",
		"huge":    "a line of more than 33554432 bytes",
		"silent":  "the program has said nothing for 300ms",
		"exit0":   "the program ended with 0 before the turn was over",
		"exit1":   refusal,
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
			s.Has(want, "turn_end error")
			if how == "silent" { // a busy machine is silent, too
				s.opts.Silence = 0
				s.Reboot()
			}
			s.Ask("right")
			s.Has("turn_end completed")
		})
	}
	t.Run("what is unknown is counted", func(t *testing.T) {
		t.Parallel()
		s := faulty(t, "unknown", program.Options{})
		s.Ask("wrong")
		for _, e := range s.Events() {
			if d, ok := e.Payload.(*harness.TransportDiagnostic); ok && d.Kind == "unknown_messages" {
				if got := fmt.Sprintf("%d: %s", d.FailureCount, d.Reason); got != unknown {
					t.Errorf("the diagnostic is %q, want %q", got, unknown)
				}
				return
			}
		}
		t.Errorf("nobody said so:\n%s", Tell(s.Events()))
	})
	t.Run("a program that does not stop is killed", func(t *testing.T) {
		t.Parallel()
		s := faulty(t, "deaf", program.Options{Interrupt: 200 * time.Millisecond})
		s.Say("wrong")
		s.Saw("token Half")
		s.Do(harness.Cancel{})
		s.Ended(1)
		s.Has("turn_end cancelled")
		s.Ask("right")
	})
	t.Run("an idle process is stopped", func(t *testing.T) {
		t.Parallel()
		s := faulty(t, "", program.Options{Idle: 50 * time.Millisecond})
		s.Ask("right")
		s.Gone()
		s.Ask("right")
	})
	t.Run("a warm process is used again", func(t *testing.T) {
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
		s.None()
	})
	t.Run("what a command left ends with the turn", func(t *testing.T) {
		t.Parallel()
		s := faulty(t, "stray", program.Options{})
		s.Ask("right")
		s.Ask("wrong")
		s.None()
		s.Ask("right")
	})
}

// Has checks that the log has the words.
func (s *Stage) Has(words ...string) {
	s.Helper()
	log := Tell(s.Events())
	for _, w := range words {
		if !strings.Contains(log, w) {
			s.Errorf("the log does not say %q:\n%s", w, log)
		}
	}
}

// None checks that no process of the stage lives.
func (s *Stage) None() {
	s.Helper()
	if left := s.Processes(); len(left) > 0 {
		s.Errorf("processes are left: %v", left)
	}
}
