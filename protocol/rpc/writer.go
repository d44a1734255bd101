package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// errWrite says that the client is gone.
var errWrite = errors.New("the client takes no more output")

// maxWaiting is how many lines may wait for the client. Whoever wants to say
// more waits with them: answers hold up the reading of requests, notifications
// hold up the follower of their thread, and nothing else.
const maxWaiting = 64

// writer puts whole lines on the stream, one after the other.
type writer struct {
	w     io.Writer
	fail  context.CancelCauseFunc
	lines chan []byte // of size maxWaiting
	idle  chan chan struct{}
}

func newWriter(w io.Writer, fail context.CancelCauseFunc) *writer {
	return &writer{w: w, fail: fail, lines: make(chan []byte, maxWaiting), idle: make(chan chan struct{})}
}

// maxWrite is how much is gathered into one write: everything that waits, up
// to here.
const maxWrite = 64 << 10

func (w *writer) run(ctx context.Context) {
	var buf []byte
	for {
		select {
		case line := <-w.lines:
			buf = append(buf[:0], line...)
			for more := true; more && len(buf) < maxWrite; {
				select {
				case line = <-w.lines:
					buf = append(buf, line...)
				default:
					more = false
				}
			}
			if _, err := w.w.Write(buf); err != nil {
				w.fail(fmt.Errorf("%w: %w", errWrite, err))
				return
			}
			if cap(buf) > 4*maxWrite { // one huge answer must not stay
				buf = nil
			}
		case done := <-w.idle:
			close(done)
		case <-ctx.Done():
			return
		}
	}
}

// send hands over a line, and waits while too many do already.
func (w *writer) send(ctx context.Context, line []byte) {
	select {
	case w.lines <- line:
	case <-ctx.Done():
	}
}

// flush returns when everything sent before it is written, or never will be.
func (w *writer) flush(ctx context.Context) {
	for {
		done := make(chan struct{})
		select {
		case w.idle <- done:
		case <-ctx.Done():
			return
		}
		<-done
		if len(w.lines) == 0 {
			return
		}
	}
}
