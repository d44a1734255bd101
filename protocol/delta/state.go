package delta

import (
	"context"

	"harness"
)

// catchUp gives a state to every watcher that needs one and can take it.
func (r *room) catchUp(ctx context.Context) {
	for {
		l, s := r.needy()
		if l == nil {
			return
		}
		if s == nil {
			var err error
			if s, err = r.shoot(ctx, l); err != nil && ctx.Err() == nil {
				r.fail(l, err)
			}
			if s == nil {
				return
			}
		}
		r.mu.Lock()
		for _, w := range r.watchers {
			if w.lane == l && w.stale && w.ready() && s.off >= l.ring.base {
				w.catch(s)
			}
		}
		r.mu.Unlock()
	}
}

// needy finds a lane with a watcher that needs a state, and the lane's last
// one if deltas still reach back to it. A watcher that came with a place of
// its own in the ring goes on there.
func (r *room) needy() (*lane, *shot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.show == nil {
		return nil, nil
	}
	for _, w := range r.watchers {
		if !w.stale || !w.ready() {
			continue
		}
		if w.lane == nil {
			r.place(w)
		}
		if w.resume() {
			continue
		}
		if l := w.lane; l.last != nil && l.last.off >= l.ring.base {
			return l, l.last
		}
		return w.lane, nil
	}
	return nil, nil
}

// shoot takes the state of a lane as one frame, or none if the show is over.
// Sealed messages come from the store, so no lock is held meanwhile.
func (r *room) shoot(ctx context.Context, l *lane) (*shot, error) {
	r.mu.Lock()
	if r.show == nil {
		r.mu.Unlock()
		return nil, nil
	}
	r.flush()
	l.mark()
	st, off, first := l.state().Clone(), l.ring.end(), l.first
	r.mu.Unlock()
	var sealed [][]byte
	if first < st.Sealed {
		for m, err := range r.hub.k.Messages(ctx, r.id, first, st.Sealed) {
			if err != nil {
				return nil, err
			}
			sealed = append(sealed, m)
		}
	}
	s := &shot{stateFrame(st, sealed, first), off}
	r.mu.Lock()
	defer r.mu.Unlock()
	if off >= l.ring.base {
		l.last = s
	}
	return s, nil
}

// vacant shows watchers of a session that does not exist yet an empty one.
func (r *room) vacant(ctx context.Context) {
	r.mu.Lock()
	r.reset(&harness.State{Session: r.id, Status: harness.Idle})
	r.missing = true
	r.mu.Unlock()
	r.catchUp(ctx)
}

// found makes the session of a room that has none. Its watchers have seen an
// empty state, which is all that the new session's first event shows: they go
// on from there.
func (r *room) found(ctx context.Context, user string) error {
	_, err := r.hub.k.Create(ctx, harness.NewSession{ID: r.id, User: user})
	made := err == nil
	if !made && harness.AsError(err) != harness.ErrExists {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.missing && made {
		r.seq, r.show, r.again, r.woken = 1, nil, true, true
		for _, w := range r.watchers {
			w.lane = nil
		}
	}
	r.missing = false
	return nil
}

// fail ends the connections of a session that cannot be shown: those that wait
// for a state of a lane, or all if it is nil.
func (r *room) fail(l *lane, err error) {
	r.hub.log.Error("session cannot be shown", "session", r.id, "err", err)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.watchers {
		if l == nil || w.lane == l && w.stale && w.ready() {
			w.tell(appendError(nil, "", err))
			w.conn.Close(closeInternal, harness.AsError(err).Text)
		}
	}
}

// closeInternal is RFC 6455's code for a server that cannot go on.
const closeInternal = 1011
