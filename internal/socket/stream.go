package socket

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Stream answers a request with a stream of events that has no end of its own,
// on a server made by NewStreams. Headers set on w before are part of the
// answer; those that make it a stream are set here.
//
// ErrClosed means that the server is shutting down and that nothing was
// answered. After any other error the peer is gone.
//
// Where net/http does not give the connection away, as with HTTP/2, Stream
// returns when the stream has ended: its request must not end before.
func (s *Server) Stream(w http.ResponseWriter, r *http.Request, tag any) (*Conn, error) {
	if s.isDraining() {
		return nil, fmt.Errorf("stream: %w", ErrClosed)
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	c := s.conn(tag)
	nc, _, err := http.NewResponseController(w).Hijack() // what was read ahead says nothing
	switch {
	case errors.Is(err, http.ErrNotSupported):
		return c, c.borrow(w, r)
	case err != nil:
		return nil, fmt.Errorf("stream: %w", err)
	}
	if err := c.connect(nc, streamHead(h)); err != nil {
		nc.Close()
		return nil, fmt.Errorf("stream: %w", err)
	}
	if !c.open() {
		return nil, errLate
	}
	if c.held != nil {
		s.wg.Go(c.held.run)
	} else {
		c.park(nil)
	}
	return c, nil
}

// errLate is not ErrClosed: the head was sent.
var errLate = errors.New("stream: the server began to shut down")

// borrow lets the request's goroutine carry c until its end.
func (c *Conn) borrow(w http.ResponseWriter, r *http.Request) error {
	l := newLent(w, r)
	if err := l.flush(); err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	c.held = newHeld(c, l)
	if !c.open() {
		return errLate
	}
	c.held.run()
	return nil
}

// streamHead is the head of an answer whose body lasts until the connection
// ends.
func streamHead(h http.Header) []byte {
	h.Del("Content-Length")
	h.Set("Connection", "close")
	h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 200 OK\r\n")
	h.Write(&b) // to memory: no error
	b.WriteString("\r\n")
	return b.Bytes()
}
