package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"harness"
	"harness/kernel"
	"harness/store/faulty"
)

func TestSteerIsFoldedIntoTheRunningTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "say one\nsteer \"heard \"", nil)
		turn := r.submit("go").Turn
		synctest.Wait()
		if got := r.do(harness.Steer{Parts: harness.TextPart("left")}); got.Turn != turn || got.Item == "" {
			t.Errorf("receipt %+v", got)
		}
		st := r.rest()
		if got := r.conversation(st); got != "user:go(complete) assistant:one(complete) user:left(complete) assistant:heard left(complete)" {
			t.Error(got)
		}
		if st.Turns != 1 {
			t.Errorf("%d turns", st.Turns)
		}
		r.refused(harness.ErrNotRunning, harness.Steer{Parts: harness.TextPart("late")})
	})
}

// A word that the engine never took becomes the next turn, as one message,
// whether the turn succeeded or failed; a cancel drops it.
func TestUnreadSteerBecomesTheNextTurn(t *testing.T) {
	for _, end := range []string{"completed", "error", "cancelled"} {
		t.Run(end, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				leave := make(chan struct{})
				r := with(t, nil, func(a *attempt) error {
					switch {
					case harness.PlainText(a.turn.Parts) != "go":
						return a.say("next")
					case end == "cancelled":
						<-a.ctx.Done()
					default:
						<-leave
					}
					if end == "error" {
						return errors.New("broken")
					}
					return nil
				})
				r.submit("go")
				synctest.Wait()
				r.do(harness.Steer{Parts: harness.TextPart("left")})
				r.do(harness.Steer{Parts: harness.TextPart("right")})
				if end == "cancelled" {
					r.do(harness.Cancel{})
				}
				close(leave)
				st := r.rest()
				want := "user:go(complete) assistant:(error) user:left(complete) user:right(complete)"
				turns := 1
				if end != "cancelled" {
					want, turns = want+" assistant:next(complete) assistant:next(complete)", 3
				}
				if got := r.conversation(st); got != want || st.Turns != turns {
					t.Errorf("%d turns: %s\n%s", st.Turns, got, r.story())
				}
			})
		})
	}
}

// The engine may return while a word to it is still on its way to the disk:
// that word is not lost either.
func TestSteerWhoseAppendOutlivesTheTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		slow, stalled := make(chan struct{}), make(chan struct{})
		r := newRig(t, "", nil)
		st := faulty.Wrap(r.mem, func(op faulty.Op) faulty.Fault {
			if op.Commit != nil && op.Commit.Events[0].Type() == "user_message" && op.Commit.Events[0].Payload.(*harness.UserMessage).Source == harness.FromSteer {
				return faulty.Fault{Wait: func(context.Context) error { close(stalled); <-slow; return nil }}
			}
			return faulty.Fault{}
		})
		leave := make(chan struct{})
		r.bootWith(st, &engine{func(a *attempt) error {
			if harness.PlainText(a.turn.Parts) == "go" {
				<-leave
				return nil
			}
			return a.say("heard " + harness.PlainText(a.turn.Parts))
		}}, nil)
		r.submit("go")
		steered := make(chan error, 1)
		go func() {
			_, err := r.k.Do(t.Context(), r.id, harness.Steer{Parts: harness.TextPart("left")})
			steered <- err
		}()
		<-stalled
		close(leave)
		synctest.Wait()
		close(slow)
		if err := <-steered; err != nil {
			t.Fatal(err)
		}
		if got := r.conversation(r.rest()); got != "user:go(complete) assistant:(error) user:left(complete) assistant:heard left(complete)" {
			t.Error(got)
		}
	})
}

// Words that an attempt did not take are said to the next one.
func TestUnreadSteerGoesToTheNextAttempt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		fail := make(chan struct{})
		r := with(t, &kernel.Options{}, func(a *attempt) error {
			if a.turn.Attempt == 1 {
				<-fail
				return fmt.Errorf("busy: %w", harness.ErrRetry)
			}
			return a.say("heard " + harness.PlainText(harness.Spoken(<-a.host.Steering())))
		})
		r.setRetries(1)
		r.submit("go")
		synctest.Wait()
		r.do(harness.Steer{Parts: harness.TextPart("left")})
		close(fail)
		if got := r.conversation(r.rest()); got != "user:go(complete) assistant:(error) user:left(complete) assistant:heard left(complete)" {
			t.Error(got)
		}
	})
}

func TestSteersOfOneTurnAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "hang", nil)
		r.submit("go")
		synctest.Wait()
		for range 64 {
			r.do(harness.Steer{Parts: harness.TextPart("more")})
		}
		r.refused(harness.ErrQueueFull, harness.Steer{Parts: harness.TextPart("too much")})
		r.do(harness.Cancel{})
		r.rest()
	})
}
