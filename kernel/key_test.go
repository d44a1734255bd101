package kernel_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"harness"
)

func keyed(text, key string) harness.Submit {
	return harness.Submit{Parts: harness.TextPart(text), OnBusy: harness.Enqueue, ClientKey: key}
}

// The same key again gets the first receipt and starts nothing: one after the
// other, at once, and after a crash.
func TestClientKeyIsAcceptedOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "echo", nil)
		first := r.do(keyed("go", "k1"))
		r.rest()
		if again := r.do(keyed("go", "k1")); again != first {
			t.Errorf("again: got %+v, want %+v", again, first)
		}
		var receipts [10]harness.Receipt
		var wg sync.WaitGroup
		for i := range receipts {
			wg.Go(func() { receipts[i] = r.do(keyed("more", "k2")) })
		}
		wg.Wait()
		for _, got := range receipts {
			if got != receipts[0] {
				t.Errorf("at once: got %+v and %+v", got, receipts[0])
			}
		}
		r.rest()
		c := r.crash("echo", nil)
		if again := c.do(keyed("go", "k1")); again != first {
			t.Errorf("after a crash: got %+v, want %+v", again, first)
		}
		if got := c.conversation(c.rest()); got != "user:go(complete) assistant:go(complete) user:more(complete) assistant:more(complete)" {
			t.Error(got)
		}
	})
}

func TestClientKeyOfASteerIsAcceptedOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "say a\nsteer\nsteer", nil)
		r.submit("go")
		synctest.Wait()
		word := harness.Steer{Parts: harness.TextPart("left"), ClientKey: "k"}
		first := r.do(word)
		if again := r.do(word); again != first {
			t.Errorf("got %+v, want %+v", again, first)
		}
		r.do(harness.Steer{Parts: harness.TextPart("right")})
		r.rest()
		if again := r.do(word); again != first { // though the turn is over
			t.Errorf("later: got %+v, want %+v", again, first)
		}
	})
}

// A queued prompt's receipt names its turn once there is one.
func TestKeyOfAQueuedPromptLearnsItsTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "gate go", nil)
		r.submit("first")
		queued := r.do(keyed("second", "k"))
		r.engine.Open("go")
		st := r.rest()
		again := r.do(keyed("second", "k"))
		if queued.Turn != "" || again.Turn == "" || again.Item != queued.Item || again.Seq != queued.Seq {
			t.Errorf("queued %+v, again %+v, after %d turns", queued, again, st.Turns)
		}
	})
}

func TestOldKeysAreForgottenInOrder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "wait 0s", nil)
		first := r.do(keyed("x", "k0"))
		r.rest()
		for i := range harness.MaxKeys {
			r.do(keyed("x", fmt.Sprint("k", i+1)))
			r.rest()
		}
		if again := r.do(keyed("x", "k0")); again.Item == first.Item {
			t.Error("the memory has no bound")
		}
		last := r.state().Keys
		if got := r.do(keyed("x", fmt.Sprint("k", harness.MaxKeys))); len(last) != harness.MaxKeys || got.Item != last[len(last)-2].Item {
			t.Errorf("%d keys are known; the newest got %+v", len(last), got)
		}
	})
}

// A keyed cancel, pause or resume means the moment it was first sent: its
// repetition gets the first receipt and reaches nothing later.
func TestClientKeyOfAControlIsAcceptedOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "hang", nil)
		r.submit("first")
		synctest.Wait()
		cancel, pause, resume := harness.Cancel{ClientKey: "c"}, harness.Pause{ClientKey: "p"}, harness.Resume{ClientKey: "r"}
		stopped := r.do(cancel)
		r.rest()
		paused := r.do(pause)
		again := r.do(harness.Pause{ClientKey: "p2"}) // of a session that is already paused
		resumed := r.do(resume)
		turn := r.submit("second").Turn
		synctest.Wait()
		r = r.crash("hang", nil)
		for _, c := range []struct {
			cmd  harness.Command
			want harness.Receipt
		}{
			{cancel, stopped}, {pause, paused}, {resume, resumed}, {harness.Pause{ClientKey: "p2"}, again},
		} {
			if got := r.do(c.cmd); got != c.want {
				t.Errorf("%+v: got %+v, want %+v", c.cmd, got, c.want)
			}
		}
		if st := r.state(); st.Pausing || st.Status == harness.Paused || st.Turn != nil && st.Turn.Cancelling {
			t.Errorf("an old key reached turn %s: %+v", turn, st)
		}
	})
}

// A keyed cancel of a turn that is already ending is remembered, too: its
// repetition must not reach the next turn.
func TestClientKeyOfALateCancelIsRemembered(t *testing.T) {
	bubble(t, func(t *testing.T) {
		let := make(chan struct{})
		r := with(t, nil, func(a *attempt) error {
			<-a.ctx.Done()
			<-let
			return context.Cause(a.ctx)
		})
		r.submit("first")
		synctest.Wait()
		r.do(harness.Cancel{})
		late := r.do(harness.Cancel{ClientKey: "c"})
		let <- struct{}{}
		r.rest()
		r.submit("second")
		synctest.Wait()
		if got := r.do(harness.Cancel{ClientKey: "c"}); got != late {
			t.Errorf("got %+v, want %+v", got, late)
		}
		if st := r.state(); st.Turn == nil || st.Turn.Cancelling {
			t.Error("an old key cancelled the next turn")
		}
		close(let)
	})
}

func TestATitleIsConfigured(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "say hi", nil)
		r.do(harness.Configure{Title: new("one")})
		r.do(harness.Configure{Patch: harness.ConfigPatch{Model: new("m")}})
		if st := r.state(); st.Title != "one" || st.Config.Model != "m" {
			t.Errorf("%q %q", st.Title, st.Config.Model)
		}
		r.refused(harness.ErrInvalid, harness.Configure{})
		r.refused(harness.ErrInvalid, harness.Configure{Title: new(strings.Repeat("x", harness.MaxTitle+1))})
	})
}
