package rest

import (
	"slices"

	"harness"
	"harness/internal/socket"
)

// stream is one client: a place in its session's log, and what is left of the
// event in flight. Everything but room is guarded by the room's mutex.
type stream struct {
	room  *room
	conn  *socket.Conn // nil until it is open
	lane  *lane        // while the session is awake, if there is one for its filter
	want  filter
	terms *terms // nil: nothing but its client ends it

	at   harness.Seq // everything wanted up to here was sent, or is in rest
	stop harness.Seq // where it ends, once that is known
	rest []byte      // of the event in flight
	slot int32       // in the room
	pace int32       // bytes that it took of the last segment; 0: all

	blocked bool // the socket takes nothing now
	queued  bool // a reader of the store will serve it, or does
	ended   bool // nothing more is sent
	health  bool // it shows the session's health, and at is the snapshot's place
}

// ready reports whether the socket stands between two events and takes bytes,
// after it was sent what was left.
func (w *stream) ready() bool { return w.conn != nil && !w.ended && !w.blocked && w.flush() }

// flush sends the rest of the event in flight and reports whether it is out.
func (w *stream) flush() bool {
	if len(w.rest) == 0 {
		return true
	}
	n, err := w.conn.Write(w.rest)
	w.rest = w.rest[n:]
	switch {
	case err != nil:
		w.ended = true
		return false
	case len(w.rest) > 0:
		w.blocked = true
		return false
	}
	w.rest = nil
	return true
}

// take sends all of g that is behind the stream's place, which g covers, in one
// write. The socket stands between two events and is not full.
func (w *stream) take(g *segment) {
	to, last := g.to, len(g.events)
	if turn := w.until().turn; turn != "" {
		if seq, ok := g.end(turn, w.at); ok {
			w.stop, to, last = seq, seq, g.next(seq)
		}
	}
	begin := g.offset(g.next(w.at))
	span := g.buf[begin:max(begin, g.offset(last))]
	if len(span) == 0 {
		w.at = to
		return
	}
	n, err := w.conn.Write(span)
	switch {
	case err != nil:
		w.ended = true
	case n < len(span):
		tail := w.conn.Unfinished()
		w.blocked, w.rest = true, slices.Clone(span[n:n+tail])
		w.at = g.sent(w.at, begin+n+tail)
	default:
		w.at = to
	}
	w.pace = 0
	if n < len(span) {
		w.pace = int32(max(n, 1))
	}
}

// end ends a stream behind what it was sent.
func (w *stream) end() {
	w.ended = true
	w.conn.Close(closeNormal, "")
}

// fail ends a stream and says why, if its socket can still be told.
func (w *stream) fail(err error) {
	if w.ended {
		return
	}
	if w.conn == nil { // it is told when it opens
		w.ended, w.rest = true, appendFailure(w.rest, err)
		return
	}
	if !w.blocked && w.flush() {
		w.conn.Write(appendFailure(nil, err))
	}
	w.end()
}

// closeNormal is for nobody to see: a stream just ends.
const closeNormal = 1000
