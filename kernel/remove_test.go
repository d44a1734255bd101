package kernel_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/kernel"
	"harness/store/faulty"
	"harness/store/memory"
)

// asleep waits until no session is awake; the bubble's clock is on our side.
func (r *rig) asleep() {
	r.t.Helper()
	for range 100 {
		if synctest.Wait(); r.k.Awake() == 0 {
			return
		}
		time.Sleep(time.Second) // sleep: the bubble's time, for sessions to go idle
	}
	r.t.Fatal("sessions stay awake")
}

// A session is gone when Remove returns, awake or asleep, and nothing of it
// comes back.
func TestARemovedSessionIsGone(t *testing.T) {
	for _, name := range []string{"awake", "asleep"} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newRig(t, "say hi", nil)
				r.submit("go")
				r.rest()
				if name == "asleep" {
					r.asleep()
				}
				if err := r.k.Remove(t.Context(), r.id); err != nil {
					t.Fatal(err)
				}
				if n := r.k.Awake(); n != 0 {
					t.Errorf("%d sessions are awake", n)
				}
				r.refused(harness.ErrNotFound, harness.Pause{})
				if _, err := r.k.At(t.Context(), r.id, 0); !errors.Is(err, harness.ErrNotFound) {
					t.Errorf("its state: %v", err)
				}
				if err := r.k.Remove(t.Context(), r.id); !errors.Is(err, harness.ErrNotFound) {
					t.Errorf("again: %v", err)
				}
				r.create(harness.NewSession{ID: r.id}) // the id is free
				if st := r.state(); st.Seq != 1 {
					t.Errorf("the new one begins at %d", st.Seq)
				}
			})
		})
	}
}

// A session that is in the middle of something, or that others need, stays, and
// goes on as if nothing had been said.
func TestABusySessionIsNotRemoved(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "ask bash => ok\nsay done", nil)
		r.submit("go")
		synctest.Wait()
		if err := r.k.Remove(t.Context(), r.id); !errors.Is(err, harness.ErrBusy) {
			t.Errorf("while it asks: %v", err)
		}
		c := r.crash("say done", nil) // it sleeps, and still waits for the answer
		c.asleep()
		if err := c.k.Remove(t.Context(), c.id); !errors.Is(err, harness.ErrBusy) {
			t.Errorf("while it waits: %v", err)
		}
		r.allow()
		r.rest()
		branch := r.create(harness.NewSession{From: &harness.Branch{Session: r.id, Seq: 2}})
		if err := r.k.Remove(t.Context(), r.id); !errors.Is(err, harness.ErrBranched) {
			t.Errorf("a parent: %v", err)
		}
		r.submit("more")
		r.pending(1)
		r.allow()
		r.rest()
		for _, id := range []harness.SessionID{branch, r.id} {
			if err := r.k.Remove(t.Context(), id); err != nil {
				t.Errorf("remove %s: %v", id, err)
			}
		}
	})
}

// Commands and removals at once: a command is either carried out on the session
// or told that there is none, and a failing removal does not get in its way.
func TestCommandsBesideARemoval(t *testing.T) {
	bubble(t, func(t *testing.T) {
		fails := true
		st := faulty.Wrap(memory.New(), func(op faulty.Op) faulty.Fault {
			if op.Method == faulty.Remove && fails {
				return faulty.Fault{Before: fmt.Errorf("not now: %w", harness.ErrStorage)}
			}
			return faulty.Fault{}
		})
		r := &rig{t: t}
		r.boot(st, "say hi", &kernel.Options{})
		r.id = r.create(harness.NewSession{ID: "ses_1"})
		both := func(want *harness.Error) {
			var wg sync.WaitGroup
			for range 20 {
				wg.Go(func() {
					if _, err := r.k.Do(t.Context(), r.id, harness.Configure{Title: new("t")}); err != nil && !errors.Is(err, harness.ErrNotFound) || want == harness.ErrStorage && err != nil {
						t.Errorf("a command: %v", err)
					}
				})
				wg.Go(func() {
					err := r.k.Remove(t.Context(), r.id)
					if !errors.Is(err, want) && !(want == harness.ErrNotFound && err == nil) {
						t.Errorf("a removal: %v", err)
					}
				})
			}
			wg.Wait()
		}
		both(harness.ErrStorage)
		fails = false
		both(harness.ErrNotFound)
	})
}
