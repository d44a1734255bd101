package delta

import "time"

// closePolicy is RFC 6455's code for a client that may not go on.
const closePolicy = 1008

// bound ends a connection when its caller is nobody any more.
func (h *Hub) bound(w *watcher) {
	if w.who == nil || w.who.Expires.IsZero() {
		return
	}
	w.ends = time.AfterFunc(time.Until(w.who.Expires), func() {
		w.conn.Close(closePolicy, "the credential has expired")
	})
}

// CloseOf ends the connections that were opened with a credential of this name.
// It does not wait for them.
func (h *Hub) CloseOf(name string) {
	h.mu.Lock()
	rooms := make([]*room, 0, len(h.rooms))
	for _, r := range h.rooms {
		rooms = append(rooms, r)
	}
	h.mu.Unlock()
	for _, r := range rooms {
		r.mu.Lock()
		for _, w := range r.watchers {
			if w.who != nil && w.who.Name == name && w.conn != nil {
				w.conn.Close(closePolicy, "the credential was revoked")
			}
		}
		r.mu.Unlock()
	}
}
