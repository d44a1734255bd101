package delta

import "harness"

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
