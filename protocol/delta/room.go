package delta

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"harness"
)

// room is the watchers of one session. While the session is awake a feed, one
// goroutine, turns its events into frames; while it sleeps the room is a row
// that remembers where its watchers are.
type room struct {
	hub *Hub
	id  harness.SessionID

	mu       sync.Mutex // guards what follows; held across writes to sockets, which never block
	watchers []*watcher
	seq      harness.Seq // where watchers that miss nothing are
	show     *show       // while feeding
	exists   bool        // the session was seen; seq alone may be a client's claim
	missing  bool        // no such session yet: the first command makes it
	woken    bool        // the session has gone on since it was parked
	feeding  bool
	again    bool // something happened that the feed may have missed: look once more before it ends
	cancel   context.CancelFunc
	caught   chan struct{} // while somebody is in catchUp: closed when it is done
	gone     bool          // not the hub's any more

	preparing atomic.Bool // who has mu will let go of it at once

	leave func() // nobody watches any more; nil if nobody asks; never changed
}

// show is what a room needs only while its session is awake.
type show struct {
	lanes   []*lane     // one per window size in use, and never none
	timer   *time.Timer // ends the merge window
	flushed time.Time   // when the last frames went out
	sealAt  int         // at so many messages in a lane's state, look which of them the store has
}

// start makes sure that a feed runs and will look at the room from now on.
// mu is held.
func (r *room) start() {
	if r.feeding {
		r.again = true
		return
	}
	ctx, cancel := context.WithCancel(r.hub.ctx)
	r.feeding, r.again, r.cancel = true, false, cancel
	r.hub.spawn(func() {
		defer cancel()
		r.feed(ctx)
	})
}

// wake has the session followed, which is awake. mu is held, and is let go of.
func (r *room) wake() {
	defer r.mu.Unlock()
	if !r.gone { // else who comes next looks for itself
		r.woken = true
		r.start()
	}
}

// feed follows the session until it sleeps and nobody in the room waits for
// anything.
func (r *room) feed(ctx context.Context) {
	for {
		err := r.follow(ctx)
		if errors.Is(err, harness.ErrStorage) || errors.Is(err, harness.ErrConflict) {
			r.hub.log.Warn("session lost, trying again", "session", r.id, "err", err)
			select {
			case <-time.After(r.hub.opts.Retry):
				continue
			case <-ctx.Done():
			}
		}
		if r.end(ctx) {
			return
		}
	}
}

// end closes the feed unless there is a reason to go on.
func (r *room) end(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.caught != nil { // parked watchers could not take what is being read for them
		done := r.caught
		r.mu.Unlock()
		<-done
		r.mu.Lock()
	}
	again := r.again && len(r.watchers) > 0 && r.hub.ctx.Err() == nil
	r.again = false
	if again && ctx.Err() == nil {
		return false
	}
	r.feeding, r.cancel = false, nil
	if again { // everybody had left, and somebody came: where the others were
		r.start()
		return true
	}
	r.park()
	if len(r.watchers) == 0 {
		r.close()
	}
	return true
}

// close takes an empty room from the hub. mu is held.
func (r *room) close() {
	r.gone = true
	if r.leave != nil {
		r.leave()
	}
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	delete(r.hub.rooms, r.id)
}

// park lets go of frames and states: watchers that are behind will get a fresh
// state. mu is held.
func (r *room) park() {
	r.flush()
	for _, w := range r.watchers {
		w.stale = w.stale || w.behind()
		w.lane = nil
	}
	r.show = nil
}

// follow turns the session's updates into frames until it sleeps.
func (r *room) follow(ctx context.Context) error {
	after := r.begin(ctx)
	r.catchUp()
	for up, err := range r.hub.k.WatchAwake(ctx, r.id, after) {
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, harness.ErrNotFound):
			r.vacant()
			return nil
		case errors.Is(err, harness.ErrInvalid): // we are ahead of the log: somebody restored an older one
			r.mu.Lock()
			r.seq, r.show, r.exists, r.again = 0, nil, false, true
			r.mu.Unlock()
			return nil
		case errors.Is(err, harness.ErrStorage), errors.Is(err, harness.ErrConflict):
			return err
		case err != nil:
			r.mu.Lock()
			r.fail(nil, err)
			r.mu.Unlock()
			return nil
		}
		r.update(up)
		r.seal(ctx)
		r.catchUp()
	}
	return nil
}

// begin makes the show for a session that was parked at a position and woke,
// so that its watchers go on with deltas, and returns that position. Of one
// that sleeps the stored state is as good, and is read only once.
func (r *room) begin(ctx context.Context) harness.Seq {
	r.mu.Lock()
	seq, ready, woken := r.seq, r.show != nil, r.woken
	r.woken = false
	r.mu.Unlock()
	switch {
	case seq == 0 || ready:
		return seq
	case !woken:
		return 0
	}
	st, err := r.hub.k.At(ctx, r.id, seq)
	if err != nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reset(st)
	return seq
}

// reset starts the show at a state, which it takes over. Watchers that were
// not exactly there get it whole. mu is held.
func (r *room) reset(st *harness.State) {
	for _, w := range r.watchers {
		w.stale = w.stale || w.behind() || r.seq != st.Seq
		w.lane = nil
	}
	r.seq, r.exists, r.missing = st.Seq, st.Seq > 0, false
	size := 0
	if len(r.watchers) > 0 {
		size = int(r.watchers[0].window)
	}
	r.show = &show{lanes: []*lane{newLane(st, size)}, sealAt: len(st.Messages) + sealAfter}
	for _, w := range r.watchers {
		r.place(w)
	}
}

// update projects durable events into every lane and sends frames: at once if
// more than streamed text came, else at most one per window.
func (r *room) update(up harness.Update) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if up.State != nil && (r.show == nil || up.State.Seq > r.seq) { // else we are there, or further
		r.reset(up.State)
	}
	r.project(up.Events)
}

// project adds durable events to every lane, those that it does not have yet.
// mu is held.
func (r *room) project(events []harness.Event) {
	s := r.show
	for len(events) > 0 && events[0].Seq <= r.seq {
		events = events[1:]
	}
	if len(events) == 0 || s == nil {
		return
	}
	if len(events) == 1 && r.ahead(events[0]) {
		return
	}
	urgent := false
	for _, e := range events {
		_, streams := harness.Streamed(e.Payload)
		urgent = urgent || !streams
		for _, l := range s.lanes {
			l.proj.project(e, &l.out)
		}
		r.seq = e.Seq
	}
	wait := r.hub.opts.Window - time.Since(s.flushed)
	if urgent || wait <= 0 {
		r.flush()
		return
	}
	if s.timer == nil {
		var t *time.Timer
		t = time.AfterFunc(wait, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.show == s && s.timer == t { // else it fired while others flushed
				r.flush()
			}
		})
		s.timer = t
	}
}

// flush finishes a frame in every lane and sends it. mu is held.
func (r *room) flush() {
	s := r.show
	if s == nil {
		return
	}
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	for _, l := range s.lanes {
		l.finish()
	}
	for _, w := range r.watchers {
		w.pump()
	}
	for _, l := range s.lanes {
		switch {
		case l.wide():
			l.restart()
		case l.ring.full():
			l.ring.trim()
		default:
			continue
		}
		for _, w := range r.watchers { // those that fell off need a state
			w.stale = w.stale || w.lane == l && w.off < l.ring.base
		}
	}
	s.flushed = time.Now() // the window begins when the frames are out
}
