package codex_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
)

// server is a program that speaks the protocol, for one thread.
type server struct {
	in      *bufio.Reader
	turns   int
	unready func(message) bool // ends before it takes this prompt
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

// used tells what the last answer used.
func (s *server) used() {
	s.note("thread/tokenUsage/updated", `,"tokenUsage":{"last":{"inputTokens":100,"outputTokens":3,"totalTokens":103}}`)
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
			if m.Method != "thread/start" { // as the program does
				s.used()
			}
		case "turn/start":
			if s.unready != nil && s.unready(m) {
				return "", false
			}
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
	switch how {
	case "again":
		return s.again()
	case "late":
		return s.late()
	}
	for {
		text, ok := s.next()
		if !ok {
			return 0
		}
		s.note("item/agentMessage/delta", `,"itemId":"a","delta":"Half"`)
		if how == "kinds" {
			s.kinds()
		}
		if strings.HasSuffix(text, "wrong") {
			if code, all := bridgetest.Fault(how).Commit(s.in, os.Stdout, os.Stderr); all && code < 0 {
				continue
			} else if all {
				return code
			}
			switch how {
			case "exit1":
				s.end("failed", `{"message":"no more","codexErrorInfo":"usageLimitExceeded"}`)
				return 1
			case "stray":
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

// TestAProgramThatMisbehavesEndsTheTurnNotTheSession lets the program go wrong
// in each way; afterwards the session takes another prompt.
func TestAProgramThatMisbehavesEndsTheTurnNotTheSession(t *testing.T) {
	t.Parallel()
	bridge.Faults(t, "no more", "4: brand/new ×2, brand/request ×1, item newer ×1")
}

// TestTheProgramsOwnConfigurationIsOurs also if it has written another.
func TestTheProgramsOwnConfigurationIsOurs(t *testing.T) {
	t.Parallel()
	s := bridge.As(t, "fault", program.Options{Idle: -1})
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

// TestItRunsInNamespaces of ours, and its own sandbox is off there.
func TestItRunsInNamespaces(t *testing.T) {
	t.Parallel()
	bridge.Fenced(t, "codex's own sandbox is off")
}

// TestASessionHasOneProcess however many speak to it, to a branch of it, or would
// run it on the same files.
func TestASessionHasOneProcess(t *testing.T) {
	t.Parallel()
	bridge.OneProcess(t)
}
