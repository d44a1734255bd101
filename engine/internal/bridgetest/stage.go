package bridgetest

import (
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
	"harness/engine/internal/program"
	"harness/internal/redact"
	"harness/kernel"
	"harness/model/modeltest"
	"harness/policy"
	"harness/sandbox/local"
	"harness/store/memory"
)

// Bound is how long anything on a stage may take. Programs need seconds to start
// on a busy machine.
const Bound = 60 * time.Second

// Engine is an engine that keeps processes.
type Engine interface {
	harness.Engine
	Close() error
}

// Stage is a kernel with one engine, and a session.
type Stage struct {
	testing.TB
	Dir    string
	Engine Engine
	Kernel *kernel.Kernel
	ID     harness.SessionID
	Model  *modeltest.Server // nil if the program is not the real one

	open    func(program.Options) Engine
	command []string // of the program
	opts    program.Options
	store   *memory.Store
	rules   *policy.Policy
	mark    string // in the environment of every process of the stage

	mu      sync.Mutex // guards what follows
	events  map[harness.SessionID][]harness.Event
	changed chan struct{}
}

// Open opens a stage with its workspace at dir.
func Open(tb testing.TB, dir string, opts program.Options, config harness.ConfigPatch, open func(program.Options) Engine) *Stage {
	tb.Helper()
	return openWith(tb, nil, dir, opts, config, open)
}

// openWith opens a stage with rules.
func openWith(tb testing.TB, rules *policy.Policy, dir string, opts program.Options, config harness.ConfigPatch, open func(program.Options) Engine) *Stage {
	tb.Helper()
	s := &Stage{TB: tb, Dir: dir, open: open, store: memory.New(), rules: rules, mark: Mark(tb), events: make(map[harness.SessionID][]harness.Event), changed: make(chan struct{})}
	if opts.Sandbox == nil {
		opts.Sandbox = local.New(&local.Options{NoCgroup: true})
	}
	opts.Env = append(slices.Clone(opts.Env), s.mark, "GORACE=atexit_sleep_ms=0")
	s.opts = opts
	s.boot()
	s.ID = s.Create(harness.NewSession{ID: "ses_1", Directory: dir, Config: config})
	return s
}

// Mark is a variable that nobody else has, not even the same test at another
// time.
func Mark(tb testing.TB) string { return "HARNESS_TEST_MARK=" + tb.TempDir() }

// cleaner is the redactor of the server, as its wiring has it.
type cleaner struct{ *redact.Redactor }

func (c cleaner) Stream() kernel.TextStream { return c.Redactor.Stream() }

func (s *Stage) boot() {
	clean, err := redact.New("a-key-that-nobody-may-see")
	if err != nil {
		s.Fatal(err)
	}
	s.Engine = s.open(s.opts)
	s.Kernel = kernel.New(s.store, map[string]harness.Engine{"bridge": s.Engine}, &kernel.Options{Engine: "bridge", Window: -1, Redact: cleaner{clean}, Policy: s.policy})
	s.Kernel.OnShow(func(id harness.SessionID, events []harness.Event) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.events[id] = append(s.events[id], events...)
		close(s.changed)
		s.changed = make(chan struct{})
	})
	k, e := s.Kernel, s.Engine
	s.Cleanup(func() {
		if err := errors.Join(k.Close(), e.Close()); err != nil {
			s.Error(err)
		}
		if left := Processes(s, s.mark); len(left) > 0 {
			s.Errorf("processes are left: %v", left)
		}
	})
}

// policy is the scene's rules, or none at all.
func (s *Stage) policy(directory string) *policy.Policy {
	if s.rules == nil {
		return nil
	}
	return policy.Join(s.rules, nil, directory)
}

// Reboot ends the kernel and the engine, and starts others on the same store.
func (s *Stage) Reboot() {
	s.Helper()
	if err := errors.Join(s.Kernel.Close(), s.Engine.Close()); err != nil {
		s.Fatal(err)
	}
	s.boot()
	if _, err := s.Kernel.Recover(s.Context()); err != nil {
		s.Fatal(err)
	}
}

// Create makes a session.
func (s *Stage) Create(n harness.NewSession) harness.SessionID {
	s.Helper()
	id, err := s.Kernel.Create(s.Context(), n)
	if err != nil {
		s.Fatal(err)
	}
	return id
}

// Do sends a command to the session.
func (s *Stage) Do(cmd harness.Command) {
	s.Helper()
	if _, err := s.Kernel.Do(s.Context(), s.ID, cmd); err != nil {
		s.Fatalf("%+v: %v", cmd, err)
	}
}

// Say goes on with the conversation.
func (s *Stage) Say(text string) {
	s.Helper()
	s.Do(harness.Submit{Parts: harness.TextPart(text), Source: harness.FromTurn, OnBusy: harness.Enqueue})
}

// Ask says something and waits for the turn's end.
func (s *Stage) Ask(text string) {
	s.Helper()
	n := s.Turns()
	s.Say(text)
	s.Ended(n + 1)
}

// Decide answers the question that is open.
func (s *Stage) Decide(v harness.Verdict, scope harness.Scope, reason string) {
	s.Helper()
	s.Do(harness.Answer{Approval: s.Pending().ID, Decision: harness.Decision{Verdict: v, Scope: scope, Reason: reason, Source: harness.ByUser}})
}

// Pending is the question that is open, when there is one.
func (s *Stage) Pending() (found harness.Approval) {
	s.Helper()
	s.Until("question", func([]harness.Event) bool {
		st := s.State()
		if len(st.Pending) > 0 {
			found = st.Pending[0]
		}
		return len(st.Pending) > 0
	})
	return found
}

// State is the session's.
func (s *Stage) State() *harness.State {
	s.Helper()
	st, err := s.Kernel.At(s.Context(), s.ID, 0)
	if err != nil {
		s.Fatal(err)
	}
	return st
}

