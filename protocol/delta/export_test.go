package delta

// Rooms is how many rooms the hub has a row for.
func (h *Hub) Rooms() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.rooms)
}

// Feeds is how many of them have a goroutine, and Shows how many hold frames.
func (h *Hub) Feeds() (feeds, shows int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.rooms {
		r.mu.Lock()
		if r.feeding {
			feeds++
		}
		if r.show != nil {
			shows++
		}
		r.mu.Unlock()
	}
	return feeds, shows
}

// Blocked is how many clients take nothing now.
func (h *Hub) Blocked() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.rooms {
		r.mu.Lock()
		for _, w := range r.watchers {
			if w.blocked {
				n++
			}
		}
		r.mu.Unlock()
	}
	return n
}

// Held is how many bytes of frames the hub keeps for all clients together:
// rings, state frames and what waits for one client alone.
func (h *Hub) Held() (rings, private int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.rooms {
		r.mu.Lock()
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
		r.mu.Unlock()
	}
	return rings, private
}
