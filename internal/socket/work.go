package socket

import "io"

const (
	// maxWorkers bounds the connections whose messages are handled at once.
	// A handler mostly waits for a durable commit, and commits are grouped:
	// many must be able to wait together, while 256 × (16 kB + stack) is the
	// most memory a burst can take.
	maxWorkers = 256

	// readSize is what one read takes: most messages whole, and small enough
	// that a busy connection gives way to others every 16 kB.
	readSize = 16 << 10
)

// enqueue has a worker serve c, whose busy is set.
func (s *Server) enqueue(c *Conn) {
	s.queueMu.Lock()
	defer s.queueMu.Unlock()
	s.queue = append(s.queue, c)
	if s.workers < maxWorkers {
		s.workers++
		s.wg.Go(s.work)
	}
}

// work serves queued connections until there are none.
func (s *Server) work() {
	buf := s.buffers.Get().(*[readSize]byte)
	defer s.buffers.Put(buf)
	for {
		s.queueMu.Lock()
		if s.first == len(s.queue) {
			if s.queue, s.first = s.queue[:0], 0; cap(s.queue) > maxWorkers {
				s.queue = nil
			}
			s.workers--
			s.queueMu.Unlock()
			return
		}
		c := s.queue[s.first]
		s.queue[s.first] = nil
		s.first++
		s.queueMu.Unlock()
		s.serve(c, buf[:])
	}
}

func (s *Server) othersWait() bool {
	s.queueMu.Lock()
	defer s.queueMu.Unlock()
	return s.first < len(s.queue)
}

// serve does what there is to do for a parked connection, until it is quiet
// or, if others wait, for one read.
func (s *Server) serve(c *Conn, buf []byte) {
	c.mu.Lock()
	for {
		if c.report() {
			continue
		}
		if c.state == gone {
			c.busy = false
			over := c.reported
			c.mu.Unlock()
			if over {
				s.forget(c)
			}
			return
		}
		c.more = false
		n, err := recvFD(c.fd, buf)
		if err == errAgain {
			c.busy = false
			c.mu.Unlock()
			return
		}
		if err == nil && n == 0 {
			err = io.EOF
		}
		if err != nil {
			c.end(err, 0, "")
			c.release()
			continue
		}
		c.heard, c.pinged = s.now(), false
		if c.state == closing {
			continue
		}
		c.mu.Unlock()
		s.feed(c, buf[:n])
		again := s.othersWait()
		c.mu.Lock()
		c.heard = s.now()
		if c.state == open && n < len(buf) && !c.more && !c.hangup {
			c.busy = false // a short read has emptied the socket
			c.mu.Unlock()
			return
		}
		if again {
			c.mu.Unlock()
			s.enqueue(c)
			return
		}
	}
}

// feed parses b and carries out what it says, as long as c is open. Its caller
// is the one who is busy with c. Of a stream, it says nothing.
func (s *Server) feed(c *Conn, b []byte) {
	if s.oneWay {
		return
	}
	if c.in == nil {
		c.in = s.parsers.Get().(*parser)
	}
	for c.isOpen() {
		ev, rest, fail := c.in.next(b)
		b = rest
		if c.in.idle() {
			c.in.began = 0
		} else if c.in.began == 0 {
			c.in.began = max(s.now(), 1)
		}
		if fail != nil {
			c.mu.Lock()
			c.end(fail, fail.Code, fail.Reason)
			c.mu.Unlock()
			break
		}
		switch ev.what {
		case nothing:
			if c.in.idle() {
				s.putParser(c)
			}
			return
		case message:
			s.handler.Message(c, ev.payload)
		case refused:
			s.handler.Refused(c, ev.refusal)
		case pinged:
			c.control(finPong, ev.payload)
		case ponged: // any byte counts as a sign of life
		case closed:
			bye := peerClose(ev.payload)
			c.mu.Lock()
			c.end(bye, bye.Code, bye.Reason)
			c.mu.Unlock()
		}
	}
}

// putParser gives c's parser back, if it has one.
func (s *Server) putParser(c *Conn) {
	if c.in != nil {
		c.in.reset()
		s.parsers.Put(c.in)
		c.in = nil
	}
}
