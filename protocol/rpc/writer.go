package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// errWrite says that the client is gone.
var errWrite = errors.New("the client takes no more output")

// maxWaiting is how much may wait for the client before whoever wants to say
// more waits as well: answers hold up the reading of requests, notifications
// hold up the follower of their thread, and nothing else. It is enough for the
// answers to some thousand pipelined requests.
const maxWaiting = 1 << 20

// writer puts whole lines on the stream, one after the other.
type writer struct {
	w    io.Writer
	fail context.CancelCauseFunc
	more chan struct{} // of size 1: something waits
	last chan struct{} // closed when nothing more will come

	mu      sync.Mutex // guards what follows
	waiting []byte
	room    chan struct{} // closed when waiting was taken; nil if nobody waits for it
}

func newWriter(w io.Writer, fail context.CancelCauseFunc) *writer {
	return &writer{w: w, fail: fail, more: make(chan struct{}, 1), last: make(chan struct{})}
}

// send hands over a line, and waits while too much does already.
func (w *writer) send(ctx context.Context, line []byte) {
	for {
		w.mu.Lock()
		if len(w.waiting) < maxWaiting {
			w.waiting = append(w.waiting, line...)
			w.mu.Unlock()
			select {
			case w.more <- struct{}{}:
			default:
			}
			return
		}
		if w.room == nil {
			w.room = make(chan struct{})
		}
		room := w.room
		w.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return
		}
	}
}

// take swaps what waits for an empty buffer.
func (w *writer) take(empty []byte) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	full := w.waiting
	w.waiting = empty[:0]
	if w.room != nil {
		close(w.room)
		w.room = nil
	}
	return full
}

// run writes until ctx is done, a write fails, or finish was called and
// everything is written.
func (w *writer) run(ctx context.Context) {
	var buf []byte
	for last := false; !last; {
		select {
		case <-w.more:
		case <-w.last:
			last = true
		case <-ctx.Done():
			return
		}
		if cap(buf) > 2*maxWaiting { // one huge answer must not stay
			buf = nil
		}
		if buf = w.take(buf); len(buf) == 0 {
			continue
		}
		if _, err := w.w.Write(buf); err != nil {
			w.fail(fmt.Errorf("%w: %w", errWrite, err))
			return
		}
	}
}

// finish says that nothing more will be sent.
func (w *writer) finish() { close(w.last) }
