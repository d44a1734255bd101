package socket

import (
	"runtime/debug"
	"time"
)

// A tick is a tenth of a second since the server started: four bytes in a row
// last for thirteen years.
type tick uint32

const tickTime = time.Second / 10

func (s *Server) now() tick { return tick(time.Since(s.start) / tickTime) }

const (
	// lingerFor is how long a descriptor waits for the peer's end after our
	// close frame: a slow round trip, and nothing that piles up.
	lingerFor = 3 * time.Second

	// A trim gives the pages of a connection burst back to the system:
	// handshakes leave 0.7 kB per connection of freed heap that the runtime
	// would keep for minutes. It costs a whole garbage collection, so there
	// must have been a burst, it must be over, and it is done once a minute.
	trimBurst = 1000
	trimEvery = time.Minute
)

// timing is what the sweep decides with. Zero means never.
type timing struct {
	ping, dead, stall, message, linger tick
	period                             time.Duration
}

func newTiming(o Options) timing {
	t := timing{linger: tick(lingerFor / tickTime), period: time.Second}
	for _, x := range []struct {
		to  *tick
		opt time.Duration
	}{{&t.ping, o.PingAfter}, {&t.dead, o.DeadAfter}, {&t.stall, o.StallAfter}, {&t.message, o.MessageFor}} {
		if x.opt > 0 {
			*x.to = max(tick(x.opt/tickTime), 1)
			t.period = max(min(t.period, x.opt/4), tickTime/4)
		}
	}
	return t
}

type verdict uint8

const (
	fine verdict = iota
	askPeer
	peerDead
	peerStalled
	peerSlow
	lingered
)

// judge decides what is to be done about c now.
func (t timing) judge(c *Conn, now tick) verdict {
	switch {
	case c.state == closing && now-c.since >= t.linger:
		return lingered
	case c.state != open:
		return fine
	case t.message > 0 && !c.busy && c.in != nil && now-c.in.began >= t.message:
		return peerSlow
	case c.blocked:
		if t.stall > 0 && now-c.since >= t.stall {
			return peerStalled
		}
	case c.busy: // unread bytes may be waiting for their turn
	case c.pinged:
		if t.dead > 0 && now-c.since >= t.dead {
			return peerDead
		}
	case t.ping > 0 && now-c.heard >= t.ping && c.owed == 0:
		return askPeer
	}
	return fine
}

// keepTime looks at every row once per period, for all of them together.
func (s *Server) keepTime() {
	clock := time.NewTicker(s.timing.period)
	defer clock.Stop()
	var lastTrim time.Time
	var seen uint32
	for {
		select {
		case <-s.stop:
			return
		case now := <-clock.C:
			s.each(s.look)
			n := s.opened.Load()
			if n >= trimBurst && n == seen && now.Sub(lastTrim) >= trimEvery {
				debug.FreeOSMemory()
				lastTrim, n = now, 0
				s.opened.Store(0)
			}
			seen = n
		}
	}
}

// look judges one row and carries the verdict out.
func (s *Server) look(c *Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := s.now()
	if c.blocked && c.state == open {
		if q := c.unsent(); q != c.queued {
			c.queued, c.since = q, now
		}
	}
	switch s.timing.judge(c, now) {
	case fine:
	case askPeer:
		c.pending = append(c.pending, s.ping...)
		if sent, _ := c.flush(); sent {
			c.heard, c.since = now, now
			c.pinged = !s.oneWay
		}
	case peerDead:
		c.end(ErrDead, codeTryLater, "ping not answered")
		c.release() // nobody is there to say goodbye to
	case peerStalled:
		c.end(ErrStalled, codeTryLater, "no write progress")
	case peerSlow:
		c.end(ErrSlow, codePolicy, "message took too long")
	case lingered:
		c.release()
	}
}

// unsent is the number of bytes on their way to the peer. mu is held.
func (c *Conn) unsent() uint32 {
	if c.held != nil {
		return c.held.queued()
	}
	return unsentFD(c.fd)
}
