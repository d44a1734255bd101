package codex_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"harness"
	"harness/engine/enginetest"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
)

// again is a program that says what it was told and what that used. Once, it
// ends before it has taken a prompt.
func (s *server) again() int {
	s.unready = func(m message) bool {
		if !strings.Contains(m.Params.Input[0].Text, "end first") {
			return false
		}
		home, _ := os.UserHomeDir()
		return os.Mkdir(filepath.Join(home, "ended"), 0o700) == nil
	}
	for {
		text, ok := s.next()
		if !ok {
			return 1
		}
		s.note("item/completed", fmt.Sprintf(`,"item":{"type":"agentMessage","id":"a","text":%q}`, "heard "+text))
		s.used()
		s.end("completed", "null")
	}
}

// TestWhatATurnBeforeUsedIsNotThisTurns although a thread that is resumed tells
// it again: it is not counted, and it is no answer.
func TestWhatATurnBeforeUsedIsNotThisTurns(t *testing.T) {
	t.Parallel()
	s := bridge.As(t, "fault", program.Options{Idle: -1}, "HARNESS_TEST_STORY=again")
	s.Do(harness.Configure{Patch: harness.ConfigPatch{MaxTurns: new(1)}})
	s.Ask("one")
	s.Ask("two")
	s.Has("token heard one\n", "token heard two\n")
	if log := bridgetest.Tell(s.Events()); strings.Count(log, "turn_end completed") != 2 {
		t.Errorf("the log is\n%s", log)
	}
	for _, e := range s.Events() {
		if u, ok := e.Payload.(*harness.Usage); ok && (u.InputTokens != 100 || u.OutputTokens != 3) {
			t.Errorf("a turn used %d and %d", u.InputTokens, u.OutputTokens)
		}
	}
}

// TestAPromptThatTheProgramDidNotTakeIsSaidAgain: that it tells of a turn before
// does not show that it has begun with this one.
func TestAPromptThatTheProgramDidNotTakeIsSaidAgain(t *testing.T) {
	t.Parallel()
	e, _ := bridge.Place(t, []string{bridgetest.Self(t)}, program.Options{Idle: -1, Env: []string{"HARNESS_TEST_ROLE=fault", "HARNESS_TEST_STORY=again"}})
	h := enginetest.NewHost("ses_1")
	if err := e.Run(t.Context(), h.Begin("one"), h); err != nil {
		t.Fatal(err)
	}
	h.End(nil)
	if err := e.Run(t.Context(), h.Begin("two, end first"), h); !errors.Is(err, harness.ErrRetry) {
		t.Fatalf("the program ended, and the attempt with %v", err)
	}
	if err := e.Run(t.Context(), h.Again(), h); err != nil {
		t.Fatal(err)
	}
	if log := bridgetest.Tell(h.Events()); !strings.Contains(log, "token heard two, end first\n") {
		t.Errorf("the log is\n%s", log)
	}
}

// late is a program whose turn fails before it hears what people say to it.
func (s *server) late() int {
	for {
		text, ok := s.next()
		if !ok {
			return 0
		}
		if !strings.HasPrefix(text, "go") {
			s.note("item/completed", fmt.Sprintf(`,"item":{"type":"agentMessage","id":"a","text":%q}`, "heard "+text))
			s.end("completed", "null")
			continue
		}
		s.note("item/agentMessage/delta", `,"itemId":"a","delta":"waiting"`)
		m, ok := s.read()
		if !ok {
			return 0
		}
		if text == "go and end" {
			return 1
		}
		s.end("failed", `{"message":"no more","codexErrorInfo":"usageLimitExceeded"}`)
		fmt.Printf(`{"id":%s,"error":{"code":-32600,"message":"no active turn"}}`+"\n", m.ID)
	}
}

// TestATurnThatFailedIsNoSuccessBecauseSomebodySpokeTooLate and what they said
// is not lost: the program hears it with the next prompt.
func TestATurnThatFailedIsNoSuccessBecauseSomebodySpokeTooLate(t *testing.T) {
	t.Parallel()
	for prompt, why := range map[string]string{"go": "no more", "go and end": "the program ended with 1"} {
		speakLate(t, prompt, why)
	}
}

func speakLate(t *testing.T, prompt, why string) {
	t.Helper()
	s := bridge.As(t, "fault", program.Options{}, "HARNESS_TEST_STORY=late")
	s.Say(prompt)
	s.Saw("waiting")
	s.Do(harness.Steer{Parts: harness.TextPart("say banana")})
	s.Ended(1)
	s.Has("error codex: "+why, "turn_end error")
	s.Ask("next")
	s.Has(`heard say banana\n\nnext`)
}
