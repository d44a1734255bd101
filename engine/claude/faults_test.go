package claude_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/engine/claude"
)

// misbehave is a program that answers prompts, and "wrong" in its own way.
func misbehave(how string) int {
	r := bufio.NewReader(os.Stdin)
	for {
		b, err := r.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var m struct {
			Type, UUID string
			Message    struct{ Content string }
		}
		_ = json.Unmarshal(b, &m)
		if m.Type != "user" {
			continue
		}
		fmt.Printf(`{"type":"system","subtype":"init","session_id":"s","model":"m","tools":[]}` + "\n")
		fmt.Printf(`{"type":"stream_event","event":{"type":"message_start","message":{"id":"m"}},"session_id":"s"}` + "\n")
		fmt.Printf(`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"Half"}},"session_id":"s"}` + "\n")
		if strings.Contains(m.Message.Content, "wrong") {
			switch how {
			case "garbage":
				fmt.Println("warning: something that is no message")
				continue
			case "huge":
				fmt.Printf("{\"type\":\"assistant\",\"x\":\"%s\"}\n", bytes.Repeat([]byte("x"), 50<<20))
				continue
			case "silent":
				continue
			case "exit0":
				return 0
			case "exit1":
				fmt.Printf(`{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":400,"result":"API Error: 400 no","session_id":"s","user_message_uuids":[%q]}`+"\n", m.UUID)
				return 1
			case "stderr":
				fmt.Fprintln(os.Stderr, "out of cheese")
				return 3
			case "deaf": // it does not even stop
				for {
					if _, err := r.ReadBytes('\n'); err != nil {
						select {}
					}
				}
			case "stray":
				cmd := exec.Command("sleep", "300")
				if err := cmd.Start(); err != nil {
					return 70
				}
				fmt.Println(`{"type":"user","message":{"content":[]}}`)
			case "unknown":
				fmt.Println(`{"type":"brand_new","x":1}`)
				fmt.Println(`{"type":"brand_new","x":2}`)
				fmt.Println(`{"type":"system","subtype":"newer"}`)
			}
		}
		fmt.Printf(`{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","result":"Half","session_id":"s","user_message_uuids":[%q]}`+"\n", m.UUID)
	}
}

func faulty(t *testing.T, how string, opts claude.Options) *stage {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	opts.Program, opts.Env = []string{self}, []string{"HARNESS_TEST_CLAUDE=fault", "HARNESS_TEST_STORY=" + how}
	return newStage(t, opts)
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
		"exit1":   "API Error: 400 no",
		"stderr":  "the program ended with 3: out of cheese",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			opts := claude.Options{}
			if how == "silent" {
				opts.Silence = 300 * time.Millisecond
			}
			s := faulty(t, how, opts)
			s.ask("wrong")
			if log := tellAll(s.log()); !strings.Contains(log, want) || !strings.Contains(log, "turn_end error") {
				t.Errorf("the log does not say %q:\n%s", want, log)
			}
			s.ask("right")
			if log := tellAll(s.log()); !strings.Contains(log, "turn_end completed") {
				t.Errorf("the session is not alive:\n%s", log)
			}
		})
	}
}

// TestWhatIsUnknownIsCounted also shows that it hurts nobody.
func TestWhatIsUnknownIsCounted(t *testing.T) {
	t.Parallel()
	s := faulty(t, "unknown", claude.Options{})
	s.ask("wrong")
	for _, e := range s.log() {
		if d, ok := e.Payload.(*harness.TransportDiagnostic); ok {
			if d.Kind != "unknown_messages" || d.FailureCount != 3 || d.Reason != "brand_new ×2, system/newer ×1" {
				t.Errorf("the diagnostic is %+v", d)
			}
			return
		}
	}
	t.Errorf("nobody said so:\n%s", tellAll(s.log()))
}

// TestAProgramThatDoesNotStopIsKilled bounds a cancel.
func TestAProgramThatDoesNotStopIsKilled(t *testing.T) {
	t.Parallel()
	s := faulty(t, "deaf", claude.Options{Interrupt: 200 * time.Millisecond})
	s.say("wrong")
	s.saw("token Half")
	s.do(harness.Cancel{})
	s.ended(1)
	if log := tellAll(s.log()); !strings.Contains(log, "turn_end cancelled") {
		t.Errorf("the turn was not cancelled:\n%s", log)
	}
	s.ask("right")
}

// TestAnIdleProcessIsStopped and the next turn has another.
func TestAnIdleProcessIsStopped(t *testing.T) {
	t.Parallel()
	s := faulty(t, "", claude.Options{Idle: 50 * time.Millisecond})
	s.ask("right")
	deadline := time.NewTimer(bound)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for len(s.processes()) > 0 {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("processes are left: %v", s.processes())
		}
	}
	s.ask("right")
}

// TestAWarmProcessIsUsedAgain and ends with the engine.
func TestAWarmProcessIsUsedAgain(t *testing.T) {
	t.Parallel()
	s := faulty(t, "", claude.Options{})
	s.ask("right")
	first := s.processes()
	s.ask("right")
	if second := s.processes(); len(first) == 0 || fmt.Sprint(first) != fmt.Sprint(second) {
		t.Errorf("processes were %v, are %v", first, second)
	}
	if err := s.engine.Close(); err != nil {
		t.Error(err)
	}
	if left := s.processes(); len(left) > 0 {
		t.Errorf("after Close, there are %v", left)
	}
}

// TestWhatACommandLeftEndsWithTheTurn although the program could have been kept.
func TestWhatACommandLeftEndsWithTheTurn(t *testing.T) {
	t.Parallel()
	s := faulty(t, "stray", claude.Options{})
	s.ask("right")
	s.ask("wrong")
	if left := s.processes(); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	s.ask("right")
}
