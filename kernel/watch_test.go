package kernel_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/store/memory"
)

// A watcher that does not read costs the session nothing. When it reads again
// it gets a fresh state if it is too far behind, and goes on without a gap.
func TestWatcherThatDoesNotReadSlowsNobody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "stream 200 20ms word", shortTail)
		read, stuck := make(chan struct{}), make(chan struct{})
		states := 0
		var st *harness.State
		done := make(chan struct{})
		go func() {
			defer close(done)
			for up, err := range r.k.Watch(t.Context(), r.id, 0) {
				if err != nil {
					t.Error(err)
					return
				}
				if up.State != nil {
					states++
				}
				if len(up.Events) > 0 && st.Seq == 1 {
					close(stuck)
					<-read // holding events that the tail drops meanwhile
				}
				for _, e := range up.Events {
					if st.Seq+1 != e.Seq {
						t.Errorf("at %d it was shown %d", st.Seq, e.Seq)
						return
					}
					st.Apply(e)
				}
				if st = follow(st, harness.Update{State: up.State}); st.Turn == nil && st.Turns == 1 {
					return
				}
			}
		}()
		synctest.Wait()
		began := time.Now()
		r.submit("go")
		<-stuck
		want := r.rest()
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("the turn took %s", d)
		}
		close(read)
		<-done
		if states != 2 {
			t.Errorf("the watcher got %d states, want the first and a fresh one", states)
		}
		if g, w := whole(t, r.k, st), whole(t, r.k, want); g != w {
			t.Errorf("the slow watcher has\n%s\nwant\n%s", g, w)
		}
	})
}

func TestThousandWatchersSeeTheSame(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const watchers = 1000
		r := newRig(t, "say hello\nask bash c1 => files\nstream 20 20ms word", nil)
		var wg sync.WaitGroup
		ends := make([]string, watchers)
		for i := range watchers {
			wg.Go(func() {
				if i%2 == 1 {
					pass(time.Duration(i) * time.Millisecond) // come later
				}
				var st *harness.State
				for up, err := range r.k.Watch(t.Context(), r.id, 0) {
					if err != nil {
						t.Error(err)
						return
					}
					if st = follow(st, up); st.Turns == 1 && st.Turn == nil {
						ends[i] = string(st.JSON())
						return
					}
				}
			})
		}
		r.submit("go")
		r.pending(1)
		pass(500 * time.Millisecond)
		r.allow()
		wg.Wait()
		want := string(foldAgain(t, r.log()).JSON())
		for i, got := range ends {
			if got != want {
				t.Fatalf("watcher %d has\n%s\nwant\n%s", i, got, want)
			}
		}
	})
}

// Two clients on one session: what one does the other sees.
func TestOneApprovesTheOtherSees(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "ask bash c1", nil)
		r.submit("go")
		ask := r.pending(1)
		saw := make(chan harness.Decision, 1)
		go func() {
			st := ask.Clone()
			for up, err := range r.k.Watch(t.Context(), r.id, st.Seq) {
				if err != nil {
					t.Error(err)
					return
				}
				if st = follow(st, up); len(st.Decided) == 1 {
					saw <- st.Decided[0].Decision
					return
				}
			}
		}()
		synctest.Wait()
		r.do(harness.Answer{Call: "c1", Decision: harness.Decision{Verdict: harness.Allow, Actor: "ada"}})
		if d := <-saw; d.Verdict != harness.Allow || d.Actor != "ada" {
			t.Errorf("saw %+v", d)
		}
	})
}

// A cursor in the tail continues with events; one before it starts from a
// state; one in the future is invalid, awake or asleep.
func TestWatchFromACursor(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "stream 40 20ms word\nhang", shortTail)
		r.submit("go")
		pass(2 * time.Second)
		synctest.Wait()
		end := r.state().Seq
		first := func(after harness.Seq) (harness.Update, error) {
			for up, err := range r.k.Watch(t.Context(), r.id, after) {
				return up, err
			}
			return harness.Update{}, nil
		}
		if up, err := first(end - 5); err != nil || up.State != nil || len(up.Events) != 5 || up.Events[0].Seq != end-4 {
			t.Errorf("from the tail: %d events, state %v, %v", len(up.Events), up.State != nil, err)
		}
		for _, after := range []harness.Seq{0, 1, end - 17} {
			if up, err := first(after); err != nil || up.State == nil || up.State.Seq != end {
				t.Errorf("from %d: state %v, %v", after, up.State != nil, err)
			}
		}
		if _, err := first(end + 100); !errors.Is(err, harness.ErrInvalid) {
			t.Errorf("from the future, awake: %v", err)
		}
		r.do(harness.Cancel{})
		r.rest()
		pass(time.Minute)
		if _, err := first(end + 100); !errors.Is(err, harness.ErrInvalid) {
			t.Errorf("from the future, asleep: %v", err)
		}
	})
}

func TestWatchEndsWithItsContextOrItsKernel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "hang", nil)
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		ends := make(chan error, 4) // one for each watcher
		watch := func(ctx context.Context) {
			go func() {
				var last error
				for _, err := range r.k.Watch(ctx, r.id, 0) {
					last = err
				}
				ends <- last
			}()
		}
		watch(ctx) // asleep
		synctest.Wait()
		cancel(why)
		if err := <-ends; !errors.Is(err, why) {
			t.Errorf("asleep: %v", err)
		}
		r.submit("go")
		ctx, cancel = context.WithCancelCause(t.Context())
		watch(ctx) // awake
		watch(t.Context())
		synctest.Wait()
		cancel(why)
		if err := <-ends; !errors.Is(err, why) {
			t.Errorf("awake: %v", err)
		}
		r.k.Close()
		if err := <-ends; !errors.Is(err, harness.ErrUnavailable) {
			t.Errorf("closed: %v", err)
		}
	})
}

// Whoever starts to watch while a session goes to sleep still gets its state.
func TestWatchWhileTheSessionFallsAsleep(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "echo", nil)
		r.bootWith(slowSnapshots{r.mem}, &engine{func(a *attempt) error { return a.say("hi") }}, nil)
		r.submit("go")
		want := r.rest().Seq
		pass(2*time.Second + 500*time.Millisecond) // it saves its last snapshot now
		if r.k.Awake() != 1 {
			t.Fatal("the session is not where this test wants it")
		}
		for _, after := range []harness.Seq{0, 1} {
			got := harness.Seq(0)
			for up, err := range r.k.WatchAwake(t.Context(), r.id, after) {
				if err != nil {
					t.Fatal(err)
				}
				got = after
				if up.State != nil {
					got = up.State.Seq
				}
				for _, e := range up.Events {
					got = e.Seq
				}
			}
			if got != want {
				t.Errorf("after %d it was shown %d of %d", after, got, want)
			}
		}
	})
}

// slowSnapshots takes a second for each.
type slowSnapshots struct{ *memory.Store }

func (s slowSnapshots) SaveSnapshot(ctx context.Context, snap harness.Snapshot) error {
	pass(time.Second)
	return s.Store.SaveSnapshot(ctx, snap)
}
