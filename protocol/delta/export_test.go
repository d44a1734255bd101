package delta

import (
	"sync"

	"harness"
)

// Rooms is how many rooms the hub has a row for.
func (h *Hub) Rooms() int { return len(h.all()) }

func (h *Hub) all() (all []*room) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.rooms {
		all = append(all, r)
	}
	return all
}

// each calls f for every room, with its mutex taken.
func (h *Hub) each(f func(*room)) {
	for _, r := range h.all() {
		r.mu.Lock()
		f(r)
		r.mu.Unlock()
	}
}

// Feeds is how many of them have a goroutine, and Shows how many hold frames.
func (h *Hub) Feeds() (feeds, shows int) {
	h.each(func(r *room) {
		if r.feeding {
			feeds++
		}
		if r.show != nil {
			shows++
		}
	})
	return feeds, shows
}

// Watchers is how many clients are in a room.
func (h *Hub) Watchers() (n int) {
	h.each(func(r *room) { n += len(r.watchers) })
	return n
}

// Lanes is how many views of sessions are kept up to date.
func (h *Hub) Lanes() (n int) {
	h.each(func(r *room) {
		if r.show != nil {
			n += len(r.show.lanes)
		}
	})
	return n
}

// Unsealed is how many messages the states of the lanes hold.
func (h *Hub) Unsealed() (n int) {
	h.each(func(r *room) {
		if r.show != nil {
			for _, l := range r.show.lanes {
				n += len(l.state().Messages)
			}
		}
	})
	return n
}

// Blocked is how many clients take nothing now.
func (h *Hub) Blocked() (n int) {
	h.each(func(r *room) {
		for _, w := range r.watchers {
			if w.blocked {
				n++
			}
		}
	})
	return n
}

// Hold takes the mutex of a session's room until release is called.
func (h *Hub) Hold(id harness.SessionID) (release func()) {
	h.mu.Lock()
	r := h.rooms[id]
	h.mu.Unlock()
	r.mu.Lock()
	return sync.OnceFunc(r.mu.Unlock)
}

// Held is how many bytes of frames the hub keeps for all clients together:
// rings, state frames and what waits for one client alone.
func (h *Hub) Held() (rings, private int) {
	h.each(func(r *room) {
		if r.show != nil {
			for _, l := range r.show.lanes {
				rings += cap(l.ring.buf)
				if l.last != nil {
					rings += cap(l.last.frame)
				}
			}
		}
		for _, w := range r.watchers {
			private += len(w.rest) + len(w.direct)
		}
	})
	return rings, private
}
