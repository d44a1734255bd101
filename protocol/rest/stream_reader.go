package rest

import (
	"sync"

	"harness"
)

const (
	// maxReaders bounds those who read the store for streams at once: decoding
	// is CPU work, and more at once only cost memory.
	maxReaders = 4

	// maxChunk is what one turn of reading encodes, minChunk what it encodes at
	// least for a socket that takes little; a turn looks at most at maxScan
	// bytes of the log, however little of it is wanted.
	maxChunk = 256 << 10
	minChunk = 32 << 10
	maxScan  = 4 * maxChunk
)

// readers serve streams that are behind what their rooms hold, a chunk at a
// time and in turn, so that one long history does not keep others waiting.
// When nobody is behind there are none.
type readers struct {
	f *feeds

	mu    sync.Mutex // guards what follows; may be taken under a room's
	queue []*stream
	first int // of the queue
	busy  int
}

// add has a stream served, whose queued is set.
func (q *readers) add(w *stream) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.queue = append(q.queue, w)
	if q.busy < maxReaders {
		q.busy++
		q.f.spawn(q.work)
	}
}

// work serves streams until none is behind.
func (q *readers) work() {
	g := new(segment)
	for {
		w := q.next()
		if w == nil {
			return
		}
		w.room.serve(w, g)
		if cap(g.buf) > 2*maxChunk { // of an event that was larger than any
			g = new(segment)
		}
	}
}

// next takes the stream that waits longest, or ends the reader.
func (q *readers) next() *stream {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.first == len(q.queue) || q.f.ctx.Err() != nil {
		q.queue, q.first = nil, 0
		q.busy--
		return nil
	}
	w := q.queue[q.first]
	q.queue[q.first] = nil
	q.first++
	if q.first > len(q.queue)/2 {
		q.queue, q.first = append(q.queue[:0], q.queue[q.first:]...), 0
	}
	return w
}

// serve reads the next chunk of what a stream lacks and sends it to all that
// lack the same.
func (r *room) serve(w *stream, g *segment) {
	r.mu.Lock()
	lacks := w.ready() && w.at < r.end && (w.lane == nil || !w.lane.covers(w.at))
	g.reset(w.at, w.want)
	size := maxChunk
	if w.pace > 0 {
		size = min(max(minChunk, 2*int(w.pace)), maxChunk)
	}
	r.mu.Unlock()
	var err error
	if lacks {
		err = r.read(g, size)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	w.queued = false
	if err != nil && g.to == g.from { // else it is met again, behind what can be shown
		if r.f.ctx.Err() == nil {
			r.f.log.Warn("stream ended", "session", r.id, "after", w.at, "err", err)
			w.fail(err)
		}
		return
	}
	for _, x := range r.streams {
		if !x.health && x.want == w.want && g.covers(x.at) && x.ready() {
			x.take(g)
			r.advance(x)
		}
	}
	r.advance(w)
}

// read fills g from the store.
func (r *room) read(g *segment, size int) error {
	scanned := 0
	for e, err := range r.f.k.Read(r.f.ctx, r.id, g.from) {
		if err != nil {
			return err
		}
		g.add(e)
		if scanned += len(e.JSON()); len(g.buf) >= size || scanned >= maxScan {
			return nil
		}
	}
	if g.to == g.from {
		return harness.ErrNotFound // the log is shorter than it was
	}
	return nil
}
