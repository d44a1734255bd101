package kernel_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/kernel"
)

// A turn that was told to end says how it did, and nothing else, before its one
// end.
func TestACancelledTurnClosesItsBooks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var cause error
		r := with(t, nil, func(a *attempt) error {
			<-a.ctx.Done()
			cause = context.Cause(a.ctx)
			closing := context.WithoutCancel(a.ctx)
			for _, p := range []harness.Payload{
				&harness.Token{Text: "too late"}, &harness.HookEvent{Kind: "turn_end", Status: "ok"}, &harness.Antahkarana{}, &harness.Completed{Result: "no"},
			} {
				if err := a.host.Emit(closing, p); err != nil {
					t.Errorf("%s: %v", p.Type(), err)
				}
			}
			if err := a.host.Emit(a.ctx, &harness.Antahkarana{}); !errors.Is(err, harness.ErrNotRunning) {
				t.Errorf("with the turn's own context: %v", err)
			}
			if _, err := a.host.Ask(closing, harness.ToolUse{Call: "c", Tool: "bash"}); !errors.Is(err, harness.ErrNotRunning) {
				t.Errorf("a question: %v", err)
			}
			return cause
		})
		r.submit("go")
		synctest.Wait()
		r.do(harness.Cancel{})
		r.rest()
		r.tells(`session_state idle
			user_message submit go
			turn_start 1
			hook_event cancel_requested
			hook_event turn_end
			antahkarana
			turn_end cancelled user`)
		if !errors.Is(cause, harness.ErrNotRunning) {
			t.Errorf("it was told to end with %v", cause)
		}
	})
}

// The turn ends without an engine that hangs while it closes its books, and
// nothing of that engine is taken any more.
func TestAnEngineThatHangsInClosingDoesNotHoldTheTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		release, late := make(chan struct{}), make(chan error, 1)
		r := with(t, &kernel.Options{CancelGrace: 3 * time.Second}, func(a *attempt) error {
			<-a.ctx.Done()
			closing := context.WithoutCancel(a.ctx)
			a.host.Emit(closing, &harness.HookEvent{Kind: "turn_end", Status: "ok"})
			<-release
			late <- a.host.Emit(closing, &harness.Antahkarana{})
			return nil
		})
		r.submit("go")
		synctest.Wait()
		began := time.Now()
		r.do(harness.Cancel{})
		if st := r.state(); st.Turn == nil || !st.Turn.Cancelling {
			t.Errorf("the cancel does not show: %+v", st.Turn)
		}
		r.rest()
		if d := time.Since(began); d != 3*time.Second {
			t.Errorf("the turn ended after %s", d)
		}
		close(release)
		if err := <-late; !errors.Is(err, harness.ErrNotRunning) {
			t.Errorf("what came too late: %v", err)
		}
		r.tells(`session_state idle
			user_message submit go
			turn_start 1
			hook_event cancel_requested
			hook_event turn_end
			turn_end cancelled abandoned`)
	})
}

// An engine knows whether its turn may be tried again.
func TestAnEngineIsToldWhichAttemptIsTheLast(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var final []bool
		r := with(t, nil, func(a *attempt) error {
			final = append(final, a.turn.Final)
			return harness.ErrRetry
		})
		r.setRetries(2)
		r.submit("go")
		r.rest()
		if len(final) != 3 || final[0] || final[1] || !final[2] {
			t.Errorf("attempts that are the last: %v", final)
		}
	})
}

func TestAHeldTurnIsNotOver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var cause error
		r := bounded(t, harness.HealthPolicy{TotalTokens: new(int64(500))}, func(a *attempt) error {
			err := steady(a)
			cause = context.Cause(a.ctx)
			a.host.Emit(context.WithoutCancel(a.ctx), &harness.Antahkarana{}) // the turn is not over
			return err
		})
		r.submit("go")
		r.held()
		synctest.Wait()
		if !errors.Is(cause, harness.ErrHeld) || r.count("antahkarana") > 0 {
			t.Errorf("a held turn ended with %v\n%s", cause, r.story())
		}
	})
}
