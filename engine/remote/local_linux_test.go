package remote_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/custody"
	"harness/engine/enginetest"
	"harness/kernel"
	"harness/protocol/runner"
	"harness/store/memory"
)

// until waits for something that nobody tells of.
func until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(patience); !cond(); {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// survivors counts the living processes whose command line has a word in it.
func survivors(word string) (n int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range all {
		if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), "600."+word) {
			n++
		}
	}
	return n
}

// grown starts a turn whose agent is a tree that does not want to go.
func grown(t *testing.T) (mark string, book *custody.Book, cancel context.CancelCauseFunc, done chan error) {
	t.Helper()
	e, book := runners(t, "forest")
	mark = fmt.Sprint(1e9 + rand.IntN(1e9))
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	h := enginetest.NewHost("ses_1")
	turn := h.Begin(mark)
	turn.Directory = dir
	done = make(chan error, 1) // Run returns once
	go func() { done <- e.Run(ctx, turn, h) }()
	until(t, "the tree to grow", func() bool {
		_, err := os.Stat(filepath.Join(dir, "grown"))
		return err == nil && survivors(mark) >= 4
	})
	return mark, book, cancel, done
}

func returned(t testing.TB, done chan error) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		t.Fatal("Run did not return")
		return nil
	}
}

func TestKill9OfTheRunnerTakesTheAgentsWholeTreeWithIt(t *testing.T) {
	t.Parallel()
	mark, book, _, done := grown(t)
	all, err := book.Of("ses_1")
	if err != nil || len(all) != 2 || all[0].Role != custody.Runner || all[1].Role != custody.Agent {
		t.Fatalf("in custody are %+v, %v", all, err)
	}
	if err := custody.Kill(t.Context(), all[0]); err != nil {
		t.Fatal(err)
	}
	until(t, "the tree to be gone", func() bool { return survivors(mark) == 0 })
	if err := returned(t, done); !errors.Is(err, harness.ErrRetry) || !strings.Contains(err.Error(), "the runner died") {
		t.Errorf("Run returned %v", err)
	}
	if all, err := book.Of("ses_1"); err != nil || len(all) != 0 {
		t.Errorf("in custody are %+v, %v", all, err)
	}
}

func TestCancelLeavesNothingOfTheAgentsTree(t *testing.T) {
	t.Parallel()
	mark, book, cancel, done := grown(t)
	cancel(harness.ErrNotRunning)
	if err := returned(t, done); !errors.Is(err, harness.ErrNotRunning) {
		t.Errorf("Run returned %v", err)
	}
	if n := survivors(mark); n != 0 {
		t.Errorf("%d processes are left", n)
	}
	if all, err := book.Of("ses_1"); err != nil || len(all) != 1 || all[0].Role != custody.Runner {
		t.Errorf("in custody are %+v, %v; want the warm runner", all, err)
	}
}

func TestARunnerIsKeptWarmAndReplacedWhenItIsNot(t *testing.T) {
	t.Parallel()
	e, book := runners(t, "say hello\n")
	pid := func() int {
		t.Helper()
		if _, err := run(t, e, "go"); err != nil {
			t.Fatal(err)
		}
		all, err := book.Of("ses_1")
		if err != nil || len(all) != 1 {
			t.Fatalf("in custody are %+v, %v", all, err)
		}
		return all[0].PID
	}
	first := pid()
	if again := pid(); again != first {
		t.Errorf("a second turn has another runner: %d, %d", first, again)
	}
	all, _ := book.All()
	if err := custody.Kill(t.Context(), all[0]); err != nil {
		t.Fatal(err)
	}
	if other := pid(); other == first {
		t.Error("a dead runner did a turn")
	}
}

// An artifact's content is not part of its event, and comes along nevertheless.
func TestArtifactsComeThroughWhole(t *testing.T) {
	t.Parallel()
	content := []byte(strings.Repeat("0123456789", 300_000)) // several pieces
	sent := harness.NewArtifact("ses_1", "tool_output", "long", content)
	e := serve(t, runner.New(teller{sent}, nil).ServeHTTP)
	kept := &keeper{Host: enginetest.NewHost("ses_1")}
	if err := e.Run(t.Context(), kept.Begin("go"), kept); err != nil {
		t.Fatal(err)
	}
	if len(kept.all) != 1 || !reflect.DeepEqual(kept.all[0], sent) {
		t.Errorf("%d artifacts came", len(kept.all))
	}
}

