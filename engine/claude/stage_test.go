package claude_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"harness"
	"harness/engine/claude"
	"harness/kernel"
	"harness/model/modeltest"
	"harness/sandbox/local"
	"harness/store/memory"
)

// bound is how long anything on a stage may take. The program needs seconds to
// start on a busy machine.
const bound = 60 * time.Second

// stage is a kernel with this engine, and a session.
type stage struct {
	testing.TB
	dir    string
	opts   claude.Options
	store  *memory.Store
	engine *claude.Engine
	k      *kernel.Kernel
	id     harness.SessionID
	model  *modeltest.Server // nil if the program is not the real one
	mark   string            // in the environment of every process of the stage

	mu      sync.Mutex // guards what follows
	events  map[harness.SessionID][]harness.Event
	changed chan struct{}
}

// newStage opens a stage on which the given program runs.
func newStage(tb testing.TB, opts claude.Options) *stage {
	tb.Helper()
	return newStageIn(tb, tb.TempDir(), opts)
}

func newStageIn(tb testing.TB, dir string, opts claude.Options) *stage {
	tb.Helper()
	s := &stage{TB: tb, dir: dir, store: memory.New(), mark: "HARNESS_TEST_MARK=" + filepath.Base(tb.TempDir()) + tb.Name(), events: make(map[harness.SessionID][]harness.Event), changed: make(chan struct{})}
	if opts.Sandbox == nil {
		opts.Sandbox = local.New(&local.Options{NoCgroup: true})
	}
	opts.Env = append(slices.Clone(opts.Env), s.mark, "GORACE=atexit_sleep_ms=0")
	s.opts = opts
	s.boot()
	s.id = s.create(harness.NewSession{ID: "ses_1", Directory: s.dir, Config: harness.ConfigPatch{Model: new("claude-opus-5-5")}})
	return s
}

func (s *stage) boot() {
	s.engine = claude.New(s.opts)
	s.k = kernel.New(s.store, map[string]harness.Engine{"claude": s.engine}, &kernel.Options{Engine: "claude", Window: -1})
	s.k.OnShow(func(id harness.SessionID, events []harness.Event) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.events[id] = append(s.events[id], events...)
		close(s.changed)
		s.changed = make(chan struct{})
	})
	k, e := s.k, s.engine
	s.Cleanup(func() {
		if err := errors.Join(k.Close(), e.Close()); err != nil {
			s.Error(err)
		}
		if left := s.processes(); len(left) > 0 {
			s.Errorf("processes are left: %v", left)
		}
	})
}

// reboot ends the kernel and the engine, and starts others on the same store.
func (s *stage) reboot() {
	s.Helper()
	if err := errors.Join(s.k.Close(), s.engine.Close()); err != nil {
		s.Fatal(err)
	}
	s.boot()
	if _, err := s.k.Recover(s.Context()); err != nil {
		s.Fatal(err)
	}
}

func (s *stage) create(n harness.NewSession) harness.SessionID {
	s.Helper()
	id, err := s.k.Create(s.Context(), n)
	if err != nil {
		s.Fatal(err)
	}
	return id
}

func (s *stage) do(cmd harness.Command) {
	s.Helper()
	if _, err := s.k.Do(s.Context(), s.id, cmd); err != nil {
		s.Fatalf("%+v: %v", cmd, err)
	}
}

// say goes on with the conversation.
func (s *stage) say(text string) {
	s.Helper()
	s.do(harness.Submit{Parts: harness.TextPart(text), Source: harness.FromTurn, OnBusy: harness.Enqueue})
}

// ask says something and waits for the turn's end.
func (s *stage) ask(text string) {
	s.Helper()
	n := s.turns()
	s.say(text)
	s.ended(n + 1)
}

func (s *stage) decide(v harness.Verdict, scope harness.Scope, reason string) {
	s.Helper()
	p := s.pending()
	s.do(harness.Answer{Approval: p.ID, Decision: harness.Decision{Verdict: v, Scope: scope, Reason: reason, Source: harness.ByUser}})
}

// pending is the question that is open, when there is one.
func (s *stage) pending() harness.Approval {
	s.Helper()
	var found harness.Approval
	s.until("a question", func([]harness.Event) bool {
		st := s.state()
		if len(st.Pending) > 0 {
			found = st.Pending[0]
		}
		return len(st.Pending) > 0
	})
	return found
}

func (s *stage) state() *harness.State {
	s.Helper()
	st, err := s.k.At(s.Context(), s.id, 0)
	if err != nil {
		s.Fatal(err)
	}
	return st
}

