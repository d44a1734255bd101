package rest

import (
	"slices"
	"sort"
	"strconv"

	"harness"
)

// segment is a run of a session's log as streams with one filter see it: the
// events behind from, up to and with to, those that are wanted in their final
// bytes. Any number of streams are served from one.
type segment struct {
	from, to harness.Seq
	want     filter
	buf      []byte
	events   []framed
	ends     []ended
}

// framed is where an event begins in buf.
type framed struct {
	seq harness.Seq
	off int
}

// ended is where a turn ended, shown or not.
type ended struct {
	turn harness.TurnID
	seq  harness.Seq
}

// add appends the event behind to.
func (g *segment) add(e harness.Event) {
	g.to = e.Seq
	if p, ok := e.Payload.(*harness.TurnEnd); ok {
		g.ends = append(g.ends, ended{p.TurnID, e.Seq})
	}
	if g.want.chooses(e) {
		g.events = append(g.events, framed{e.Seq, len(g.buf)})
		g.buf = appendEvent(g.buf, e)
	}
}

// appendEvent appends an event as streams carry it: the log's own bytes, which
// have no line ends in them.
func appendEvent(dst []byte, e harness.Event) []byte {
	dst = strconv.AppendUint(append(dst, "id: "...), uint64(e.Seq), 10)
	dst = append(append(dst, "\nevent: "...), e.Type()...)
	dst = append(append(dst, "\ndata: "...), e.JSON()...)
	return append(dst, "\n\n"...)
}

// covers reports whether a stream at seq can go on with g.
func (g *segment) covers(seq harness.Seq) bool { return g.from <= seq && seq < g.to }

// next is the index of the first wanted event behind seq.
func (g *segment) next(seq harness.Seq) int {
	return sort.Search(len(g.events), func(i int) bool { return g.events[i].seq > seq })
}

// offset is where the event with an index begins, or the last one ends.
func (g *segment) offset(i int) int {
	if i == len(g.events) {
		return len(g.buf)
	}
	return g.events[i].off
}

// sent is where a stream stands that was at seq and has been sent everything
// before off.
func (g *segment) sent(seq harness.Seq, off int) harness.Seq {
	i := sort.Search(len(g.events), func(i int) bool { return g.events[i].off >= off })
	if i == 0 {
		return seq
	}
	return max(seq, g.events[i-1].seq)
}

// end is where a turn ended behind seq, if it did.
func (g *segment) end(t harness.TurnID, seq harness.Seq) (harness.Seq, bool) {
	for _, e := range g.ends {
		if e.turn == t && e.seq > seq {
			return e.seq, true
		}
	}
	return 0, false
}

// maxHeld bounds the bytes of a lane: enough for any reader that merely
// breathes, little enough beside reading the rest from the store.
const maxHeld = 256 << 10

// trim drops events from the front once there are twice as many bytes as need
// be. It never drops the last one.
func (g *segment) trim() {
	const marks = maxHeld / 64 // an event of nothing has as many bytes
	if len(g.buf) <= 2*maxHeld && len(g.ends) <= marks {
		return
	}
	cut := len(g.buf) - maxHeld
	i := sort.Search(len(g.events), func(i int) bool { return g.events[i].off >= cut })
	if i = min(i, len(g.events)-1); i > 0 {
		off := g.events[i].off
		g.from = g.events[i-1].seq
		if cap(g.buf) > 4*maxHeld { // much came at once
			g.buf = slices.Clone(g.buf[off:])
		} else {
			g.buf = append(g.buf[:0], g.buf[off:]...)
		}
		g.events = slices.Delete(g.events, 0, i)
		for j := range g.events {
			g.events[j].off -= off
		}
	}
	if len(g.ends) > marks { // nearly nothing is wanted: what is held is the present
		g.from = max(g.from, g.ends[len(g.ends)-1].seq)
	}
	g.ends = slices.DeleteFunc(g.ends, func(e ended) bool { return e.seq <= g.from })
}

// reset makes g an empty run behind from.
func (g *segment) reset(from harness.Seq, want filter) {
	*g = segment{from: from, to: from, want: want, buf: g.buf[:0], events: g.events[:0], ends: g.ends[:0]}
}
