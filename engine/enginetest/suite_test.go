package enginetest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/engine/script"
)

// situations is a script that gets into every situation of the suite.
const situations = `
when say
  say hello
  say you
else when fail
  fail broken
else when retry
  retry try again
else when long
  say working
  hang
else when think
  think hm
  say done
else when tool
  call read {"path":"a"} => text
else when ask
  ask bash {"command":"rm a"}
    result removed
else when steer
  say waiting
  steer
else when resume
  call read {"path":"a"} => text
  say half
  call bash {"command":"make"} => made
end
`

func prompts() Situations {
	return Situations{
		Say: "say", Fail: "fail", Long: "long", Retry: "retry", Think: "think", Tool: "tool", Ask: "ask", Steer: "steer", Resume: "resume",
		Bound: 10 * time.Second,
	}
}

func honest(tb testing.TB) harness.Engine {
	s, err := script.Parse(situations)
	if err != nil {
		tb.Fatal(err)
	}
	return script.New(s, nil)
}

// recorder is a TB whose failures are facts, not failures of the test.
type recorder struct {
	testing.TB
	mu       sync.Mutex // guards failures, cleanups
	failures []string
	cleanups []func()
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.failures) > 0
}

func (r *recorder) Skip(args ...any) { runtime.Goexit() }

func (r *recorder) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}

// broken lists the promises that an engine does not keep, with what the suite
// says about it.
func broken(t *testing.T, open func(testing.TB) harness.Engine) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, p := range promises {
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{TB: t}
			done := make(chan struct{})
			go func() {
				defer close(done)
				p.check(&check{TB: r, open: open, s: prompts()})
			}()
			<-done
			for _, f := range slices.Backward(r.cleanups) {
				f()
			}
			if len(r.failures) > 0 {
				found[p.name] = strings.Join(r.failures, "\n")
			}
		})
	}
	return found
}

func TestAnHonestEngineKeepsEveryPromise(t *testing.T) {
	t.Parallel()
	for name, said := range broken(t, honest) {
		t.Errorf("%s:\n%s", name, said)
	}
}

func TestAWrongEngineBreaksExactlyItsPromise(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, w := range wrongs {
		seen[w.breaks] = true
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			found := broken(t, func(tb testing.TB) harness.Engine { return w.engine(tb, honest(tb)) })
			if _, ok := found[w.breaks]; !ok {
				t.Errorf("the suite does not notice that the engine %s", w.name)
			}
			delete(found, w.breaks)
			for name, said := range found {
				t.Errorf("also breaks %s:\n%s", name, said)
			}
		})
	}
	for _, p := range promises {
		if !seen[p.name] {
			t.Errorf("no wrong engine breaks %s", p.name)
		}
	}
}

func TestAMissingPromptIsNoticed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{TB: t}
		done := make(chan struct{})
		s := prompts()
		s.Ask = ""
		go func() {
			defer close(done)
			nothingRunsUnasked(&check{TB: r, open: honest, s: s})
		}()
		<-done
		if len(r.failures) != 1 || !strings.Contains(r.failures[0], "situation Ask") {
			t.Errorf("without a prompt for Ask the suite says %q", r.failures)
		}
	})
}
