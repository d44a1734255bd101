package kernel_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/artifact"
	"harness/kernel"
)

// stored is what the session's row says that it stores, and what its log has.
func (r *rig) stored() (row, log int64) {
	r.t.Helper()
	for sum, err := range r.k.List(r.t.Context(), harness.Filter{Session: r.id}) {
		if err != nil {
			r.t.Fatal(err)
		}
		row = sum.Bytes
	}
	for _, e := range r.log() {
		if e.Session == r.id { // else of its parent
			log += int64(len(e.JSON()))
		}
	}
	return row, log
}

// talker says so many times 1 KiB, and stops when it is told to.
func talker(n int) func(*attempt) error {
	return func(a *attempt) error {
		for range n {
			if err := a.host.Emit(a.ctx, &harness.Thinking{Text: strings.Repeat("x", 1024)}); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestAFullSessionEndsItsTurnAndLives: the turn that fills it ends with an error
// that says so, nothing but what ends something is taken any more, also after a
// restart, and the session is read, and goes on in a branch.
func TestAFullSessionEndsItsTurnAndLives(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const most = 256 << 10
		opts := &kernel.Options{MaxLog: most}
		r := with(t, opts, talker(10_000))
		r.submit("go")
		st := r.rest()
		if st.Status != harness.StatusFailed || !strings.Contains(st.Error, "as many as one may") {
			t.Errorf("it is %s with the error %q", st.Status, st.Error)
		}
		var failure *harness.Failure
		var end *harness.TurnEnd
		for _, e := range r.log() {
			switch p := e.Payload.(type) {
			case *harness.Failure:
				failure = p
			case *harness.TurnEnd:
				end = p
			}
		}
		if failure == nil || failure.Code != "session_full" || end == nil || end.Status != harness.TurnError || end.Reason != "session_full" {
			t.Errorf("it ended with %+v and %+v", failure, end)
		}
		row, log := r.stored()
		if row != log || row < most || row > most+2<<20 { // two appends
			t.Errorf("the row has %d bytes, the log %d, the most is %d", row, log, most)
		}
		full := func(r *rig) {
			t.Helper()
			for _, cmd := range []harness.Command{
				harness.Submit{Parts: harness.TextPart("more")}, harness.Configure{Title: new("t")}, harness.Pause{}, harness.Rewind{Message: "itm_1"}, harness.Steer{Parts: harness.TextPart("x")},
			} {
				r.refused(harness.ErrQuota, cmd)
			}
			r.refused(harness.ErrNotRunning, harness.Cancel{})
			if again, _ := r.stored(); again != row {
				t.Errorf("what was refused made it grow from %d to %d", row, again)
			}
		}
		full(r)
		pass(time.Minute)
		full(r) // woken again
		full(r.crash("say hi", opts))
		b := r.branch("ses_2", st.Seq)
		if mine, log := b.stored(); mine == 0 || mine != log || mine > most/2 {
			t.Errorf("a branch begins with %d bytes, its log has %d", mine, log)
		}
		b.do(harness.Configure{Title: new("goes on")})
	})
}

// TestArtifactsTakeRoom counts what is on the shelf with the log.
func TestArtifactsTakeRoom(t *testing.T) {
	shelf, err := artifact.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	bubble(t, func(t *testing.T) {
		kept := 0
		r := with(t, &kernel.Options{MaxLog: 1 << 20, Shelf: shelf}, func(a *attempt) error {
			for i := range 100 {
				if err := a.host.Emit(a.ctx, harness.NewArtifact(a.turn.Session, "tool_output", fmt.Sprint(i), []byte(strings.Repeat(fmt.Sprint(i%10), 64<<10)))); err != nil {
					return err
				}
				kept++
				pass(time.Millisecond)
			}
			return nil
		})
		r.submit("go")
		if st := r.rest(); !strings.Contains(st.Error, "as many as one may") || kept > 24 {
			t.Errorf("%d artifacts were kept, and it says %q", kept, st.Error)
		}
	})
}

// TestARowWithoutASizeIsCountedByItsEvents: one that an earlier build has left.
func TestARowWithoutASizeIsCountedByItsEvents(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "say hi", &kernel.Options{MaxLog: 64 * 40})
		old := r.state()
		var events []harness.Event
		for i := range 50 {
			e := harness.NewEvent(r.id, old.Seq+1, time.Now(), "", &harness.SessionState{Title: new(fmt.Sprint(i))})
			old.Apply(e)
			events = append(events, e)
		}
		if err := r.mem.Append(t.Context(), harness.Commit{Session: r.id, After: events[0].Seq - 1, Events: events, Summary: old.Summary()}); err != nil {
			t.Fatal(err)
		}
		r.refused(harness.ErrQuota, harness.Submit{Parts: harness.TextPart("more")})
	})
}
