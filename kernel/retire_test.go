package kernel_test

import (
	"slices"
	"testing"
	"time"

	"harness"
	"harness/kernel"
)

// TestOldSessionsRetire has sessions of every kind of rest: exactly those go that
// have ended or are idle and are older than the limit, and not what they branch
// into or what waits for somebody.
func TestOldSessionsRetire(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "when ask\nask bash {\"command\":\"x\"} => ran\nelse\nsay hi\nend", nil)
		old := func(id harness.SessionID) *rig {
			s := &rig{t: t, mem: r.mem, engine: r.engine, k: r.k, id: r.create(harness.NewSession{ID: id})}
			s.submit("go")
			s.rest()
			return s
		}
		done, parent, asks := old("ses_done"), old("ses_parent"), old("ses_asks")
		asks.submit("ask")
		asks.pending(1)
		paused := old("ses_paused")
		paused.do(harness.Pause{})
		time.Sleep(time.Hour) // sleep: the bubble's time
		limit := time.Now()
		branch := parent.branch("ses_branch", 2)
		used := old("ses_used")
		retire := func(before time.Time, want ...harness.SessionID) {
			t.Helper()
			var got []harness.SessionID
			if err := r.k.Retire(t.Context(), before, func(id harness.SessionID) { got = append(got, id) }); err != nil {
				t.Fatal(err)
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%v went, want %v", got, want)
			}
		}
		time.Sleep(time.Minute) // sleep: the bubble's time, for sessions to go idle
		retire(limit, done.id, r.id)
		retire(limit)
		if err := r.k.Remove(t.Context(), branch.id); err != nil {
			t.Fatal(err)
		}
		retire(limit, parent.id)
		time.Sleep(time.Hour) // sleep: the bubble's time
		retire(time.Now(), used.id)
		for _, id := range []harness.SessionID{asks.id, paused.id} {
			if _, err := r.k.At(t.Context(), id, 0); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
	})
}

// TestASessionThatWakesDoesNotRetire wants one that is old at the moment it
// would go.
func TestASessionThatWakesDoesNotRetire(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "say hi", &kernel.Options{IdleAfter: time.Minute})
		r.asleep()
		time.Sleep(time.Hour) // sleep: the bubble's time
		now := time.Now()
		r.submit("go") // awake
		r.rest()
		if err := r.k.Retire(t.Context(), now.Add(time.Second), func(id harness.SessionID) { t.Errorf("%s went", id) }); err != nil {
			t.Fatal(err)
		}
	})
}

// TestManyOldSessionsRetire has more than a page of them.
func TestManyOldSessionsRetire(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "say hi", nil)
		for range 250 {
			r.create(harness.NewSession{})
		}
		r.asleep()
		n := 0
		if err := r.k.Retire(t.Context(), time.Now().Add(time.Second), func(harness.SessionID) { n++ }); err != nil || n != 251 {
			t.Fatalf("%d went, %v", n, err)
		}
	})
}
