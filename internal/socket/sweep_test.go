package socket

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/gobwas/ws"
)

func TestSilentPeerIsPingedAndThenFreed(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		o := newOwner(t)
		s, web := serve(t, o, m, Options{PingAfter: 100 * time.Millisecond, DeadAfter: 300 * time.Millisecond})
		p := connect(t, web)
		for range 3 { // alive as long as it answers
			if op, _ := p.frame(); op != ws.OpPing {
				t.Fatalf("got opcode %d, want a ping", op)
			}
			p.send(client(ws.OpPong, true, ""))
		}
		o.want("closed " + ErrDead.Error())
		until(t, "row freed", func() bool { return s.Len() == 0 })
	})
}

func TestBusyHandlerIsNotTakenForADeadPeer(t *testing.T) {
	j := newTiming(Options{PingAfter: time.Second, DeadAfter: time.Second, StallAfter: 3 * time.Second, MessageFor: 2 * time.Second})
	for _, c := range []struct {
		name string
		conn *Conn
		want verdict
	}{
		{"heard just now", &Conn{heard: 95}, fine},
		{"silent", &Conn{heard: 90}, askPeer},
		{"silent, but a worker is busy with it", &Conn{heard: 10, busy: true}, fine},
		{"silent, with a frame in flight", &Conn{heard: 10, owed: 1}, fine},
		{"asked just now", &Conn{heard: 10, pinged: true, since: 95}, fine},
		{"asked long ago", &Conn{heard: 10, pinged: true, since: 90}, peerDead},
		{"asked long ago, but a worker is busy with it", &Conn{pinged: true, since: 10, busy: true}, fine},
		{"full for a while", &Conn{blocked: true, since: 71}, fine},
		{"full for long", &Conn{blocked: true, since: 70}, peerStalled},
		{"full for long while a worker is busy", &Conn{blocked: true, busy: true, since: 70}, peerStalled},
		{"in a message for a while", &Conn{heard: 99, in: &parser{began: 81}}, fine},
		{"in a message for long, and heard just now", &Conn{heard: 99, in: &parser{began: 80}}, peerSlow},
		{"in a message for long, while full", &Conn{heard: 99, blocked: true, since: 99, in: &parser{began: 80}}, peerSlow},
		{"in a message for long, but a worker is busy with it", &Conn{heard: 99, busy: true, in: &parser{began: 10}}, fine},
		{"closing", &Conn{state: closing, since: 90}, fine},
		{"closing for long", &Conn{state: closing, since: 70}, lingered},
		{"gone", &Conn{state: gone}, fine},
	} {
		if got := j.judge(c.conn, 100); got != c.want {
			t.Errorf("%s: verdict %d, want %d", c.name, got, c.want)
		}
	}
	off := newTiming(Options{PingAfter: -1, DeadAfter: -1, StallAfter: -1, MessageFor: -1})
	for _, c := range []*Conn{{}, {pinged: true}, {blocked: true}, {in: &parser{began: 1}}} {
		if got := off.judge(c, 1<<30); got != fine {
			t.Errorf("switched off, verdict is %d", got)
		}
	}
}

func TestPeerThatTakesNothingIsClosed(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		o := newOwner(t)
		rest := AppendText(nil, []byte(long(16<<20)))
		var mu sync.Mutex            // guards rest
		o.writable = func(c *Conn) { // as an owner would, until nothing moves
			mu.Lock()
			defer mu.Unlock()
			n, _ := c.Write(rest)
			rest = rest[n:]
		}
		s, web := serve(t, o, m, Options{StallAfter: 300 * time.Millisecond, PingAfter: -1})
		connect(t, web)
		c := receive(t, o.conns, "Opened")
		o.writable(c)
		o.want("closed " + ErrStalled.Error())
		if _, err := c.Write([]byte{finText, 0}); !errors.Is(err, ErrClosed) {
			t.Errorf("write after the end: %v", err)
		}
		until(t, "row freed", func() bool { return s.Len() == 0 })
	})
}

// TestAMessageThatDripsIsCutOff: every byte is a sign of life, and none of them
// renews the time of the message. Pings between the fragments do not either.
func TestAMessageThatDripsIsCutOff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		begin []byte // what begins and does not end
		drip  []byte // what comes then, again and again
	}{
		"payload":   {client(ws.OpText, true, long(60_000))[:10], []byte("x")},
		"fragments": {client(ws.OpText, false, "a"), client(ws.OpContinuation, false, "b")},
		"pings":     {client(ws.OpText, false, "a"), client(ws.OpPing, true, "")},
		"ping":      {client(ws.OpPing, true, long(120))[:6], nil},
		"head":      {[]byte{finText}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachMode(t, func(t *testing.T, m mode) {
				t.Parallel()
				o := newOwner(t)
				s, web := serve(t, o, m, Options{MessageFor: 300 * time.Millisecond, PingAfter: -1})
				p := connect(t, web)
				receive(t, o.conns, "Opened")
				p.send(c.begin)
				over, dripped := make(chan struct{}), make(chan struct{})
				go func() {
					defer close(dripped)
					clock := time.NewTicker(10 * time.Millisecond)
					defer clock.Stop()
					for {
						select {
						case <-clock.C:
							p.Write(c.drip) // fails at the end
						case <-over:
							return
						}
					}
				}()
				for op, payload := p.frame(); ; op, payload = p.frame() {
					if op == ws.OpPong {
						continue
					}
					if code, _ := ws.ParseCloseFrameData(payload); op != ws.OpClose || code != codePolicy {
						t.Errorf("opcode %d, %q", op, payload)
					}
					break
				}
				close(over)
				<-dripped
				p.Close()
				o.want("closed " + ErrSlow.Error())
				until(t, "row freed", func() bool { return s.Len() == 0 })
			})
		})
	}
}

// TestEveryMessageHasItsOwnTime: the end of one and the beginning of the next in
// the same bytes are not one message.
func TestEveryMessageHasItsOwnTime(t *testing.T) {
	o := newOwner(t)
	s := &Server{dialect: &frames, handler: o, start: time.Now().Add(-time.Minute)}
	s.parsers.New = func() any { return &parser{limit: 100, skip: 100} }
	c := &Conn{srv: s, busy: true}
	hi := text("hi")
	s.feed(c, hi[:3])
	first := c.in.began
	s.start = s.start.Add(-time.Minute)
	s.feed(c, hi[3:4])
	if first == 0 || c.in.began != first {
		t.Errorf("a message that began at %d began at %d", first, c.in.began)
	}
	s.feed(c, join(hi[4:], hi[:3]))
	if c.in.began <= first {
		t.Errorf("the next began at %d, the first at %d", c.in.began, first)
	}
	s.feed(c, hi[3:])
	if c.in != nil {
		t.Error("a connection between messages has a parser")
	}
}
