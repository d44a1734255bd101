package codex_test

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
	"harness/engine/codex"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
)

// server is a program that speaks the protocol, for one thread.
type server struct {
	in    *bufio.Reader
	turns int
}

type message struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Input []struct{ Text string }
	}
	Result json.RawMessage
}

func (s *server) read() (m message, ok bool) {
	b, err := s.in.ReadBytes('\n')
	if err != nil {
		return m, false
	}
	_ = json.Unmarshal(b, &m)
	return m, true
}

func (s *server) reply(m message, result string) {
	fmt.Printf(`{"id":%s,"result":%s}`+"\n", m.ID, result)
}

func (s *server) note(method, fields string) {
	fmt.Printf(`{"method":%q,"params":{"threadId":"th","turnId":"u%d"%s}}`+"\n", method, s.turns, fields)
}

// end ends the turn.
func (s *server) end(status, failure string) {
	s.note("turn/completed", fmt.Sprintf(`,"turn":{"id":"u%d","status":%q,"error":%s}`, s.turns, status, failure))
}

// next answers what a program is greeted with, and returns the next prompt.
func (s *server) next() (text string, ok bool) {
	for {
		m, ok := s.read()
		if !ok {
			return "", false
		}
		switch m.Method {
		case "thread/start", "thread/resume", "thread/fork":
			s.reply(m, `{"thread":{"id":"th"},"model":"m"}`)
		case "turn/start":
			s.turns++
			s.reply(m, fmt.Sprintf(`{"turn":{"id":"u%d"}}`, s.turns))
			return m.Params.Input[0].Text, true
		default:
			if m.ID != nil {
				s.reply(m, "{}")
			}
		}
	}
}

// misbehave is a program that answers prompts, and "wrong" in its own way.
func misbehave(how string) int {
	s := &server{in: bufio.NewReader(os.Stdin)}
	for {
		text, ok := s.next()
		if !ok {
			return 0
		}
		s.note("item/agentMessage/delta", `,"itemId":"a","delta":"Half"`)
		if how == "kinds" {
			s.kinds()
		}
		if strings.Contains(text, "wrong") {
			switch how {
			case "garbage":
				fmt.Println("warning: something that is no message")
				continue
			case "huge":
				fmt.Printf("{\"method\":\"x\",\"x\":\"%s\"}\n", bytes.Repeat([]byte("x"), 50<<20))
				continue
			case "silent":
				continue
			case "exit0":
				return 0
			case "exit1":
				s.end("failed", `{"message":"no more","codexErrorInfo":"usageLimitExceeded"}`)
				return 1
			case "stderr":
				fmt.Fprintln(os.Stderr, "out of cheese")
				return 3
			case "deaf": // it does not even stop
				for {
					if _, ok := s.read(); !ok {
						select {}
					}
				}
			case "stray":
				if err := exec.Command("sleep", "300").Start(); err != nil {
					return 70
				}
				s.note("item/started", `,"item":{"type":"commandExecution","id":"c","command":"x"}`)
				s.note("item/completed", `,"item":{"type":"commandExecution","id":"c","command":"x","status":"completed"}`)
			case "unknown":
				s.note("brand/new", "")
				s.note("brand/new", "")
				s.note("item/started", `,"item":{"type":"newer","id":"n"}`)
				fmt.Println(`{"id":7,"method":"brand/request","params":{}}`)
				for {
					if m, ok := s.read(); !ok || string(m.ID) == "7" {
						break
					}
				}
			}
		}
		s.end("completed", "null")
	}
}

func faulty(t *testing.T, how string, opts program.Options) *bridgetest.Stage {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	opts.Env = []string{"HARNESS_TEST_CODEX=fault", "HARNESS_TEST_STORY=" + how}
	return bridgetest.Open(t, t.TempDir(), opts, opener(codex.Options{Program: []string{self}}))
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
		if d, ok := e.Payload.(*harness.TransportDiagnostic); ok {
			if d.Kind != "unknown_messages" || d.FailureCount != 4 || d.Reason != "brand/new ×2, brand/request ×1, item newer ×1" {
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

// TestTheProgramsOwnConfigurationIsOurs also if it has written another.
func TestTheProgramsOwnConfigurationIsOurs(t *testing.T) {
	t.Parallel()
	s := faulty(t, "", program.Options{Idle: -1})
	s.Ask("right")
	home := s.Dir + "/.harness/codex/ses_1/"
	for _, name := range []string{"config.toml", "rules/default.rules"} {
		if err := os.MkdirAll(home+"rules", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(home+name, []byte("anything"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.Ask("right")
	if b, err := os.ReadFile(home + "config.toml"); err != nil || string(b) != fmt.Sprintf("[projects.%q]\ntrust_level = \"untrusted\"\n", s.Dir) {
		t.Errorf("config.toml holds %q, %v", b, err)
	}
	if _, err := os.Stat(home + "rules"); err == nil {
		t.Error("rules that nobody knows of are left")
	}
}
