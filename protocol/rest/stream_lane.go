package rest

import (
	"slices"

	"harness"
)

// maxLanes bounds the filters for which a room holds the present. Streams with
// one more are served from the store.
const maxLanes = 8

// live is the present of an awake session: lanes that end where the room does.
type live struct{ lanes []*lane }

// lane is the present for streams with one filter: encoded once, shared by all
// of them.
type lane struct {
	segment
	crowd int // streams in it
}

// place finds or makes a lane for a stream of an awake session. mu is held.
func (r *room) place(w *stream) {
	p := r.live
	i := slices.IndexFunc(p.lanes, func(l *lane) bool { return l.want == w.want })
	if i < 0 {
		if len(p.lanes) == maxLanes {
			return
		}
		i = len(p.lanes)
		p.lanes = append(p.lanes, &lane{segment: segment{from: r.end, to: r.end, want: w.want}})
	}
	w.lane = p.lanes[i]
	w.lane.crowd++
}

// displace takes a stream out of its lane, and with it the lane if nobody else
// is there. mu is held.
func (r *room) displace(w *stream) {
	l := w.lane
	if l == nil {
		return
	}
	w.lane = nil
	if l.crowd--; l.crowd == 0 {
		r.live.lanes = slices.DeleteFunc(r.live.lanes, func(x *lane) bool { return x == l })
	}
}

// forget lets go of the present: what streams lack is in the store. mu is held.
func (r *room) forget(end harness.Seq) {
	for _, w := range r.streams {
		w.lane = nil
	}
	r.live, r.end = nil, end
}
