package kernel_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/kernel"
)

func TestSubmitRunsATurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "think hm\nsay hello\ncall ls c1 => files\nsay \" there\"", nil)
		receipt := r.submit("hi")
		st := r.rest()
		r.tells(`session_state idle
			user_message submit hi
			turn_start 1
			thinking
			token hello
			tool_call c1
			tool_result
			tool_outcome c1 ok
			token  there
			response hello there
			turn_end completed`)
		if receipt.Turn != r.log()[2].Turn || receipt.Item != st.Messages[0].ID {
			t.Errorf("receipt %+v does not name the turn and the message", receipt)
		}
		if got, want := r.conversation(st), "user:hi(complete) assistant:hello there(complete)"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestBusySessionRejectsQueuesOrIsInterrupted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "say working\nwhen first\nhang\nend", nil)
		r.submit("first")
		synctest.Wait()
		r.refused(harness.ErrBusy, harness.Submit{Parts: harness.TextPart("x")})
		r.refused(harness.ErrBusy, harness.Submit{Parts: harness.TextPart("x"), OnBusy: harness.Reject})
		r.submit("second")
		r.do(harness.Submit{Parts: harness.TextPart("third"), OnBusy: harness.Interrupt})
		r.rest()
		r.tells(`session_state idle
			user_message submit first
			turn_start 1
			token working
			user_message submit second
			user_message submit third
			hook_event cancel_requested
			response working
			turn_end cancelled user
			turn_start 1
			token working
			response working
			turn_end completed
			turn_start 1
			token working
			response working
			turn_end completed`)
	})
}

func TestQueueKeepsItsOrderAndItsBound(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "echo\nwhen p0\ngate go\nend", &kernel.Options{MaxQueue: 3})
		for i := range 4 {
			r.submit(fmt.Sprint("p", i))
		}
		r.refused(harness.ErrQueueFull, harness.Submit{Parts: harness.TextPart("p4"), OnBusy: harness.Enqueue})
		r.refused(harness.ErrQueueFull, harness.Submit{Parts: harness.TextPart("p4"), OnBusy: harness.Interrupt})
		r.engine.Open("go")
		var said []string
		for _, m := range r.rest().Messages {
			if m.Role == harness.Assistant {
				said = append(said, m.Content.String())
			}
		}
		if got := strings.Join(said, " "); got != "p0 p1 p2 p3" {
			t.Errorf("answered %s", got)
		}
	})
}

func TestConfigureReachesTheRunningEngine(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := &engine{}
		seen := make(chan string, 2) // one for each look
		look, looked := make(chan struct{}), make(chan struct{})
		e.run = func(at *attempt) error {
			seen <- at.host.Config().Model
			close(looked)
			<-look
			seen <- at.host.Config().Model
			return nil
		}
		r := newRig(t, "", nil)
		r.bootWith(r.mem, e, nil)
		r.submit("go")
		<-looked
		r.do(harness.Configure{Patch: harness.ConfigPatch{Model: new("m2")}})
		synctest.Wait()
		close(look)
		r.rest()
		if a, b := <-seen, <-seen; a != "" || b != "m2" {
			t.Errorf("the engine saw %q, then %q", a, b)
		}
	})
}

func TestRewindIsUnsupportedAndChangesNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "", nil)
		r.refused(harness.ErrUnsupported, harness.Rewind{Message: "itm_x"})
		r.tells("session_state idle")
	})
}

func TestPauseHoldsTheNextTurnUntilResume(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "when one\ngate go\nend\necho", nil)
		r.submit("one")
		r.submit("two")
		r.do(harness.Pause{})
		r.engine.Open("go")
		st := r.until("pause", func(st *harness.State) bool { return st.Status == harness.Paused })
		if len(st.Queue) != 1 {
			t.Errorf("%d prompts wait, want 1", len(st.Queue))
		}
		r.refused(harness.ErrBusy, harness.Submit{Parts: harness.TextPart("x")})
		pass(time.Minute) // asleep and awake again, it stays paused
		if r.k.Awake() != 0 {
			t.Error("a paused session stays awake")
		}
		if st := r.state(); st.Status != harness.Paused || st.Turn != nil {
			t.Errorf("status %s after a minute", st.Status)
		}
		r.do(harness.Resume{})
		if got := r.conversation(r.rest()); got != "user:one(complete) assistant:one(complete) user:two(complete) assistant:two(complete)" {
			t.Errorf("conversation %s", got)
		}
	})
}

func TestUnknownSessionIsNotFound(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "", nil)
		r.id = "ses_none"
		r.refused(harness.ErrNotFound, harness.Cancel{})
		for _, err := range r.k.Watch(t.Context(), r.id, 0) {
			if harness.AsError(err) != harness.ErrNotFound {
				t.Errorf("Watch: %v", err)
			}
		}
		if r.k.Awake() != 0 {
			t.Error("a session that does not exist is awake")
		}
	})
}