// Judged checks how many calls policy has decided about: those that the program
// asked about.
func (s *Stage) Judged(want int) {
	s.Helper()
	n := 0
	for _, e := range s.Events() {
		if e.Type() == "policy_decision" {
			n++
		}
	}
	if n != want {
		s.Errorf("policy has decided about %d calls, want %d:\n%s", n, want, Tell(s.Events()))
	}
}

// Events is the session's log so far.
func (s *Stage) Events() []harness.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events[s.ID])
}

// Until waits for the session's log to be as wanted.
func (s *Stage) Until(what string, ok func([]harness.Event) bool) {
	s.Helper()
	deadline := time.NewTimer(Bound)
	defer deadline.Stop()
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		log := s.Events()
		if ok(log) {
			return
		}
		select {
		case <-changed:
		case <-deadline.C:
			s.Fatalf("no %s within %s:\n%s", what, Bound, Tell(log))
		}
	}
}

// Saw waits for a fact that reads like this in the log.
func (s *Stage) Saw(text string) {
	s.Helper()
	s.Until(strconv.Quote(text), func(log []harness.Event) bool { return strings.Contains(Tell(log), text) })
}

// Turns counts the turns that have ended.
func (s *Stage) Turns() (n int) {
	for _, e := range s.Events() {
		if e.Type() == "turn_end" {
			n++
		}
	}
	return n
}

// Ended waits for the nth end of a turn.
func (s *Stage) Ended(n int) {
	s.Helper()
	s.Until(fmt.Sprintf("end of turn %d", n), func([]harness.Event) bool { return s.Turns() >= n })
}

// Processes are the numbers of the processes of this stage that live.
func (s *Stage) Processes() []int { return Processes(s, s.mark) }

// Processes are the numbers of the processes that live with a mark.
func Processes(tb testing.TB, mark string) (live []int) {
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		tb.Fatal(err)
	}
	for _, name := range all {
		if b, err := os.ReadFile(name); err == nil && slices.Contains(strings.Split(string(b), "\x00"), mark) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
				live = append(live, pid)
			}
		}
	}
	return live
}

// running is the youngest of the stage's processes with this in its command line,
// or 0.
func (s *Stage) running(word string) (youngest int) {
	for _, pid := range s.Processes() {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && strings.Contains(string(b), word) {
			youngest = max(youngest, pid)
		}
	}
	return youngest
}

// Running reports whether a process of the stage has this in its command line.
func (s *Stage) Running(word string) bool { return s.running(word) != 0 }

// NotRunning checks that no process of the stage has this in its command line.
func (s *Stage) NotRunning(word string) {
	s.Helper()
	if pid := s.running(word); pid != 0 {
		s.Errorf("%s runs as %d", word, pid)
	}
}

// Kill kills the youngest of the stage's processes with this in its command line,
// with a signal that it cannot see.
func (s *Stage) Kill(word string) {
	s.Helper()
	victim := s.running(word)
	if victim == 0 {
		s.Fatal("the program does not run")
	}
	if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
		s.Fatal(err)
	}
}

// Told checks that the nth request to the model, from the last if n is
// negative, has all the words. A stand-in has no model.
func (s *Stage) Told(n int, words ...string) {
	s.Helper()
	if s.Model == nil {
		return
	}
	all := s.Model.Requests()
	if n < 0 {
		n += len(all) + 1
	}
	for _, w := range words {
		if body := string(all[n-1].Body); !strings.Contains(body, w) {
			s.Errorf("request %d of %d does not have %q: …%s", n, len(all), w, body[max(0, len(body)-2000):])
		}
	}
}

// NotTold checks that the request has none of the words.
func (s *Stage) NotTold(n int, words ...string) {
	s.Helper()
	if s.Model == nil {
		return
	}
	all := s.Model.Requests()
	if n < 0 {
		n += len(all) + 1
	}
	for _, w := range words {
		if strings.Contains(string(all[n-1].Body), w) {
			s.Errorf("request %d of %d has %q", n, len(all), w)
		}
	}
}

// Made checks that a file was made by the real program.
func (s *Stage) Made(name, want string) {
	s.Helper()
	if s.Model == nil {
		return
	}
	if b, err := os.ReadFile(filepath.Join(s.Dir, name)); err != nil || string(b) != want {
		s.Errorf("%s holds %q, %v; want %q", name, b, err, want)
	}
}

// NotMade checks that nobody made a file.
func (s *Stage) NotMade(name string) {
	s.Helper()
	if _, err := os.Lstat(filepath.Join(s.Dir, name)); !os.IsNotExist(err) {
		s.Errorf("%s is there: %v", name, err)
	}
}

// Wrote waits until the real program has written this into a file of the
// workspace.
func (s *Stage) Wrote(pattern, words string) {
	s.Helper()
	if s.Model == nil {
		return
	}
	s.wait(words+" in "+pattern, func() bool {
		all, err := filepath.Glob(filepath.Join(s.Dir, pattern))
		if err != nil {
			s.Fatal(err)
		}
		return slices.ContainsFunc(all, func(name string) bool {
			b, err := os.ReadFile(name)
			return err == nil && strings.Contains(string(b), words)
		})
	})
}

// Gone waits until no process of the stage lives.
func (s *Stage) Gone() {
	s.Helper()
	s.wait("end of all processes", func() bool { return len(s.Processes()) == 0 })
}

// wait looks every now and then whether something is so that nobody reports.
func (s *Stage) wait(what string, so func() bool) {
	s.Helper()
	deadline := time.NewTimer(Bound)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-deadline.C:
			s.Fatalf("no %s within %s; processes: %v", what, Bound, s.Processes())
		}
	}
}
