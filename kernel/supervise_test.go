package kernel_test

import (
	"testing"
	"time"

	"harness"
	"harness/kernel"
	"harness/store/faulty"
)

// A run whose session was lost, because its store failed it, is found and put
// back in line though nobody asks for it: soon, or where the store fails longer
// within half a minute. Who waits behind it gets a place all the same.
func TestTheSupervisorFindsADeadRunAndRequeuesIt(t *testing.T) {
	for name, down := range map[string]time.Duration{"the store fails once": 0, "the store is away for long": 20 * time.Second} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newRig(t, "", nil)
				var since time.Time
				st := faulty.Wrap(r.mem, func(op faulty.Op) (f faulty.Fault) {
					switch {
					case op.Session != "ses_lost":
					case since.IsZero() && op.Commit != nil && op.Commit.Events[0].Type() == "tool_call":
						since = time.Now()
						f.Before = harness.ErrStorage
					case !since.IsZero() && time.Since(since) < down:
						f.Before = harness.ErrStorage
					}
					return f
				})
				r.bootWith(st, &engine{func(a *attempt) error {
					if a.turn.Attempt > 1 || harness.PlainText(a.turn.Parts) == "behind" {
						return a.say("done")
					}
					if err := a.host.Emit(a.ctx, &harness.ToolCall{ToolCallID: "c1", Name: "bash"}); err != nil {
						return err
					}
					<-a.ctx.Done()
					return a.ctx.Err()
				}}, &kernel.Options{Concurrency: 1})
				lost := r.job("ses_lost", "u", "go", 1)
				behind := r.job("ses_behind", "u", "behind", 0)
				pass(down/2 + 10*time.Second)
				if st := lost.state(); st.Status.Terminal() == (down > 0) {
					t.Errorf("after a while it is %s", st.Status)
				}
				pass(35 * time.Second)
				for _, s := range []*rig{lost, behind} {
					if st := s.state(); st.Status != harness.StatusCompleted || st.Turn != nil {
						t.Errorf("%s is %s; %s", s.id, st.Status, s.story())
					}
				}
				if n := lost.state().Course.Attempts; n != 2 {
					t.Errorf("%d attempts", n)
				}
			})
		})
	}
}
