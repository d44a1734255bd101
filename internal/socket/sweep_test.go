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
	j := newTiming(Options{PingAfter: time.Second, DeadAfter: time.Second, StallAfter: 3 * time.Second})
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
		{"closing", &Conn{state: closing, since: 90}, fine},
		{"closing for long", &Conn{state: closing, since: 70}, lingered},
		{"gone", &Conn{state: gone}, fine},
	} {
		if got := j.judge(c.conn, 100); got != c.want {
			t.Errorf("%s: verdict %d, want %d", c.name, got, c.want)
		}
	}
	off := newTiming(Options{PingAfter: -1, DeadAfter: -1, StallAfter: -1})
	for _, c := range []*Conn{{}, {pinged: true}, {blocked: true}} {
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
