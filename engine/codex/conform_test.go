package codex_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/engine/codex"
	"harness/engine/enginetest"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
	"harness/model/modeltest"
	"harness/sandbox/local"
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

// placed runs turns in a directory, as a kernel would.
type placed struct {
	*codex.Engine
	dir string
}

func (p placed) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	t.Directory = p.dir
	return p.Engine.Run(ctx, t, h)
}

// opened is a way to open engines for the suite, and what they leave.
type opened struct {
	tb   testing.TB
	mark string
	dir  string
}

func (o *opened) open(tb testing.TB, opts codex.Options) harness.Engine {
	o.tb, o.dir, o.mark = tb, tb.TempDir(), bridgetest.Mark(tb)
	opts.Sandbox = local.New(&local.Options{NoCgroup: true})
	opts.Env = append(slices.Clone(opts.Env), o.mark, "GORACE=atexit_sleep_ms=0")
	e := codex.New(opts)
	tb.Cleanup(func() { _ = e.Close() })
	return placed{e, o.dir}
}

// left is what an engine without warm processes leaves.
func (o *opened) left() (all []string) {
	for _, pid := range bridgetest.Processes(o.tb, o.mark) {
		all = append(all, strconv.Itoa(pid))
	}
	return all
}

func (o *opened) ran() bool {
	_, err := os.Stat(filepath.Join(o.dir, "ran"))
	return err == nil
}

func TestEngineKeepsThePromisesOfEngines(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, idle := range map[string]time.Duration{"Warm": 0, "Cold": -1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var o opened
			s := enginetest.Situations{
				Say: "say", Fail: "fail", Long: "long", Retry: "retry", Think: "think", Tool: "tool", Ask: "ask", Steer: "steer", Resume: "resume",
				Ran: o.ran, Bound: bridgetest.Bound,
			}
			if idle < 0 {
				s.Left = o.left
			}
			enginetest.Test(t, func(tb testing.TB) harness.Engine {
				return o.open(tb, codex.Options{Program: []string{self}, Base: program.Options{Env: []string{"HARNESS_TEST_CODEX=conform"}, Idle: idle}})
			}, s)
		})
	}
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

// TestTheRealProgramKeepsThePromisesOfEngines takes a minute.
func TestTheRealProgramKeepsThePromisesOfEngines(t *testing.T) {
	bin := real(t)
	if os.Getenv("LONG") == "" {
		t.Skip("LONG=1 runs the suite with the real program")
	}
	m := modeltest.Serve(t, suiteModel)
	var o opened
	enginetest.Test(t, func(tb testing.TB) harness.Engine {
		return o.open(tb, codex.Options{Program: []string{bin}, Config: scripted(m.URL), Base: program.Options{Idle: -1}})
	}, enginetest.Situations{
		Say: "inner say", Fail: "inner fail", Long: "inner long", Retry: "inner retry", Think: "inner think", Tool: "inner tool", Ask: "inner ask",
		Steer: "inner steer", Resume: "inner say", Ran: o.ran, Left: o.left, Bound: 2 * bridgetest.Bound,
	})
}
