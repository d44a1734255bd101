package rest

import (
	"context"
	"errors"
	"sync"
	"time"

	"harness"
)

// room is the streams of one session. While the session is awake a goroutine
// appends what becomes durable to lanes and sends it; while it sleeps the room
// is a row that remembers where the log ends.
type room struct {
	f  *feeds
	id harness.SessionID

	mu      sync.Mutex // guards what follows; held across writes to sockets, which never block
	streams []*stream
	live    *live       // while something happens in the session
	cancel  func()      // while feeding
	end     harness.Seq // the log is known to reach here
	noted   harness.Seq // the newest row of the session that was looked at
	enders  int32       // streams that end by themselves
	lull    lull        // what went on at noted
	again   bool        // something happened that the feed may have missed: look once more before it ends
	failed  bool        // it could not be shown: who comes next looks for itself
	gone    bool        // not the feeds' any more
}

// feeding reports whether a goroutine follows the session. mu is held.
func (r *room) feeding() bool { return r.cancel != nil }

// start makes sure that a feed runs and will look at the session from now on.
// mu is held.
func (r *room) start() {
	if r.feeding() {
		r.again = true
		return
	}
	ctx, cancel := context.WithCancel(r.f.ctx)
	r.again, r.cancel = false, cancel
	r.f.spawn(func() {
		defer cancel()
		r.feed(ctx)
	})
}

// feed follows the session until it sleeps.
func (r *room) feed(ctx context.Context) {
	for {
		err := r.follow(ctx)
		if errors.Is(err, harness.ErrStorage) || errors.Is(err, harness.ErrConflict) {
			r.f.log.Warn("session lost, trying again", "session", r.id, "err", err)
			select {
			case <-time.After(r.f.opts.Retry):
				continue
			case <-ctx.Done():
			}
		}
		if err == nil {
			r.settle(ctx)
		}
		if r.rest(ctx) {
			return
		}
	}
}

// rest ends the feed unless there is a reason to go on.
func (r *room) rest(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	again := r.again && len(r.streams) > 0 && r.f.ctx.Err() == nil
	r.again = false
	if again && ctx.Err() == nil {
		return false
	}
	r.cancel = nil
	switch {
	case again: // all had left, and somebody came
		r.start()
	case len(r.streams) == 0:
		r.close()
	default:
		r.calmDown()
		r.forget(r.end)
		for _, w := range r.streams { // those that were to be served from a lane
			r.advance(w)
		}
	}
	return true
}

// close takes an empty room from the feeds. mu is held.
func (r *room) close() {
	r.gone = true
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	if leave := r.f.leaves[r.id]; leave != nil {
		delete(r.f.leaves, r.id)
		leave()
	}
	delete(r.f.rooms, r.id)
}

// follow sends what becomes durable until the session sleeps.
func (r *room) follow(ctx context.Context) error {
	r.mu.Lock()
	after := r.end
	r.mu.Unlock()
	err := r.watch(ctx, after)
	if errors.Is(err, harness.ErrInvalid) { // the store may have what the session has not told yet
		if sum, lost := r.f.summary(ctx, r.id); lost == nil && sum.Seq >= after {
			err = r.watch(ctx, 0)
		}
	}
	switch {
	case err == nil, ctx.Err() != nil, errors.Is(err, harness.ErrStorage), errors.Is(err, harness.ErrConflict):
	default: // it is not there, or damaged, or shorter than it was
		r.fail(err)
	}
	return err
}

// watch sends what becomes durable behind a position.
func (r *room) watch(ctx context.Context, after harness.Seq) error {
	for up, err := range r.f.k.WatchAwake(ctx, r.id, after) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		if err := r.feel(ctx, up); err != nil {
			return err
		}
		if r.update(up) {
			r.settle(ctx)
		}
	}
	return nil
}

// update sends durable events. It reports whether there are streams that may
// have come to their end by them.
func (r *room) update(up harness.Update) (settles bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if up.State != nil && up.State.Seq > r.end { // what came before it is in the store
		r.forget(up.State.Seq)
		settles = true
	}
	if r.live == nil && len(up.Events) > 0 {
		r.live = new(live)
		for _, w := range r.streams {
			if !w.health {
				r.place(w)
			}
		}
	}
	for _, e := range up.Events {
		if e.Seq <= r.end { // known from the store
			continue
		}
		for _, l := range r.live.lanes {
			l.add(e)
		}
		r.end = e.Seq
		settles = settles || calms(e.Payload)
	}
	if r.end > r.noted {
		r.lull = astir
	}
	for _, w := range r.streams {
		r.advance(w)
	}
	if r.live != nil {
		for _, l := range r.live.lanes {
			l.trim()
		}
	}
	return settles && r.enders > 0
}

// advance sends a stream all that the room holds of what it lacks, and has the
// store asked for the rest. mu is held.
func (r *room) advance(w *stream) {
	if !w.ready() {
		return
	}
	if w.health {
		r.beat(w)
		return
	}
	if w.lane != nil && w.lane.covers(w.at) && !r.ends(w) {
		if w.take(&w.lane.segment); w.ended || w.blocked {
			return
		}
	}
	switch {
	case r.ends(w):
		w.end()
	case w.at < r.end && !w.queued:
		w.queued = true
		r.f.readers.add(w)
	}
}

// fail ends all streams of a session that cannot be shown.
func (r *room) fail(err error) {
	r.f.log.Warn("streams ended", "session", r.id, "err", err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed, r.noted, r.lull = true, 0, astir
	for _, w := range r.streams {
		w.fail(err)
	}
}
