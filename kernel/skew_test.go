package kernel_test

import (
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/store/memory"
)

// TestAClockThatIsADayOffTakesOver has a session go on under a kernel whose clock
// is a day behind or ahead of the one that began it: the turn that ran is ended,
// the question that waits can be answered, the log stays dense, and nobody waits
// for the other's clock.
func TestAClockThatIsADayOffTakesOver(t *testing.T) {
	t.Parallel()
	const script = "when ask\nask bash {\"command\":\"x\"} => ran\nelse when hang\nsay begun\nhang\nelse\nsay hi\nend"
	for name, late := range map[string][2]time.Duration{"Behind": {24 * time.Hour, 0}, "Ahead": {0, 24 * time.Hour}} {
		t.Run(name, func(t *testing.T) {
			var left *memory.Store
			synctest.Test(t, func(t *testing.T) {
				pass(late[0])
				r := newRig(t, script, nil)
				asks := &rig{t: t, mem: r.mem, engine: r.engine, k: r.k, id: r.create(harness.NewSession{ID: "ses_asks"})}
				r.submit("hang")
				asks.submit("ask")
				asks.pending(1)
				pass(time.Second)
				left = r.mem.Clone()
			})
			synctest.Test(t, func(t *testing.T) {
				pass(late[1])
				r := &rig{t: t, mem: left.Clone(), id: "ses_1"}
				r.boot(r.mem, script, nil)
				if _, err := r.k.Recover(t.Context()); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				if st := r.rest(); st.Reason != "interrupted" {
					t.Errorf("the turn that ran is %s, %s", st.Status, st.Reason)
				}
				r.submit("hello")
				r.rest()
				asks := &rig{t: t, mem: r.mem, engine: r.engine, k: r.k, id: "ses_asks"}
				asks.pending(1)
				asks.allow()
				asks.rest()
				if took := time.Since(began); took > time.Minute {
					t.Errorf("it took %v", took)
				}
				for _, id := range []harness.SessionID{r.id, asks.id} {
					n := harness.Seq(0)
					for e, err := range r.k.Read(t.Context(), id, 0) {
						if n++; err != nil || e.Seq != n {
							t.Fatalf("event %d of %s where %d belongs: %v", e.Seq, id, n, err)
						}
					}
				}
			})
		})
	}
}