func (s *stage) log() []harness.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events[s.id])
}

// until waits for the session's log to be as wanted.
func (s *stage) until(what string, ok func([]harness.Event) bool) {
	s.Helper()
	deadline := time.NewTimer(bound)
	defer deadline.Stop()
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		log := s.log()
		if ok(log) {
			return
		}
		select {
		case <-changed:
		case <-deadline.C:
			s.Fatalf("no %s within %s:\n%s", what, bound, tellAll(log))
		}
	}
}

// saw waits for a fact that reads like this in the log.
func (s *stage) saw(text string) {
	s.Helper()
	s.until(strconv.Quote(text), func(log []harness.Event) bool { return strings.Contains(tellAll(log), text) })
}

func (s *stage) turns() (n int) {
	for _, e := range s.log() {
		if e.Type() == "turn_end" {
			n++
		}
	}
	return n
}

// ended waits for the nth end of a turn.
func (s *stage) ended(n int) {
	s.Helper()
	s.until(fmt.Sprintf("end of turn %d", n), func([]harness.Event) bool { return s.turns() >= n })
}

// tellAll is a log in words, without what differs from run to run.
func tellAll(log []harness.Event) string {
	var out []string
	for _, e := range log {
		line := tell(e.Payload)
		if n := len(out) - 1; n >= 0 && (e.Type() == "token" || e.Type() == "thinking") && strings.HasPrefix(out[n], string(e.Type())+" ") {
			out[n] += strings.TrimPrefix(line, string(e.Type())+" ")
			continue
		}
		if line != "" {
			out = append(out, line)
		}
	}
	for i, line := range out {
		out[i] = strings.ReplaceAll(line, "\n", `\n`)
	}
	return strings.Join(out, "\n") + "\n"
}

func tell(p harness.Payload) string {
	switch p := p.(type) {
	case *harness.UserMessage:
		return fmt.Sprintf("user_message %s %s", p.Source, harness.PlainText(p.Parts))
	case *harness.TurnStart:
		return fmt.Sprintf("turn_start attempt=%d", p.Attempt)
	case *harness.TurnStartTools:
		return fmt.Sprintf("turn_start_tools bash=%t", slices.ContainsFunc(p.Tools, func(t harness.ToolInfo) bool { return t.Name == "Bash" }))
	case *harness.Token:
		return "token " + p.Text
	case *harness.Thinking:
		return "thinking " + p.Text
	case *harness.Response:
		return fmt.Sprintf("response %q %s", p.Text, p.StopReason)
	case *harness.ToolCall:
		return fmt.Sprintf("tool_call %s %s %s", p.ToolCallID, p.Name, canonical(p.Arguments))
	case *harness.ToolResult:
		return fmt.Sprintf("tool_result %s %q structured=%t", p.ToolCallID, p.Output, len(p.Result) > 0)
	case *harness.ToolOutcome:
		return fmt.Sprintf("tool_outcome %s %s %s %q", p.ToolCallID, p.Status, p.Reason, p.Error)
	case *harness.ApprovalRequired:
		return fmt.Sprintf("approval_required %s %s %q", p.ToolCallID, p.ToolName, p.Description)
	case *harness.ApprovalApplied:
		return fmt.Sprintf("approval_applied %s %s %s %s %q", p.ToolCallID, p.Decision, p.Scope, p.Source, p.Reason)
	case *harness.SubagentEvent:
		return fmt.Sprintf("subagent_event %s %s %q %q", p.AgentID, p.Status, p.Task, p.Summary)
	case *harness.TransportDiagnostic:
		return fmt.Sprintf("transport_diagnostic %s %s %d", p.Status, p.Kind, p.FailureCount)
	case *harness.SessionCheckpoint:
		return fmt.Sprintf("checkpoint done=%t", strings.Contains(p.EngineRef, `"done":true`))
	case *harness.Usage:
		if p.CostUSD == nil { // one that is on its way: it and what the program asks meanwhile come in any order
			return ""
		}
		return fmt.Sprintf("usage in=%t out=%d cost=%t context=%t", p.InputTokens > 0, p.OutputTokens, p.CostUSD != nil, p.ContextPct != nil)
	case *harness.Failure:
		return fmt.Sprintf("error %s %s %t", made.ReplaceAllString(p.Message, "MADE-UP"), p.Code, p.Retryable)
	case *harness.TurnEnd:
		return fmt.Sprintf("turn_end %s %s", p.Status, p.Reason)
	case *harness.SandboxNotice:
		return "sandbox_notice " + p.Isolation
	case *harness.SessionState, *harness.HookEvent, *harness.PolicyDecision:
		return ""
	}
	return string(p.Type())
}

