package native_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/store/faulty"
)

// twice is a turn of two calls, each of which leaves a letter in a file.
const twice = `
when result "interrupted by a restart"
  say I will look before I do it again.
when user "go" and step 1
  think first
  say First.
  call bash {"command":"printf a >> counter"}
when user "go" and step 2
  say Then.
  call bash {"command":"printf b >> counter; printf 'b done'"}
else
  say Done.
`

// TestACrashNeverRunsACallTwice stops the server at every append of a turn, with
// the commit landed and without, and goes on with what that leaves.
func TestACrashNeverRunsACallTwice(t *testing.T) {
	t.Parallel()
	for _, landed := range []bool{false, true} {
		for _, retries := range []int{0, 1} {
			t.Run(fmt.Sprintf("landed=%t,retries=%d", landed, retries), func(t *testing.T) {
				t.Parallel()
				noted := 0
				for n := 1; ; n++ {
					crashed, interrupted := crashAt(t, n, landed, retries)
					if !crashed {
						if n < 10 {
							t.Errorf("the turn had only %d appends", n-1)
						}
						break
					}
					if interrupted {
						noted++
					}
				}
				if noted < 2 {
					t.Errorf("the model was told of an interruption %d times, want at least once for each call", noted)
				}
			})
		}
	}
}

func crashAt(t *testing.T, n int, landed bool, retries int) (crashed, interrupted bool) {
	t.Helper()
	r := newRig(t, "anthropic", twice, nil)
	r.setRetries(retries)
	r.k.Close() // the next start is the one that crashes
	appends := 0
	dead := make(chan struct{})
	r.boot(func(st harness.Store) harness.Store {
		return faulty.Wrap(st, func(op faulty.Op) faulty.Fault {
			if op.Method != faulty.Append {
				return faulty.Fault{}
			}
			if appends++; appends == n+1 { // the first is the prompt itself
				crashed = true
				close(dead)
				return faulty.Fault{Crash: true, Landed: landed}
			}
			return faulty.Fault{}
		})
	})
	r.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart("go")})
	r.settled(dead)
	r.k.Close()
	r.engine.Close()

	r.mem = r.mem.Clone()
	r.boot(nil)
	if _, err := r.k.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.rest()
	if retries == 0 && crashed {
		r.prompt("continue")
	}
	file := r.file("counter")
	if strings.Count(file, "a") > 1 || strings.Count(file, "b") > 1 {
		t.Errorf("crash at append %d: the file says %q\n%s", n, file, r.story())
	}
	for _, o := range all[*harness.ToolOutcome](r) {
		interrupted = interrupted || o.Reason == "interrupted"
	}
	if body := string(r.last().Body); interrupted && !strings.Contains(body, "This call was interrupted by a restart; it may or may not have happened.") {
		t.Errorf("crash at append %d: the model is not told that a call was interrupted:\n%s\n%s", n, body, r.story())
	}
	if st := r.rest(); retries > 0 && st.Status != harness.Idle {
		t.Errorf("crash at append %d: the session is %s\n%s", n, st.Status, r.story())
	}
	if retries > 0 {
		one[*harness.Antahkarana](r)
	}
	if !crashed && file != "ab" {
		t.Errorf("without a crash the file says %q\n%s", file, r.story())
	}
	return crashed, interrupted
}

// settled waits for the crash, or for the end of a turn that did not get there.
func (r *rig) settled(dead <-chan struct{}) {
	deadline := time.After(patience)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for up, err := range r.k.Watch(r.Context(), r.id, 0) {
			if err != nil || up.State != nil && up.State.Turns > 0 && up.State.Turn == nil {
				return
			}
			for _, e := range up.Events {
				if _, ok := e.Payload.(*harness.TurnEnd); ok {
					return
				}
			}
		}
	}()
	select {
	case <-dead:
	case <-ended:
	case <-deadline:
		r.Errorf("neither a crash nor an end\n%s", r.story())
	}
}

// setRetries writes what no command sets. The session must be asleep.
func (r *rig) setRetries(n int) {
	r.Helper()
	st, err := r.k.At(r.Context(), r.id, 0)
	if err != nil {
		r.Fatal(err)
	}
	e := harness.NewEvent(r.id, st.Seq+1, time.Now(), "", &harness.SessionState{MaxRetries: &n})
	st.Apply(e)
	if err := r.mem.Append(r.Context(), harness.Commit{Session: r.id, After: e.Seq - 1, Events: []harness.Event{e}, Summary: st.Summary()}); err != nil {
		r.Fatal(err)
	}
}
