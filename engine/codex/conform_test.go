package codex_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"harness/engine/enginetest"
)

// conform is a program that does what the suite's prompts say.
func conform() int {
	s := &server{in: bufio.NewReader(os.Stdin)}
	for {
		text, ok := s.next()
		if !ok {
			return 0
		}
		status, failure := s.obey(text)
		s.end(status, failure)
	}
}

func (s *server) say(text string) {
	s.note("item/agentMessage/delta", fmt.Sprintf(`,"itemId":"m","delta":%q`, text))
}

// wait returns the next message of a method, or of an id; false if the turn was
// stopped.
func (s *server) wait(method, id string) (message, bool) {
	for {
		m, ok := s.read()
		switch {
		case !ok:
			os.Exit(0)
		case m.Method == "turn/interrupt":
			s.reply(m, "{}")
			return m, false
		case m.Method == "turn/steer":
			s.reply(m, "{}")
		}
		if method != "" && m.Method == method || id != "" && string(m.ID) == id && m.Method == "" {
			return m, true
		}
	}
}

// asked makes a call if it may; false if the turn was stopped.
func (s *server) asked(id, command string, do func()) bool {
	item := fmt.Sprintf(`{"type":"commandExecution","id":%q,"command":%q,"cwd":"."`, id, command)
	s.note("item/started", `,"item":`+item+`}`)
	fmt.Printf(`{"id":77,"method":"item/commandExecution/requestApproval","params":{"threadId":"th","turnId":"u","itemId":%q,"command":%q,"cwd":"."}}`+"\n", id, command)
	m, ok := s.wait("", "77")
	if !ok {
		return false
	}
	status := "declined"
	if strings.Contains(string(m.Result), `"accept"`) {
		do()
		status = "completed"
	}
	s.note("item/completed", `,"item":`+item+fmt.Sprintf(`,"status":%q}`, status))
	return true
}

func (s *server) obey(text string) (status, failure string) {
	ok := true
	switch {
	case text == "fail":
		return "failed", `{"message":"no","codexErrorInfo":"other"}`
	case text == "retry":
		return "failed", `{"message":"later","codexErrorInfo":"serverOverloaded"}`
	case text == "long":
		s.say("working")
		_, ok = s.wait("nothing", "")
	case text == "think":
		s.note("item/reasoning/summaryTextDelta", `,"itemId":"r","delta":"hm","summaryIndex":0`)
		s.say("done")
	case text == "tool":
		s.note("item/started", `,"item":{"type":"webSearch","id":"w","query":"q"}`)
		s.note("item/completed", `,"item":{"type":"webSearch","id":"w","query":"q"}`)
		s.say("done")
	case text == "ask":
		ok = s.asked("c", "touch ran", func() { _ = os.WriteFile("ran", nil, 0o600) })
		s.say("done")
	case text == "steer":
		s.say("waiting")
		_, ok = s.wait("turn/steer", "")
	case text == "resume", strings.Contains(text, "Go on from where it stopped"):
		home, _ := os.UserHomeDir()
		for i := range 3 {
			done := filepath.Join(home, "done-"+strconv.Itoa(i))
			if _, err := os.Stat(done); err == nil || !ok {
				continue
			}
			ok = s.asked("r"+strconv.Itoa(i)+strconv.Itoa(os.Getpid()), fmt.Sprintf("echo %d", i), func() { _ = os.WriteFile(done, nil, 0o600) })
		}
	default:
		s.say("hello")
	}
	if !ok {
		return "interrupted", "null"
	}
	return "completed", "null"
}

func TestEngineKeepsThePromisesOfEngines(t *testing.T) {
	t.Parallel()
	bridge.Promises(t, enginetest.Situations{
		Say: "say", Fail: "fail", Long: "long", Retry: "retry", Think: "think", Tool: "tool", Ask: "ask", Steer: "steer", Resume: "resume",
	})
}

// suiteModel is a model that brings the real program into the situations.
const suiteModel = `
when user "inner fail"
  status 400 No.
when user "inner retry"
  status 500 Overloaded.
when user "inner long"
  say working
  pause
when user "inner think"
  think hm
  say done
when user "inner tool" and step 1
  call exec_command {"cmd":"true","yield_time_ms":5000}
when user "inner ask" and step 1
  call exec_command {"cmd":"touch ran","yield_time_ms":5000}
when user "a word"
  say heard
when user "inner steer"
  say waiting
  slow 5ms
  say for a word that somebody may say to me while I go on talking about this and that
when user "inner resume" and step 1
  call exec_command {"cmd":"echo one","yield_time_ms":5000}
when user "inner resume" and step 2
  call exec_command {"cmd":"echo two","yield_time_ms":5000}
else
  say hello
`
