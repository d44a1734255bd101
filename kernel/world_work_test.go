package kernel

import (
	"time"

	"harness"
)

// alone reports whether the world's session works by itself.
func (w *world) alone() bool { return w.seed/5%2 == 1 }

// worksAlone makes it such a session, in some worlds one that expires.
func (w *world) worksAlone(p *harness.SessionState) {
	if !w.alone() {
		return
	}
	p.Kind = harness.Background
	if w.seed%7 == 0 {
		p.ExpiresAt = new(w.now.Add(3 * time.Minute))
	}
}

// waits reports whether the durable row says that the session waits in line.
func (w *world) waits() bool {
	return w.flight == nil && len(w.m.batch.drafts) == 0 && !w.m.state.Course.Queued.IsZero() && w.m.waits()
}

// callUp is what the line does: it gives the session a place, not before the
// time that its row names, or has it look at the clock.
func (w *world) callUp() {
	c := &client{}
	w.clients[c] = true
	in := called{from: c, place: !w.now.Before(w.m.state.Course.Retry) && w.rng.IntN(4) > 0}
	w.placed = in.place
	w.step(in)
	if w.m.engine == "" { // it has expired
		w.placed = false
	}
}

// checkPlace: no engine of such a session starts without a place.
func (w *world) checkPlace(turn harness.TurnID) {
	if w.alone() && !w.placed {
		w.failf("turn %s started without a place", turn)
	}
	w.placed = false
}

// checkWork: tries are counted, none begins when the session has expired, and
// one that has ended says so.
func (w *world) checkWork() {
	if !w.alone() {
		return
	}
	st := new(harness.State)
	tries := map[harness.TurnID]int{}
	failed := false
	for _, e := range w.log {
		st.Apply(e)
		if p, ok := e.Payload.(*harness.SessionState); ok && p.Status == harness.Recovering {
			failed = true
		}
		p, ok := e.Payload.(*harness.TurnStart)
		if !ok {
			continue
		}
		if p.Attempt > 1 && p.Continues == failed {
			w.failf("event %d: attempt %d of turn %s continues: %v, though the last failed: %v", e.Seq, p.Attempt, p.TurnID, p.Continues, failed)
		}
		failed = false
		if !p.Continues {
			tries[p.TurnID]++
		}
		if tries[p.TurnID] > w.retries+1 {
			w.failf("turn %s was tried %d times with %d retries", p.TurnID, tries[p.TurnID], w.retries)
		}
		if at := st.Course.Expires; !at.IsZero() && !e.Time.Before(at) {
			w.failf("event %d: turn %s began after the session had expired", e.Seq, p.TurnID)
		}
	}
	if c := st.Course; !c.Queued.IsZero() || st.Status.Terminal() == c.Ended.IsZero() {
		w.failf("the session is %s, queued %v, ended %v", st.Status, c.Queued, c.Ended)
	}
}
