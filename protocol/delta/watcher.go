package delta

import (
	"slices"
	"sync/atomic"
	"time"

	"harness"
	"harness/internal/socket"
)

// watcher is one client: a place in its lane's ring, and what is left of the
// frame in flight. Everything but room is guarded by the room's mutex.
type watcher struct {
	conn *socket.Conn
	room atomic.Pointer[room]
	user string
	who  *harness.Caller   // nil: nobody in particular
	ends *time.Timer       // the caller's time, if it has one
	join harness.SessionID // whom to watch, until the connection is open

	release func() // the connection is counted until then; nil: it is not

	lane   *lane
	off    int64       // in the lane's ring, always between two frames
	rest   []byte      // of the frame in flight
	direct []byte      // answers to this client alone that wait for the frame in flight
	since  harness.Seq // where the client says it is; used once
	slot   int32       // in the room: there are not so many descriptors
	window int32       // see roundWindow

	stale   bool // needs a whole state before it can go on
	blocked bool // the socket takes nothing now
	beats   bool
}

// maxDirect bounds the answers that wait for a client that sends commands but
// does not read: 64 commands of a batch, each refused at length.
const maxDirect = 64 << 10

// closeSlow is RFC 6455's code for "try again later".
const closeSlow = 1013

// locked is the watcher's room with its mutex taken, or nil if it has none.
func (w *watcher) locked() *room {
	for {
		r := w.room.Load()
		if r == nil {
			return nil
		}
		r.mu.Lock()
		if w.room.Load() == r { // it stays: a watcher moves under its room's mutex
			return r
		}
		r.mu.Unlock()
	}
}

// ready reports whether the socket stands between two frames and takes bytes.
func (w *watcher) ready() bool {
	return w.conn != nil && !w.blocked && len(w.rest) == 0 && len(w.direct) == 0
}

// behind reports whether the watcher has a place and frames wait for it there.
func (w *watcher) behind() bool { return w.lane != nil && w.off < w.lane.ring.end() }

// pump writes all that the watcher is behind, in as few writes as can be.
func (w *watcher) pump() {
	if w.conn == nil || w.blocked || !w.send(&w.rest) || !w.send(&w.direct) || w.stale || !w.behind() {
		return
	}
	span := w.lane.ring.after(w.off)
	n, err := w.conn.Write(span)
	w.off += int64(n)
	if err == nil && n < len(span) {
		tail := w.conn.Unfinished()
		w.blocked, w.rest = true, slices.Clone(span[n:n+tail])
		w.off += int64(tail)
	}
}

// send writes frames that are nobody else's and keeps what the socket does not
// take. It reports whether it took all.
func (w *watcher) send(frames *[]byte) bool {
	if len(*frames) == 0 {
		return true
	}
	b := *frames
	*frames = nil
	n, err := w.conn.Write(b)
	if err == nil && n < len(b) {
		w.blocked, w.rest = true, b[n:]
		return false
	}
	return err == nil
}

// at is the position of the last frame that the watcher was sent or will be
// sent without asking.
func (w *watcher) at(r *room) harness.Seq {
	if w.lane != nil {
		return w.lane.sent
	}
	return r.seq
}

// catch gives the watcher a whole state; deltas go on from there.
func (w *watcher) catch(s *shot) {
	w.stale, w.off = false, s.off
	frame := s.frame
	if w.send(&frame) {
		w.pump()
	}
}

// resume lets a client that reconnected go on where it says it is, if the ring
// reaches back there. It reports whether that worked; it is tried once.
func (w *watcher) resume() bool {
	since, l := w.since, w.lane
	w.since = 0
	if since == 0 || l.size > 0 {
		return false
	}
	off, ok := l.ring.at(since)
	if since == l.sent {
		off, ok = l.ring.end(), true
	}
	if !ok {
		return false
	}
	w.stale, w.off = false, off
	w.tell(appendHeartbeat(nil, since, time.Now()))
	w.pump()
	return true
}

// tell sends a payload to this client alone, behind the frame in flight.
func (w *watcher) tell(payload []byte) {
	if w.conn == nil {
		return
	}
	frame := socket.AppendText(nil, payload)
	if len(w.direct)+len(frame) > maxDirect {
		w.conn.Close(closeSlow, "too many unread answers")
		return
	}
	w.direct = append(w.direct, frame...)
	if !w.blocked && w.send(&w.rest) {
		w.send(&w.direct)
	}
}
