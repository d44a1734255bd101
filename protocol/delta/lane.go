package delta

import (
	"slices"

	"harness"
	"harness/internal/object"
	"harness/internal/socket"
)

// lane is the frames of one session as one kind of watcher sees it: with all
// its messages, or with a window of the newest. All watchers of a lane share
// its frames.
type lane struct {
	size  int // of the window; 0: all messages
	first int // index of the first message in view
	proj  *projector
	out   object.Pending // operations that are not in a frame yet
	text  prepared
	sent  harness.Seq // what the ring's frames add up to
	ring  ring
	last  *shot
	crowd int // watchers in it
}

// shot is a state frame and the place in the ring where its deltas begin.
type shot struct {
	frame []byte
	off   int64
}

// newLane begins at a state, which it takes over.
func newLane(st *harness.State, size int) *lane {
	l := &lane{size: size}
	l.aim(st)
	return l
}

// aim points the view at the newest messages of st.
func (l *lane) aim(st *harness.State) {
	if l.size > 0 {
		l.first = max(0, st.Count()-l.size)
	}
	l.proj, l.sent, l.text.of = newProjector(st, l.first), st.Seq, nil
}

// state is what the lane's events add up to, with those not yet in a frame.
func (l *lane) state() *harness.State { return l.proj.st }

// finish ends the frame being made, if there is anything in it.
func (l *lane) finish() {
	if l.out.Len() == 0 {
		return
	}
	seq := l.state().Seq
	l.ring.add(l.sent, func(dst []byte) []byte { return appendDelta(dst, seq, &l.out) })
	l.out.Reset()
	l.sent = seq
}

// mark lets clients go on both from the last frame and from here, behind
// events that showed nothing: who is sent the state now is here.
func (l *lane) mark() {
	if seq := l.state().Seq; l.out.Len() == 0 && seq > l.sent {
		l.ring.frames = append(l.ring.frames, frame{l.ring.end(), l.sent})
		l.sent = seq
	}
}

// wide reports whether the view has grown to twice its window.
func (l *lane) wide() bool { return l.size > 0 && l.state().Count()-l.first > 2*l.size }

// restart throws the frames away and aims anew; the lane's watchers need a
// state.
func (l *lane) restart() {
	l.aim(l.state())
	l.ring = ring{base: l.ring.end() + 1} // beyond every watcher's place
	l.last = nil
}

// place finds or makes the lane of a watcher. mu is held.
func (r *room) place(w *watcher) {
	s := r.show
	i := slices.IndexFunc(s.lanes, func(l *lane) bool { return l.size == int(w.window) })
	if i < 0 {
		r.flush() // the new lane begins where the others are
		i = len(s.lanes)
		s.lanes = append(s.lanes, newLane(s.lanes[0].state().Clone(), int(w.window)))
	}
	l := s.lanes[i]
	w.lane, w.off = l, l.ring.end()
	l.crowd++
	s.thin()
}

// displace takes a watcher out of its lane, if it has one. mu is held.
func (r *room) displace(w *watcher) {
	if w.lane == nil {
		return
	}
	w.lane.crowd--
	w.lane = nil
	if r.show != nil {
		r.show.thin()
	}
}

// thin drops the lanes that nobody watches, but keeps one for others to begin
// from.
func (s *show) thin() {
	for i := len(s.lanes) - 1; i >= 0 && len(s.lanes) > 1; i-- {
		if s.lanes[i].crowd == 0 {
			s.lanes = slices.Delete(s.lanes, i, i+1)
		}
	}
}

// stateFrame is a whole state as a finished frame.
func stateFrame(st *harness.State, sealed [][]byte, first int) []byte {
	size := 4 << 10
	for _, m := range sealed {
		size += len(m)
	}
	dst, mark := socket.BeginText(make([]byte, 0, size))
	return socket.EndText(appendState(dst, st, sealed, first), mark)
}
