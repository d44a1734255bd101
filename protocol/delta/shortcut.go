package delta

import (
	"time"

	"harness"
)

// maxInline is how many watchers are written to before the session goes on:
// to a few it takes less time than to wake the feed.
const maxInline = 4

// showed is the short way of an event that is next for a room whose feed has
// nothing else to do: one goroutine less between the store and the socket. The
// feed comes to the same events later and knows them by their place.
func (h *Hub) showed(id harness.SessionID, events []harness.Event) {
	r := h.find(id)
	if r == nil || !r.mu.TryLock() {
		return
	}
	defer r.mu.Unlock()
	if r.show != nil && len(r.watchers) <= maxInline && events[0].Seq == r.seq+1 {
		r.project(events)
	}
}

// ahead sends text that streams before it is folded, if nothing has gone out
// for a window: what the fold touches is cold then. It reports whether e was
// such text. mu is held.
func (r *room) ahead(e harness.Event) bool {
	s := r.show
	if len(s.lanes) != 1 || s.timer != nil || time.Since(s.flushed) < r.hub.opts.Window {
		return false
	}
	l := s.lanes[0]
	path, text := l.proj.grows(e)
	if text == "" || l.out.Len() > 0 {
		return false
	}
	l.ring.add(l.sent, func(dst []byte) []byte { return appendText(dst, e.Seq, &l.enc, path, text) })
	l.sent = e.Seq
	for _, w := range r.watchers {
		w.pump()
	}
	l.proj.st.Apply(e)
	r.seq = e.Seq
	r.flush()
	return true
}
