package claude_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"harness"
	"harness/engine/claude"
	"harness/internal/redact"
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

// cleaner is the redactor of the server, as its wiring has it.
type cleaner struct{ *redact.Redactor }

func (c cleaner) Stream() kernel.TextStream { return c.Redactor.Stream() }

func (s *stage) boot() {
	clean, err := redact.New("a-key-that-nobody-may-see")
	if err != nil {
		s.Fatal(err)
	}
	s.engine = claude.New(s.opts)
	s.k = kernel.New(s.store, map[string]harness.Engine{"claude": s.engine}, &kernel.Options{Engine: "claude", Window: -1, Redact: cleaner{clean}})
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
