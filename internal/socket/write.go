package socket

import "fmt"

// maxPending bounds the control frames that wait for a peer that does not
// read: three pongs of full size. More pings than that stay unanswered.
const maxPending = 3 * (2 + maxControl)

// Write sends bytes of finished frames and never blocks. The bytes start where
// the previous Write stopped inside a frame, or else with a new frame, and end
// with a whole frame. A stream's frames are its events.
//
// n < len(frames) with a nil error means that the socket takes no more now:
// Writable will be called once when it does. The frame in flight must then be
// finished before another is sent; Unfinished tells how much of it is missing.
// After an error the connection is at its end and Closed will follow.
func (c *Conn) Write(frames []byte) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state != open {
		return 0, ErrClosed
	}
	if len(frames) == 0 {
		return 0, nil
	}
	if len(c.pending) > 0 && !c.blocked {
		if n, err = c.put(frames[:min(c.owed, len(frames))]); err == nil && c.owed == 0 {
			_, err = c.flush()
		}
	}
	if err == nil && !c.blocked {
		var m int
		m, err = c.put(frames[n:])
		n += m
	}
	if c.srv.oneWay && n > 0 {
		c.heard = c.srv.now()
	}
	c.wants = n < len(frames)
	return n, err
}

// Unfinished is the number of bytes that must still be written to finish the
// owner's frame in flight; 0 between frames.
func (c *Conn) Unfinished() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.owed
}

// put writes bytes of the owner's frames. mu is held.
func (c *Conn) put(p []byte) (int, error) {
	n, err := c.send(p)
	if n == len(p) {
		c.owed = max(c.owed-n, 0)
	} else {
		c.owed = c.srv.unfinished(c.owed, p, n)
	}
	return n, err
}

// send hands p to the socket. A short write marks c as blocked, an error ends
// it. mu is held.
func (c *Conn) send(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	if c.held != nil {
		n = c.held.write(p)
	} else {
		n, err = sendFD(c.fd, p)
	}
	if err != nil {
		err = fmt.Errorf("write: %w", err)
		c.end(err, 0, "")
		return n, err
	}
	if n < len(p) {
		c.blocked = true
		c.since, c.queued = c.srv.now(), 0
	}
	return n, nil
}

// flush sends what is pending and says whether nothing is left. The stream is
// at a frame boundary; mu is held.
func (c *Conn) flush() (bool, error) {
	n, err := c.send(c.pending)
	if c.pending = c.pending[n:]; len(c.pending) > 0 {
		return false, err
	}
	c.pending = nil
	return err == nil, err
}

// control sends a control frame as soon as the owner's frame in flight and the
// socket allow it.
func (c *Conn) control(first byte, payload []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state != open || len(c.pending)+2+len(payload) > maxPending {
		return
	}
	c.pending = append(appendHeader(c.pending, first, len(payload)), payload...)
	if !c.blocked && c.owed == 0 {
		c.flush() // an error has ended c
	}
}

// writable is called when the socket takes bytes again.
func (c *Conn) writable() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state != open || !c.blocked {
		return
	}
	c.blocked = false
	if c.owed == 0 && len(c.pending) > 0 {
		c.flush()
	}
	c.tell()
}

// tell calls Writable if the owner waits for it, nowhere twice at a time and
// not before Opened has returned. mu is held, and given up during the call.
func (c *Conn) tell() {
	if c.opening || c.telling {
		return
	}
	for c.state == open && c.wants && !c.blocked {
		c.wants, c.telling = false, true
		c.mu.Unlock()
		c.srv.owner.Writable(c)
		c.mu.Lock()
		c.telling = false
		if c.state != open {
			c.wake() // Closed had to wait
		}
	}
}
