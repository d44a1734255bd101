package native_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/engine/native"
	"harness/engine/native/conscience"
)

// endings are the ways in which a turn ends before it is done.
var endings = map[string]struct {
	limit  time.Duration // of the turn
	cancel bool
	status string
	error  string
}{
	"cancel":   {cancel: true, status: harness.TurnCancelled},
	"deadline": {limit: 300 * time.Millisecond, status: harness.TurnError, error: "the time of the turn is over"},
}

// A turn that was cancelled, or whose time is over, tells the last hooks and is
// summed up, once each, before its one end.
func TestATurnThatIsEndedClosesItsBooks(t *testing.T) {
	t.Parallel()
	for name, c := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "chat", "say I wait.\ncall bash {\"command\":\"echo begun; sleep 600\"}", func(r *rig) {
				r.opts.Limits.Turn = c.limit
				r.opts.Hooks = []native.Hook{{On: native.HookTurnEnd, Command: "cat >> ended.json"}}
			})
			r.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart("wait")})
			if c.cancel {
				r.until("the command", func(st *harness.State) bool { return strings.Contains(said(st), "begun") })
				r.do(harness.Cancel{})
			}
			r.rest()
			var o struct{ Event, Status, Error string }
			if err := json.Unmarshal([]byte(r.file("ended.json")), &o); err != nil || o.Event != "turn_end" || o.Status != c.status || !strings.Contains(o.Error, c.error) {
				t.Errorf("%v: the hook read %s", err, r.file("ended.json"))
			}
			sum := one[*harness.Antahkarana](r)
			if !strings.Contains(string(sum.Buddhi), `"status":"`+c.status+`"`) || !strings.Contains(string(sum.Buddhi), `"answered":true`) {
				t.Errorf("summed up as %s", sum.Buddhi)
			}
			r.sumsUp(sum)
			r.closed("hook_event turn_end ok", "antahkarana", "turn_end "+c.status)
		})
	}
}

// sumsUp checks that the whole turn adds up to its summary, with what came after.
func (r *rig) sumsUp(sum *harness.Antahkarana) {
	r.Helper()
	log := r.log()
	begins := slices.IndexFunc(log, func(e harness.Event) bool { _, ok := e.Payload.(*harness.UserMessage); return ok })
	want, err := json.Marshal(conscience.Of(r.dir, log[begins:]))
	if err != nil {
		r.Fatal(err)
	}
	if got, err := json.Marshal(sum); err != nil || string(got) != string(want) {
		r.Errorf("the turn adds up to\n%s\nand was summed up as\n%s", want, got)
	}
}

// closed checks that the log has each of these once, in this order.
func (r *rig) closed(want ...string) {
	r.Helper()
	story, at := r.story(), -1
	for _, line := range want {
		next := strings.Index(story, "\n"+line)
		if next <= at || strings.Count(story, "\n"+line) != 1 {
			r.Errorf("%q is not there once, after what comes before it\n%s", line, story)
		}
		at = next
	}
}

// A hook that hangs does not hold a turn that was told to end, and the turn is
// summed up all the same.
func TestALastHookThatHangsDoesNotHoldACancelledTurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, "chat", "say I wait.\npause", func(r *rig) {
		r.opts.Hooks = []native.Hook{{On: native.HookTurnEnd, Command: "echo $$ > pid; sleep 600"}}
		r.kopts.CancelGrace = patience
	})
	r.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart("wait")})
	r.until("some text", func(st *harness.State) bool { return strings.Contains(said(st), "I wait.") })
	r.do(harness.Cancel{})
	r.rest()
	r.closed("hook_event turn_end", "antahkarana", "turn_end cancelled user")
	if pid := strings.TrimSpace(r.file("pid")); alive(pid) {
		t.Errorf("process %s runs", pid)
	}
}

// A turn that is cancelled while its engine begins ends like any other.
func TestATurnIsClosedHoweverEarlyItIsCancelled(t *testing.T) {
	t.Parallel()
	r := newRig(t, "chat", "say Hello.", func(r *rig) {
		r.opts.Hooks = []native.Hook{{On: native.HookTurnEnd, Command: "true"}}
	})
	r.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart("hello")})
	if _, err := r.k.Do(t.Context(), r.id, harness.Cancel{}); err != nil && !errors.Is(err, harness.ErrNotRunning) {
		t.Fatal(err)
	}
	r.rest()
	r.sumsUp(one[*harness.Antahkarana](r))
	r.closed("hook_event turn_end ok", "antahkarana", "turn_end ")
}

// The last hooks run and the sum is drawn when the turn is over, not after each
// attempt at it, and not when the server stops.
func TestATurnIsClosedOnceOverAllItsAttempts(t *testing.T) {
	t.Parallel()
	r := newRig(t, "chat", "when request 1\n  status 529 Overloaded\nelse\n  say Hello.", func(r *rig) {
		r.opts.Hooks = []native.Hook{{On: native.HookTurnEnd, Command: "true"}}
	})
	r.id = "ses_again"
	if _, err := r.k.Create(t.Context(), harness.NewSession{ID: r.id, Directory: r.dir, MaxRetries: new(1)}); err != nil {
		t.Fatal(err)
	}
	r.prompt("hello")
	r.closed("turn_start 2", "hook_event turn_end ok", "antahkarana", "turn_end completed")
}
