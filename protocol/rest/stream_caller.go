package rest

import "time"

// bound ends a stream when its caller is nobody any more. The room's mutex is
// held.
func (w *stream) bound() {
	if w.who == nil || w.who.Expires.IsZero() {
		return
	}
	conn := w.conn
	w.ends = time.AfterFunc(time.Until(w.who.Expires), func() { conn.Close(0, "") })
}

// closeOf ends the streams that were opened with a credential of this name.
func (f *feeds) closeOf(name string) {
	f.mu.Lock()
	rooms := make([]*room, 0, len(f.rooms))
	for _, r := range f.rooms {
		rooms = append(rooms, r)
	}
	f.mu.Unlock()
	for _, r := range rooms {
		r.mu.Lock()
		for _, w := range r.streams {
			if w.who != nil && w.who.Name == name && w.conn != nil {
				w.conn.Close(0, "")
			}
		}
		r.mu.Unlock()
	}
}
