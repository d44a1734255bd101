package kernel

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"harness"
)

// Concurrency is how many background sessions run at a time unless told
// otherwise. An agent with its tools takes some hundred megabytes, and providers
// allow few requests at once: eight fit a small machine.
const Concurrency = 8

// sweepEvery is how often it is made sure that whatever has a place is looked
// after: a session is lost only if its store failed it twice.
const sweepEvery = 30 * time.Second

// dispatcher gives places to the background sessions that wait in line. It has
// no goroutine of its own: whoever changes the line looks who goes next.
type dispatcher struct {
	k *Kernel

	mu    sync.Mutex // guards what follows
	line  *line
	held  bool // the line is not complete yet
	timer *time.Timer
	at    time.Time // when timer goes off
	sweep time.Time // when the next one is due
}

func newDispatcher(k *Kernel, slots int) *dispatcher {
	return &dispatcher{k: k, line: newLine(slots)}
}

// see takes note of a row that is durable.
func (d *dispatcher) see(r harness.Summary) {
	if r.Kind != harness.Background || r.SpawnedBy != "" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.line.see(r) {
		d.serve()
	}
}

// change does something with the line and looks who goes next.
func (d *dispatcher) change(f func(*line)) {
	d.mu.Lock()
	f(d.line)
	d.serve()
	d.mu.Unlock()
}

// hold lets nobody go before the line is complete.
func (d *dispatcher) hold(yes bool) {
	d.mu.Lock()
	d.held = yes
	d.serve()
	d.mu.Unlock()
}

// recover takes a row of before into the line, and reports whether the session
// need not wake for that: it sleeps where it waits.
func (d *dispatcher) recover(r harness.Summary) bool {
	d.see(r)
	return !r.Queued.IsZero()
}

// recallRows is how many of the latest rows tell when users were last served.
// Whoever is not among them was served before all who are.
const recallRows = 1024

// recall has users go on taking turns where they were before.
func (d *dispatcher) recall(ctx context.Context) error {
	for r, err := range d.k.store.List(ctx, harness.Filter{Kind: harness.Background, Limit: recallRows}) {
		if err != nil {
			return fmt.Errorf("recover: %w", err)
		}
		d.mu.Lock()
		d.line.recall(r)
		d.mu.Unlock()
	}
	return nil
}

// serve tells sessions that it is their turn. mu is held.
func (d *dispatcher) serve() {
	now := time.Now()
	if d.held {
		return
	}
	for _, id := range d.line.due(now) { // it is for the session to see that it has expired
		d.spawn(func() { d.look(id) })
	}
	for {
		id, ok := d.line.next(now)
		if !ok {
			break
		}
		if !d.spawn(func() { d.admit(id) }) {
			return
		}
	}
	d.arm(now)
}

// spawn runs f unless the kernel takes no new turns.
func (d *dispatcher) spawn(f func()) bool {
	k := d.k
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed || k.draining {
		return false
	}
	k.wg.Go(f)
	return true
}

// arm sets the one timer of the line. mu is held.
func (d *dispatcher) arm(now time.Time) {
	switch {
	case d.line.busy == 0:
		d.sweep = time.Time{}
	case d.sweep.IsZero():
		d.sweep = now.Add(sweepEvery)
	}
	at := d.line.alarm
	if at.IsZero() || !d.sweep.IsZero() && d.sweep.Before(at) {
		at = d.sweep
	}
	switch {
	case at.Equal(d.at):
		return
	case at.IsZero():
		d.timer.Stop()
	case d.timer == nil:
		d.timer = time.AfterFunc(at.Sub(now), d.tick)
	default:
		d.timer.Reset(at.Sub(now))
	}
	d.at = at
}

// tick sees to what time has brought.
func (d *dispatcher) tick() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = time.Time{}
	if !d.sweep.IsZero() && !time.Now().Before(d.sweep) {
		d.sweep = time.Time{}
		for _, id := range d.line.running() {
			if d.k.peek(id) == nil && !d.spawn(func() { d.look(id) }) {
				return
			}
		}
	}
	d.serve()
}

// stop ends what is to come.
func (d *dispatcher) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
	}
}

// look has a session see to what time has brought. One that cannot be loaded
// keeps nobody from its place.
func (d *dispatcher) look(id harness.SessionID) {
	_, err := d.k.tell(context.Background(), id, func(to ticket) input { return called{from: to} })
	if err == nil || harness.AsError(err) == harness.ErrUnavailable {
		return
	}
	if d.k.elsewhere(err) {
		d.change(func(l *line) { l.forget(id) })
		return
	}
	d.k.log.Error("session not looked after", "session", id, "err", err)
	d.change(func(l *line) { l.forget(id) })
}

// admit tells a session that a place is its.
func (d *dispatcher) admit(id harness.SessionID) {
	_, err := d.k.tell(context.Background(), id, func(to ticket) input { return called{from: to, place: true} })
	again, wanted := time.Time{}, true
	if err != nil {
		switch harness.AsError(err) {
		case harness.ErrStorage, harness.ErrConflict, harness.ErrUnavailable:
			again = time.Now().Add(retryAfter)
		default:
			wanted = false
		}
		if !errors.Is(err, errNotWaiting) && !d.k.elsewhere(err) {
			d.k.log.Error("a session did not take its place", "session", id, "err", err)
		}
	}
	d.change(func(l *line) { l.kept(id, wanted, again) })
}

// place puts into a row where it stands in the line.
func (d *dispatcher) place(r *harness.Summary) {
	if r.Queued.IsZero() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	r.Place = d.line.place(r.Session)
}

// errNotWaiting is a session's answer to a place that it does not want.
var errNotWaiting = fmt.Errorf("the session does not wait for its turn: %w", harness.ErrInvalid)

// Places are the places in line of a store's sessions, from 1 on, as a server
// on it gives them.
func Places(ctx context.Context, st harness.Store) (map[harness.SessionID]int, error) {
	l := newLine(1)
	for _, f := range []harness.Filter{{Kind: harness.Background, Statuses: []harness.Status{harness.Queued, harness.Recovering}}, {Kind: harness.Background, Limit: recallRows}} {
		for r, err := range st.List(ctx, f) {
			if err != nil {
				return nil, err
			}
			if f.Limit == 0 {
				l.see(r)
			} else {
				l.recall(r)
			}
		}
	}
	l.place("")
	return l.where, nil
}
