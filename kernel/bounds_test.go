package kernel_test

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/kernel"
	"harness/store/faulty"
	"harness/store/memory"
)

// tallied counts how often logs are read.
type tallied struct {
	*memory.Store
	reads atomic.Int64
}

func (c *tallied) Read(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error] {
	c.reads.Add(1)
	return c.Store.Read(ctx, id, after)
}

func TestCommandsDuringADrainLoadTheirSessionOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "echo", nil)
		r.submit("one")
		r.rest()
		pass(time.Minute)
		st := &tallied{Store: r.mem}
		r.boot(st, "echo", nil)
		if err := r.k.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := st.reads.Load()
		for range 200 {
			r.refused(harness.ErrUnavailable, harness.Submit{Parts: harness.TextPart("x")})
		}
		if n := st.reads.Load() - before; n > 3 {
			t.Errorf("200 commands loaded the session %d times", n)
		}
	})
}

// A refusal that rests on something waits until that is durable, and is not
// given if it never becomes so.
func TestRefusalIsNotGivenBeforeItsReasonIsDurable(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "ask bash c1 {} access=execute \"Run\" => ran", nil)
		hold := make(chan struct{})
		r.boot(faulty.Wrap(r.mem, func(op faulty.Op) faulty.Fault {
			if op.Commit == nil || op.Commit.Events[0].Type() != "approval_applied" {
				return faulty.Fault{}
			}
			return faulty.Fault{Wait: func(context.Context) error { <-hold; return nil }, Before: harness.ErrStorage}
		}), "ask bash c1 {} access=execute \"Run\" => ran", nil)
		r.submit("go")
		r.pending(1)
		answers := make(chan error, 2)
		for _, v := range []harness.Verdict{harness.Allow, harness.Deny} {
			go func() {
				_, err := r.k.Do(t.Context(), r.id, harness.Answer{Call: "c1", Decision: harness.Decision{Verdict: v}})
				answers <- err
			}()
			synctest.Wait()
		}
		select {
		case err := <-answers:
			t.Errorf("answered before anything is durable: %v", err)
		default:
		}
		close(hold)
		for range 2 {
			if err := <-answers; !errors.Is(err, harness.ErrStorage) {
				t.Errorf("answer %v, want the store's error", err)
			}
		}
	})
}

// An engine that ignores its context holds up neither its session's sleep nor
// the kernel's end.
func TestStubbornEngineHoldsUpNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		stuck := make(chan struct{})
		r := with(t, &kernel.Options{CancelGrace: time.Second}, func(*attempt) error { <-stuck; return nil })
		r.submit("go")
		synctest.Wait()
		r.do(harness.Cancel{})
		r.rest()
		pass(time.Minute)
		if n := r.k.Awake(); n != 0 {
			t.Errorf("%d sessions are awake", n)
		}
		r.submit("again")
		synctest.Wait()
		r.k.Close()
		close(stuck)
	})
}

// A session that a failing store threw out is seen to again, even if nobody
// asks for it.
func TestSessionThrownOutIsWokenAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "", nil)
		r.boot(failing(r.mem, "token", faulty.Fault{Before: harness.ErrStorage}), "say x\ngate never", nil)
		r.submit("go")
		pass(time.Minute)
		st, err := r.k.At(t.Context(), r.id, 0)
		if err != nil || st.Turn != nil || st.Reason != "interrupted" {
			t.Errorf("state %+v, %v", st, err)
		}
	})
}