// made are identifiers and ports.
var made = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|127\.0\.0\.1:\d+`)

// canonical is JSON with its keys in order.
func canonical(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(b)
}

// processes are the numbers of the processes of this stage that live.
func (s *stage) processes() (live []int) {
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		s.Fatal(err)
	}
	for _, name := range all {
		if b, err := os.ReadFile(name); err == nil && slices.Contains(strings.Split(string(b), "\x00"), s.mark) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
				live = append(live, pid)
			}
		}
	}
	return live
}

// kill kills the program with a signal that it cannot see.
func (s *stage) kill() {
	s.Helper()
	victim := 0
	for _, pid := range s.processes() {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && bytes.Contains(b, []byte("\x00stream-json\x00")) {
			victim = max(victim, pid)
		}
	}
	if victim == 0 {
		s.Fatal("the program does not run")
	}
	if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
		s.Fatal(err)
	}
}

// scene is something that can happen between a session and the program.
type scene struct {
	name  string
	model string // the script of the model behind the real program
	play  func(*stage)
}

// story is the file of a scene: its processes, and the logs of its sessions.
func (c *scene) story() string { return filepath.Join("testdata", c.name+".txtar") }

// golden compares the logs of a scene with those of the recording.
func (c *scene) golden(s *stage) {
	s.Helper()
	a, err := txtar.ParseFile(c.story())
	if err != nil {
		s.Fatal(err)
	}
	for _, f := range a.Files {
		id, ok := strings.CutPrefix(f.Name, "log ")
		if !ok {
			continue
		}
		s.mu.Lock()
		got := tellAll(s.events[harness.SessionID(id)])
		s.mu.Unlock()
		if got = strings.ReplaceAll(got, s.dir, "$WORK"); got != string(f.Data) {
			s.Errorf("the log of %s is\n%s\nwant\n%s", id, got, f.Data)
		}
	}
}

// save writes the recording of a scene.
func (c *scene) save(s *stage, dir string) {
	s.Helper()
	a := &txtar.Archive{Comment: []byte("Claude Code " + version + "; UPDATE=1 records it again.\n")}
	for _, id := range []harness.SessionID{"ses_1", "ses_2"} {
		s.mu.Lock()
		log := s.events[id]
		s.mu.Unlock()
		if len(log) > 0 {
			a.Files = append(a.Files, txtar.File{Name: "log " + string(id), Data: []byte(strings.ReplaceAll(tellAll(log), s.dir, "$WORK"))})
		}
	}
	for n := 1; ; n++ {
		b, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(n)))
		if err != nil {
			break
		}
		b = regexp.MustCompile(`/tmp/hc\d+`).ReplaceAll(b, []byte("$$TMP"))
		a.Files = append(a.Files, txtar.File{Name: strconv.Itoa(n), Data: scrub(b, map[string]string{s.dir: "$WORK"})})
	}
	if err := os.WriteFile(c.story(), txtar.Format(a), 0o644); err != nil {
		s.Fatal(err)
	}
}

// realStage is a stage with a model of its own behind the program.
func realStage(tb testing.TB, opts claude.Options, script string) *stage {
	tb.Helper()
	dir := tb.TempDir()
	m := modeltest.Serve(tb, strings.ReplaceAll(script, "$WORK", dir))
	opts.Env = append(slices.Clone(opts.Env), "ANTHROPIC_BASE_URL="+m.URL, "ANTHROPIC_API_KEY=dummy", "CLAUDE_CODE_MAX_RETRIES=1")
	s := newStageIn(tb, dir, opts)
	s.model = m
	return s
}

// told checks that the nth request to the model, from the last if n is
// negative, has all the words. The stand-in has no model.
func (s *stage) told(n int, words ...string) {
	s.Helper()
	if s.model == nil {
		return
	}
	all := s.model.Requests()
	if n < 0 {
		n += len(all) + 1
	}
	for _, w := range words {
		if body := string(all[n-1].Body); !strings.Contains(body, w) {
			s.Errorf("request %d of %d does not have %q: %.2000s", n, len(all), w, body)
		}
	}
}

// made checks that a file was made by the real program.
func (s *stage) made(name, want string) {
	s.Helper()
	if s.model == nil {
		return
	}
	if b, err := os.ReadFile(filepath.Join(s.dir, name)); err != nil || string(b) != want {
		s.Errorf("%s holds %q, %v; want %q", name, b, err, want)
	}
}

func contains(s, part string) bool { return strings.Contains(s, part) }