// teller is an engine that tells one thing.
type teller struct{ p harness.Payload }

func (teller) Abilities() harness.Abilities { return harness.Abilities{} }

func (e teller) Run(ctx context.Context, _ harness.Turn, h harness.Host) error {
	return h.Emit(ctx, e.p)
}

// keeper is a host that keeps artifacts.
type keeper struct {
	*enginetest.Host
	all []*harness.Artifact
}

func (k *keeper) Follow(ctx context.Context, frame uint64, p harness.Payload) error {
	if a, ok := p.(*harness.Artifact); ok {
		k.all = append(k.all, a)
	}
	return k.Host.Follow(ctx, frame, p)
}

// house is a kernel and what its sessions leave behind: its store, and runners.
type house struct {
	*testing.T
	dir   string
	file  string
	store *memory.Store
	*kernel.Kernel
	leave func()
	id    harness.SessionID
}

func enter(t *testing.T, script string) *house {
	t.Helper()
	h := &house{T: t, dir: t.TempDir(), store: memory.New()}
	if h.file = script; script != "chief" {
		h.file = filepath.Join(h.dir, "script")
		if err := os.WriteFile(h.file, []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.open()
	var err error
	if h.id, err = h.Create(t.Context(), harness.NewSession{Directory: h.dir}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.leave() })
	return h
}

func (h *house) open() {
	h.Helper()
	e, _ := runnersIn(h.T, h.dir, h.file)
	h.Kernel = kernel.New(h.store, map[string]harness.Engine{"runner": e}, &kernel.Options{Engine: "runner", Window: -1, IdleAfter: 20 * time.Millisecond})
	k := h.Kernel
	h.leave = func() { k.Close() }
}

// restart ends the kernel as a shutdown does, and starts another.
func (h *house) restart() {
	h.Helper()
	h.leave()
	h.open()
	if _, err := h.Recover(h.Context()); err != nil {
		h.Fatal(err)
	}
}

func (h *house) do(c harness.Command) {
	h.Helper()
	if _, err := h.Do(h.Context(), h.id, c); err != nil {
		h.Fatalf("%+v: %v", c, err)
	}
}

// see waits until the session is as it should be.
func (h *house) see(what string, cond func(*harness.State) bool) *harness.State {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), patience)
	defer cancel()
	var s *harness.State
	for up, err := range h.Watch(ctx, h.id, 0) {
		if err != nil {
			h.Fatalf("waiting for %s: %v; the state is %+v, said %q", what, err, s, said(s))
		}
		if up.State != nil {
			s = up.State.Clone()
		}
		for _, e := range up.Events {
			s.Apply(e)
		}
		if cond(s) {
			return s
		}
	}
	h.Fatalf("waiting for %s: the state is %+v", what, s)
	return nil
}

func (h *house) submit(prompt string) {
	h.Helper()
	h.do(harness.Submit{Parts: harness.TextPart(prompt), Source: harness.FromResume, OnBusy: harness.Reject})
}

func idle(s *harness.State) bool {
	return s.Turn == nil && len(s.Queue) == 0 && s.Status == harness.Idle
}

func saying(text string) func(*harness.State) bool {
	return func(s *harness.State) bool { return strings.Contains(said(s), text) }
}

// What people say and decide reaches the agent once, although the server stops
// just then and another goes on.
func TestWordsAndDecisionsReachTheAgentOnceAcrossServers(t *testing.T) {
	t.Parallel()
	h := enter(t, `say one
steer " heard:"
wait 300ms
listen " again:"
ask bash {"command":"x"} access=execute "Run it" => ran
say " done"
`)
	h.submit("go")
	h.see("the turn", saying("one"))
	h.do(harness.Steer{Parts: harness.TextPart("left")})
	h.restart()
	h.see("the word", saying(" heard:left"))
	h.restart()
	s := h.see("the question", func(s *harness.State) bool { return len(s.Pending) == 1 })
	h.restart()
	h.do(harness.Answer{Approval: s.Pending[0].ID, Decision: harness.Decision{Verdict: harness.Allow, Scope: harness.Once}})
	h.restart()
	s = h.see("the end", idle)
	if got := said(s); got != "one heard:left done" {
		t.Errorf("the agent said %q", got)
	}
	if n := len(s.Decided); n > 1 {
		t.Errorf("%d decisions", n)
	}
}

