package socket

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

const (
	// heldRead is the read buffer of a held connection, there for its life.
	heldRead = 4 << 10

	// heldBuffer is what a held connection takes before Write is short: the
	// part of a kernel buffer that a parked one would have had.
	heldBuffer = 64 << 10

	// heldPiece is what goes out in one write: a TLS record, and the grain of
	// write progress.
	heldPiece = 16 << 10
)

// A carrier is the part of a net.Conn that a held connection needs.
type carrier interface {
	io.ReadWriteCloser
	SetDeadline(time.Time) error
	SetReadDeadline(time.Time) error
}

// A held connection keeps its net.Conn, one goroutine that reads, and one that
// writes while there is something to write. It is what TLS, other listeners
// and other systems get. Everything above the bytes is the parked
// connection's code; its conn's mu guards the fields below c and nc.
type held struct {
	c    *Conn
	nc   carrier
	told chan struct{} // of size 1: somebody wants the reader to look

	out     []byte // taken and not yet on its way
	flying  int    // bytes on their way
	writing bool   // drain runs
	fin     bool   // end the peer's input after out
}

func newHeld(c *Conn, nc carrier) *held {
	h := &held{c: c, nc: nc, told: make(chan struct{}, 1)}
	if tcp, ok := h.below().(*net.TCPConn); ok { // without these it works too
		tcp.SetWriteBuffer(sendBuffer)
		tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: time.Minute, Interval: 15 * time.Second, Count: 4})
	}
	return h
}

// below is the socket under TLS, or just the socket.
func (h *held) below() carrier {
	if t, ok := h.nc.(interface{ NetConn() net.Conn }); ok {
		return t.NetConn()
	}
	return h.nc
}

// run reads until the connection is at its end; it is the busy one.
func (h *held) run() {
	c := h.c
	buf := make([]byte, heldRead)
	c.mu.Lock()
	for {
		if c.report() {
			continue
		}
		if c.state == gone && c.reported {
			break
		}
		if c.state == gone { // Writable still runs
			c.mu.Unlock()
			<-h.told
			c.mu.Lock()
			continue
		}
		h.nc.SetReadDeadline(time.Time{}) // under mu: a later wake is not lost
		c.busy = false
		c.mu.Unlock()
		n, err := h.nc.Read(buf)
		c.mu.Lock()
		c.busy = true
		if n > 0 {
			c.heard, c.pinged = c.srv.now(), false
			if c.state == open {
				c.mu.Unlock()
				c.srv.feed(c, buf[:n])
				c.mu.Lock()
				c.heard = c.srv.now()
			}
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			c.end(err, 0, "")
			c.release()
		}
	}
	c.mu.Unlock()
	h.hangUp()
	c.srv.forget(c)
}

// wake has the reader look. mu is held.
func (h *held) wake() {
	h.nc.SetReadDeadline(time.Unix(1, 0))
	select {
	case h.told <- struct{}{}:
	default:
	}
}

// cut ends reads and writes in progress. mu is held.
func (h *held) cut() { h.nc.SetDeadline(time.Unix(1, 0)) }

// hangUp closes the socket below TLS: a TLS goodbye was sent by finish, or
// there is nobody to read it.
func (h *held) hangUp() { h.below().Close() }

// queued is the number of bytes not yet taken by the socket. mu is held.
func (h *held) queued() uint32 { return uint32(len(h.out) + h.flying) }

// write takes what fits. mu is held.
func (h *held) write(p []byte) int {
	n := min(len(p), max(heldBuffer-int(h.queued()), 0))
	h.out = append(h.out, p[:n]...)
	if n > 0 {
		h.start()
	}
	return n
}

// finish ends the peer's input after what was taken. mu is held.
func (h *held) finish() {
	h.fin = true
	h.start()
}

func (h *held) start() {
	if !h.writing {
		h.writing = true
		h.c.srv.wg.Go(h.drain)
	}
}

// drain writes what was taken until nothing is left.
func (h *held) drain() {
	c := h.c
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(h.out) > 0 && c.state != gone {
		piece := h.out[:min(len(h.out), heldPiece)]
		h.out, h.flying = h.out[len(piece):], len(piece)
		c.mu.Unlock()
		_, err := h.nc.Write(piece)
		c.mu.Lock()
		if h.flying = 0; err != nil {
			c.end(fmt.Errorf("write: %w", err), 0, "")
			c.release()
			break
		}
		c.mu.Unlock()
		c.writable()
		c.mu.Lock()
	}
	h.out, h.writing = nil, false
	if w, ok := h.nc.(interface{ CloseWrite() error }); ok && h.fin && c.state != gone {
		h.fin = false
		c.mu.Unlock()
		w.CloseWrite()
		c.mu.Lock()
	}
}
