package kernel_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/kernel"
	"harness/store/faulty"
)

func TestBootClosesWhatACrashLeftOpen(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "say half\ntool bash c1\nhang", nil)
		r.submit("go")
		synctest.Wait()
		r.submit("waiting")
		c := r.crash("echo", nil)
		c.rest()
		c.tells(`session_state idle
			user_message submit go
			turn_start 1
			token half
			tool_call c1
			user_message submit waiting
			tool_outcome c1 error interrupted
			error the server stopped while the turn was running
			response half
			turn_end error interrupted
			turn_start 1
			token waiting
			response waiting
			turn_end completed`)
	})
}

func TestBootTriesAgainWhatMayBeTried(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "tool bash c1\nhang", nil)
		r.setRetries(1)
		r.submit("go")
		synctest.Wait()
		c := r.crash("echo", nil)
		c.rest()
		c.tells(`session_state idle
			session_state
			user_message submit go
			turn_start 1
			tool_call c1
			tool_outcome c1 error interrupted
			session_state recovering
			turn_start 2
			token go
			response go
			turn_end completed`)
	})
}

// A session that cannot be loaded does not keep the others from recovering.
func TestOneBadSessionDoesNotStopRecovery(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "hang", nil)
		r.submit("go")
		other := &rig{t: t, mem: r.mem, k: r.k, id: r.create(harness.NewSession{ID: "ses_bad"})}
		other.submit("go")
		synctest.Wait()
		c := &rig{t: t, mem: r.mem.Clone(), id: r.id}
		c.boot(faulty.Wrap(c.mem, func(op faulty.Op) faulty.Fault {
			if op.Method == faulty.Read && op.Session == other.id {
				return faulty.Fault{Before: harness.ErrCorrupt}
			}
			return faulty.Fault{}
		}), "echo", nil)
		if n, err := c.k.Recover(t.Context()); n != 2 || err != nil {
			t.Errorf("Recover: %d, %v", n, err)
		}
		if st := c.rest(); st.Reason != "interrupted" {
			t.Errorf("reason %q", st.Reason)
		}
		c.id = other.id
		c.refused(harness.ErrCorrupt, harness.Cancel{})
	})
}

// Drain refuses new turns, lets the running one finish, and keeps the prompts
// that wait for the next start.
func TestDrain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "gate go\necho", nil)
		first := r.do(keyed("one", "k"))
		r.submit("two")
		asleep := &rig{t: t, mem: r.mem, k: r.k, id: r.create(harness.NewSession{ID: "ses_2"})}
		drained := make(chan error, 1)
		go func() { drained <- r.k.Drain(t.Context()) }()
		synctest.Wait()
		r.refused(harness.ErrUnavailable, harness.Submit{Parts: harness.TextPart("x"), OnBusy: harness.Enqueue})
		asleep.refused(harness.ErrUnavailable, harness.Submit{Parts: harness.TextPart("x")})
		if got := r.do(keyed("one", "k")); got != first {
			t.Errorf("a repeated submit: got %+v, want %+v", got, first)
		}
		select {
		case err := <-drained:
			t.Fatalf("drained while a turn runs: %v", err)
		default:
		}
		r.engine.Open("go")
		if err := <-drained; err != nil {
			t.Fatal(err)
		}
		pass(time.Minute) // one was woken since, to be told no
		if n := r.k.Awake(); n != 0 {
			t.Errorf("%d sessions are awake after a drain", n)
		}
		if st := r.state(); st.Status != harness.Queued || len(st.Queue) != 1 {
			t.Errorf("status %s, %d prompts", st.Status, len(st.Queue))
		}
		for up, err := range r.k.Watch(t.Context(), r.id, 0) { // to watch starts nothing either
			if err != nil || up.State.Turn != nil {
				t.Errorf("a watcher of the drained session: %v", err)
			}
			break
		}
		if err := r.k.Close(); err != nil {
			t.Fatal(err)
		}
		c := r.crash("echo", nil)
		if got := c.conversation(c.rest()); got != "user:one(complete) assistant:one(complete) user:two(complete) assistant:two(complete)" {
			t.Error(got)
		}
	})
}

func TestDrainGivesUpWithItsContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "hang", nil)
		r.submit("go")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := r.k.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Drain: %v", err)
		}
	})
}

// Close ends at once, leaves the turn open in the log with what it said, and
// the next kernel sees to it.
func TestCloseLeavesTheTurnToTheNextStart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "say half\ntool bash c1\nhang", nil)
		r.setRetries(1)
		r.submit("go")
		r.submit("waiting")
		synctest.Wait()
		began := time.Now()
		r.k.Close()
		if d := time.Since(began); d != 0 {
			t.Errorf("Close took %s", d)
		}
		r.refused(harness.ErrUnavailable, harness.Cancel{})
		if _, err := r.k.Create(t.Context(), harness.NewSession{}); !errors.Is(err, harness.ErrUnavailable) {
			t.Errorf("Create: %v", err)
		}
		if st := r.state(); st.Turn == nil || len(st.Turn.Open) != 1 || st.Said(st.Turn.Item) != "half" {
			t.Errorf("the closed kernel left %s", r.story())
		}
		c := r.crash("echo", nil)
		if st := c.rest(); st.Turns != 2 || st.Status != harness.Idle {
			t.Errorf("%d turns, status %s", st.Turns, st.Status)
		}
	})
}

// Close does not start what was about to start.
func TestCloseRightAfterSubmit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for range 50 {
			r := newRig(t, "hang", nil)
			go r.k.Do(context.Background(), r.id, harness.Submit{Parts: harness.TextPart("go")})
			began := time.Now()
			r.k.Close()
			if d := time.Since(began); d != 0 {
				t.Fatalf("Close took %s", d)
			}
		}
	})
}

// Close waits for a slow store however long that takes, and for nothing else.
func TestCloseWaitsForTheStore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "hang", nil)
		st := slowly(r.mem, time.Hour)
		r.bootWith(st, &engine{func(a *attempt) error { <-a.ctx.Done(); return a.ctx.Err() }}, &kernel.Options{CancelGrace: time.Second})
		done := make(chan error, 1)
		go func() {
			_, err := r.k.Do(context.Background(), r.id, harness.Submit{Parts: harness.TextPart("go")})
			done <- err
		}()
		synctest.Wait()
		r.k.Close()
		if err := <-done; err != nil {
			t.Errorf("the submit whose append was under way: %v", err)
		}
		if got := r.state(); got.Turn == nil {
			t.Error("the submit is not in the log")
		}
	})
}
