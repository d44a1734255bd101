package delta

import "harness"

// catchUp gives a state to every watcher that needs one and can take it. One
// goroutine at a time does so, for all who come meanwhile too: the others
// return at once.
func (r *room) catchUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.caught != nil {
		return
	}
	r.caught = make(chan struct{})
	defer func() {
		close(r.caught)
		r.caught = nil
	}()
	for {
		l, s := r.needy()
		if l == nil {
			return
		}
		if s == nil {
			var err error
			s, err = r.shoot(l)
			if r.hub.ctx.Err() != nil {
				return
			}
			if err != nil {
				r.fail(l, err)
				continue
			}
		}
		for _, w := range r.watchers {
			if w.lane == l && w.stale && w.ready() && s.off >= l.ring.base {
				w.catch(s)
			}
		}
	}
}

// needy finds a place for all watchers that need a state, and of one of them
// the lane, with the lane's last state if deltas still reach back to it. A
// watcher that came with a place of its own in the ring goes on there. mu is
// held.
func (r *room) needy() (*lane, *shot) {
	if r.show == nil {
		return nil, nil
	}
	var found *lane
	for _, w := range r.watchers {
		if !w.stale || !w.ready() {
			continue
		}
		if w.lane == nil {
			r.place(w)
		}
		if !w.resume() && found == nil {
			found = w.lane
		}
	}
	if found != nil && found.last != nil && found.last.off >= found.ring.base {
		return found, found.last
	}
	return found, nil
}

// shoot takes the state of a lane as one frame. mu is held, but not while
// sealed messages come from the store.
func (r *room) shoot(l *lane) (*shot, error) {
	r.flush()
	l.mark()
	st, off, first := l.state().Clone(), l.ring.end(), l.first
	r.mu.Unlock()
	frame, err := r.encode(st, first)
	r.mu.Lock()
	if err != nil {
		return nil, err
	}
	s := &shot{frame, off}
	if off >= l.ring.base {
		l.last = s
	}
	return s, nil
}

// encode is a state from message first on as a finished frame.
func (r *room) encode(st *harness.State, first int) ([]byte, error) {
	var sealed [][]byte
	if first < st.Sealed {
		for m, err := range r.hub.k.Messages(r.hub.ctx, r.id, first, st.Sealed) {
			if err != nil {
				return nil, err
			}
			sealed = append(sealed, m)
		}
	}
	return stateFrame(st, sealed, first), nil
}