// A word that comes while its run is being found again is heard by that turn, and
// is not the prompt of another.
func TestAWordThatComesWithTheRestartIsHeardOnce(t *testing.T) {
	t.Parallel()
	for range 5 {
		h := enter(t, "say one\nsteer \" heard:\"\n")
		h.submit("go")
		h.see("the turn", saying("one"))
		h.restart()
		h.do(harness.Steer{Parts: harness.TextPart("left")})
		s := h.see("the end", func(s *harness.State) bool { return idle(s) && strings.Contains(said(s), "left") })
		if got := said(s); got != "one heard:left" || s.Turns != 1 {
			t.Fatalf("the agent said %q in %d turns", got, s.Turns)
		}
	}
}

func TestACancelledTurnEndsItsRunAlsoAfterARestart(t *testing.T) {
	t.Parallel()
	h := enter(t, "say working\nhang\n")
	h.submit("go")
	h.see("the turn", saying("working"))
	h.restart()
	h.do(harness.Cancel{})
	h.see("the end", func(s *harness.State) bool { return s.Turn == nil })
	h.submit("again")
	h.see("another turn", saying("workingworking"))
}

// A word that is said as the run ends is answered, as part of it or as the next
// prompt, and once.
func TestAWordAtTheVeryEndIsNeverLost(t *testing.T) {
	t.Parallel()
	h := enter(t, "say a\n=== next\necho\n")
	rounds := 15
	if os.Getenv("LONG") != "" {
		rounds = 300
	}
	taken := map[string]bool{}
	for i := range rounds {
		h.submit(fmt.Sprintf("p%d,", i))
		word := fmt.Sprintf("w%d,", i)
		timer := time.NewTimer(time.Duration(rand.IntN(30)) * time.Millisecond) // any moment is as good as another
		<-timer.C
		_, err := h.Do(t.Context(), h.id, harness.Steer{Parts: harness.TextPart(word)})
		switch {
		case err == nil:
			taken[word] = true
		case !errors.Is(err, harness.ErrNotRunning):
			t.Fatal(err)
		}
		h.see("rest", idle)
	}
	var all strings.Builder
	for e, err := range h.Read(t.Context(), h.id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := e.Payload.(*harness.Token); ok {
			all.WriteString(p.Text)
		}
	}
	for word := range taken {
		if n := strings.Count(all.String(), word); n != 1 {
			t.Errorf("%q was answered %d times in %q", word, n, &all)
		}
	}
	t.Logf("%d of %d words were said in time", len(taken), rounds)
}

// Only so many are kept warm: the least recently used goes, never one that works.
func TestOnlySoManyRunnersAreKeptWarm(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	src := filepath.Join(dir, "script")
	if err := os.WriteFile(src, []byte("when work\n  say working\n  hang\nelse\n  say hello\nend\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e, book := runnersOf(t, dir, src, 3)
	turn := func(s harness.SessionID) {
		t.Helper()
		h := enginetest.NewHost(s)
		if err := e.Run(t.Context(), h.Begin("go"), h); err != nil {
			t.Fatal(err)
		}
	}
	here := func() string {
		t.Helper()
		all, err := book.All()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range all {
			names = append(names, string(e.Session))
		}
		slices.Sort(names)
		return strings.Join(names, " ")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	busy := enginetest.NewHost("ses_busy")
	began := make(chan struct{})
	busy.After = func(string) { close(began) }
	done := make(chan error, 1) // Run returns once
	go func() { done <- e.Run(ctx, busy.Begin("work"), busy) }()
	<-began
	turn("ses_1")
	turn("ses_2")
	turn("ses_1")
	if got := here(); got != "ses_1 ses_2 ses_busy" {
		t.Fatalf("there are %s", got)
	}
	turn("ses_3")
	if got := here(); got != "ses_1 ses_3 ses_busy" {
		t.Errorf("there are %s", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "runners", "ses_2")); !os.IsNotExist(err) {
		t.Errorf("of the one that went is left: %v", err)
	}
	turn("ses_2") // and is back
	if got := here(); got != "ses_2 ses_3 ses_busy" {
		t.Errorf("there are %s", got)
	}
	cancel(harness.ErrNotRunning)
	if err := returned(t, done); !errors.Is(err, harness.ErrNotRunning) {
		t.Error(err)
	}
}
