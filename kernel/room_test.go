package kernel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/artifact"
	"harness/kernel"
	"harness/store/faulty"
	"harness/store/memory"
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

// TestAHeadWithoutASizeIsCountedByItsEvents: one that an earlier build has left.
func TestAHeadWithoutASizeIsCountedByItsEvents(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "say hi", &kernel.Options{MaxLog: 64 * 40})
		old := r.state()
		var events []harness.Event
		for i := range 50 {
			e := harness.NewEvent(r.id, old.Seq+1, time.Now(), "", &harness.SessionState{Title: new(fmt.Sprint(i))})
			old.Apply(e)
			events = append(events, e)
		}
		pass(time.Minute) // asleep
		old.Bytes = 0
		if err := r.mem.Append(t.Context(), harness.Commit{Session: r.id, After: events[0].Seq - 1, Events: events, Summary: old.Summary()}); err != nil {
			t.Fatal(err)
		}
		if err := r.mem.SaveSnapshot(t.Context(), harness.Snapshot{Session: r.id, Seq: old.Seq, State: harness.EncodeState(old)}); err != nil {
			t.Fatal(err)
		}
		r.refused(harness.ErrQuota, harness.Submit{Parts: harness.TextPart("more")})
	})
}

// TestASizeIsWhatTheEventsAddUpTo: whoever comes while appends are under way is
// told what the log has up to there.
func TestASizeIsWhatTheEventsAddUpTo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := &rig{t: t, mem: memory.New()}
		slow := faulty.Wrap(r.mem, func(op faulty.Op) (f faulty.Fault) {
			if op.Method == faulty.Append {
				f.Wait = func(context.Context) error { pass(10 * time.Millisecond); return nil }
			}
			return f
		})
		r.boot(slow, "stream 100 1ms word", &kernel.Options{Window: -1})
		r.id = r.create(harness.NewSession{})
		r.submit("go")
		for range 20 {
			pass(3 * time.Millisecond)
			st := r.joined()
			sum := int64(0)
			for _, e := range r.log()[:st.Seq] {
				sum += e.Stored()
			}
			if st.Bytes != sum {
				t.Fatalf("at %d it has %d bytes, the events %d", st.Seq, st.Bytes, sum)
			}
		}
		r.rest()
	})
}

// joined is the state that a new watcher is given.
func (r *rig) joined() *harness.State {
	r.t.Helper()
	for up, err := range r.k.Watch(r.t.Context(), r.id, 0) {
		if err != nil {
			r.t.Fatal(err)
		}
		return up.State
	}
	return nil
}
