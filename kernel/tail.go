package kernel

import (
	"slices"
	"sync"

	"harness"
)

// tail is the recent, durable end of a session's log, shared by all watchers.
// The session adds; each watcher asks with a cursor of its own. A watcher
// that falls off the front starts again from a snapshot, so the tail is
// bounded whatever watchers do.
type tail struct {
	limit int

	mu     sync.Mutex      // guards what follows
	events []harness.Event // dense; the last one is at end
	bytes  int
	stale  int // bytes of events that were dropped and are still in the array
	end    harness.Seq
	more   chan struct{} // closed and replaced at every announce
	closed bool
}

// maxTailBytes bounds a tail of large events.
const maxTailBytes = 2 << 20

func newTail(end harness.Seq, limit int) *tail {
	return &tail{limit: limit, end: end, more: make(chan struct{})}
}

// add takes durable events in. Whoever looks sees them; those who wait are
// told by announce.
func (t *tail) add(events []harness.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range events {
		t.bytes += len(e.JSON())
	}
	t.events = append(t.events, events...)
	t.end = events[len(events)-1].Seq
	for len(t.events) > t.limit || len(t.events) > len(events) && t.bytes > maxTailBytes {
		size := len(t.events[0].JSON())
		t.bytes, t.stale = t.bytes-size, t.stale+size
		t.events = t.events[1:] // watchers may be reading what is before it
	}
	if t.stale > maxTailBytes {
		t.events, t.stale = slices.Clone(t.events), 0
	}
}

// announce wakes those who wait for what was added.
func (t *tail) announce() {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.more)
	t.more = make(chan struct{})
}

// close wakes all watchers for good.
func (t *tail) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	close(t.more)
}

// Outcomes of tail.after.
type tailed int

const (
	tailMore   tailed = iota // here are events
	tailWait                 // nothing yet; wait for the channel
	tailOld                  // the cursor fell off: take a snapshot
	tailFuture               // the cursor is beyond the end
	tailClosed               // the session has ended and all its events were read
)

// after returns the events behind a cursor. Callers must not change them.
func (t *tail) after(seq harness.Seq) ([]harness.Event, <-chan struct{}, tailed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	behind := int(t.end) - int(seq)
	switch {
	case behind < 0:
		return nil, nil, tailFuture
	case behind > len(t.events):
		return nil, nil, tailOld
	case behind > 0:
		return t.events[len(t.events)-behind:], nil, tailMore
	case t.closed:
		return nil, nil, tailClosed
	}
	return nil, t.more, tailWait
}

// changes is closed at the next announce; closed says that there will be none.
func (t *tail) changes() (more <-chan struct{}, closed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.more, t.closed
}

// last is where the log ends.
func (t *tail) last() harness.Seq {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.end
}
