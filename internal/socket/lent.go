package socket

import (
	"context"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// lent is the response to a request whose connection net/http keeps. It is
// written with the request's own writer and read by waiting for its end.
type lent struct {
	w     http.ResponseWriter
	rc    *http.ResponseController
	ctx   context.Context // the request's: ends when the peer is gone
	woken chan struct{}   // of size 1: a read is to end
	done  func()          // what is written is all
	ended <-chan struct{}

	mu     sync.Mutex // guards closed; held across a write, so that none outlives the request
	closed bool
}

func newLent(w http.ResponseWriter, r *http.Request) *lent {
	ended := make(chan struct{})
	return &lent{
		w: w, rc: http.NewResponseController(w), ctx: r.Context(), woken: make(chan struct{}, 1),
		done: sync.OnceFunc(func() { close(ended) }), ended: ended,
	}
}

// Read waits for the peer's end, or for a deadline in the past.
func (l *lent) Read([]byte) (int, error) {
	select {
	case <-l.ctx.Done():
		return 0, context.Cause(l.ctx)
	case <-l.ended:
		return 0, io.EOF
	case <-l.woken:
		return 0, os.ErrDeadlineExceeded
	}
}

func (l *lent) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, ErrClosed
	}
	n, err := l.w.Write(p)
	if err == nil {
		err = l.rc.Flush()
	}
	return n, err
}

// flush sends the head.
func (l *lent) flush() error { return l.rc.Flush() }

// CloseWrite ends the response.
func (l *lent) CloseWrite() error {
	l.done()
	return nil
}

// Close returns when no write runs and none will.
func (l *lent) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return nil
}

// SetReadDeadline knows two times: the past and never.
func (l *lent) SetReadDeadline(t time.Time) error {
	if t.IsZero() {
		select {
		case <-l.woken:
		default:
		}
		return nil
	}
	select {
	case l.woken <- struct{}{}:
	default:
	}
	return nil
}

// SetDeadline ends reads and writes if t is past. A deadline of net/http's
// resets the stream, so there is one only if a write is under way. A writer
// that hides both the connection and its deadlines waits until the peer ends.
func (l *lent) SetDeadline(t time.Time) error {
	if t.IsZero() || t.After(time.Now()) {
		return nil
	}
	l.SetReadDeadline(t)
	if l.mu.TryLock() {
		l.closed = true
		l.mu.Unlock()
		return nil
	}
	return l.rc.SetWriteDeadline(t)
}
