package socket

import "sync"

// sendBuffer caps what the kernel has sent and not seen acknowledged (Linux
// doubles it). Without a cap it grows to 4 MB of stale bytes per slow reader;
// 128 kB are a second at 1 Mbit/s, and still 1.3 MB/s at 100 ms round trip.
const sendBuffer = 128 << 10

type state uint8

const (
	open    state = iota
	closing       // a close frame is out; what still comes is thrown away
	gone          // the descriptor is given up
)

// A Conn is one connection: the table row. All methods may be called from any
// goroutine, also from inside the Handler's calls.
type Conn struct {
	srv  *Server
	tag  any
	in   *parser // only while a message is incomplete; belongs to who is busy, or to who has mu if nobody is
	held *held   // nil if the descriptor is parked

	mu      sync.Mutex // guards the fields below; held across calls that cannot block, never across the Handler's
	err     error      // why it is not open
	pending []byte     // control frames that wait for a frame boundary
	owed    int        // bytes of the owner's frame in flight not yet written
	fd      int32
	slot    uint32
	heard   tick   // when the peer last sent something; of a stream, or was sent something
	since   tick   // when the present wait (for a pong, for room, for the peer's end) began
	queued  uint32 // bytes the kernel held when the sweep last looked

	state    state
	opening  bool // Opened runs
	busy     bool // a worker has it, or it is in the workers' queue
	more     bool // something happened since the busy one looked
	hangup   bool // the peer has ended its side: read up to that end
	blocked  bool // the kernel's buffer is full
	wants    bool // the owner's last Write was short
	telling  bool // Writable runs
	reported bool // Closed was called
	pinged   bool // a ping is out, since is its time
}

// Tag returns what the owner gave to Upgrade or Stream.
func (c *Conn) Tag() any { return c.tag }

// Close sends a close frame if the socket takes it at once and no frame of the
// owner is half written, and gives up the connection. It does not wait; the
// Handler's Closed comes later, from another goroutine, with a *CloseError.
// Closing twice, or after the peer did, does nothing. A stream just ends, behind
// what was written, and its code is for Closed alone.
func (c *Conn) Close(code uint16, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end(&CloseError{Code: code, Reason: reason, Local: true}, code, reason)
}

// end leaves the open state for the given reason. Code 0 sends no close frame.
// After a close frame the descriptor stays until the peer has ended its side
// too, or for lingerFor: closing it with unread bytes inside would make the
// kernel reset the connection and destroy the close frame on its way.
// mu is held.
func (c *Conn) end(err error, code uint16, reason string) {
	if c.state != open {
		return
	}
	c.err = err
	if code != 0 && !c.blocked && c.owed == 0 {
		c.pending = c.srv.goodbye(c.pending, code, reason)
		if sent, _ := c.flush(); sent {
			c.state, c.since = closing, c.srv.now()
			c.shutdownWrite()
			c.wake()
			return
		}
	}
	c.release()
}

// release gives up the descriptor. mu is held.
func (c *Conn) release() {
	if c.state == gone {
		return
	}
	c.state = gone
	c.pending = nil
	if c.held != nil {
		c.held.cut()
	} else {
		closeFD(c.fd, c.blocked)
		c.fd = -1
	}
	c.wake()
}

// shutdownWrite tells the peer that nothing more will come. mu is held.
func (c *Conn) shutdownWrite() {
	if c.held != nil {
		c.held.finish()
	} else {
		shutdownFD(c.fd)
	}
}

// wake has somebody look at c soon. mu is held.
func (c *Conn) wake() {
	switch {
	case c.held != nil:
		c.held.wake()
	case c.busy:
		c.more = true
	default:
		c.busy = true
		c.srv.enqueue(c)
	}
}

// report calls Closed if it is due and says whether it was. Only the one who
// is busy with c calls it; mu is held, and given up during the call.
func (c *Conn) report() bool {
	if c.state == open || c.reported || c.telling {
		return false
	}
	c.reported = true
	err := c.err
	c.mu.Unlock()
	c.srv.putParser(c)
	c.srv.owner.Closed(c, err)
	c.mu.Lock()
	return true
}

func (c *Conn) isOpen() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state == open
}
