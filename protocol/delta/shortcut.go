package delta

import (
	"time"

	"harness"
	"harness/internal/object"
	"harness/internal/socket"
)

// maxInline is how many watchers are written to before the session goes on:
// to a few it takes less time than to wake the feed.
const maxInline = 4

// showed is the short way of an event that is next for a room whose feed has
// nothing else to do: one goroutine less between the store and the socket. The
// feed comes to the same events later and knows them by their place.
func (h *Hub) showed(id harness.SessionID, events []harness.Event) {
	r := h.find(id)
	if r == nil || !r.enter() {
		return
	}
	defer r.mu.Unlock()
	if r.follows(events) {
		r.project(events)
	}
}

// sent has the frame of text that streams made while the store makes the text
// durable.
func (h *Hub) sent(id harness.SessionID, events []harness.Event) {
	if _, ok := events[0].Payload.(*harness.Token); !ok || len(events) > 1 {
		return
	}
	r := h.find(id)
	if r == nil || !r.mu.TryLock() {
		return
	}
	r.preparing.Store(true)
	defer r.mu.Unlock()
	defer r.preparing.Store(false)
	if r.follows(events) && r.due() {
		r.show.lanes[0].prepare(events[0])
	}
}

// enter takes the mutex unless that could take long.
func (r *room) enter() bool {
	if r.mu.TryLock() {
		return true
	}
	if !r.preparing.Load() {
		return false
	}
	r.mu.Lock()
	return true
}

// follows reports whether events are the next that the room lacks, and its
// watchers few. mu is held.
func (r *room) follows(events []harness.Event) bool {
	return r.show != nil && len(r.watchers) <= maxInline && events[0].Seq == r.seq+1
}

// due reports whether text alone may be sent at once, to watchers who all see
// the same. mu is held.
func (r *room) due() bool {
	s := r.show
	return len(s.lanes) == 1 && s.timer == nil && time.Since(s.flushed) >= r.hub.opts.Window
}

// ahead sends text that streams before it is folded, if nothing has gone out
// for a window: what the fold touches is cold then. It reports whether e was
// such text. mu is held.
func (r *room) ahead(e harness.Event) bool {
	if !r.due() {
		return false
	}
	l := r.show.lanes[0]
	if l.text.of != e.Payload {
		l.prepare(e)
	}
	if l.text.of != e.Payload {
		return false
	}
	l.ring.push(l.sent, l.text.frame)
	l.sent, l.text.of = e.Seq, nil
	for _, w := range r.watchers {
		w.pump()
	}
	l.proj.st.Apply(e)
	r.seq = e.Seq
	r.flush()
	return true
}

// prepared is a frame of text that need not be made any more.
type prepared struct {
	of    harness.Payload // what it says; nil: nothing
	frame []byte
	enc   object.Encoder
}

// prepare makes the frame of e, if that is text which does nothing else.
func (l *lane) prepare(e harness.Event) {
	l.text.of = nil
	path, text := l.proj.grows(e)
	if text == "" || l.out.Len() > 0 {
		return
	}
	dst, mark := socket.BeginText(l.text.frame[:0])
	l.text.frame = socket.EndText(appendText(dst, e.Seq, &l.text.enc, path, text), mark)
	l.text.of = e.Payload
}
