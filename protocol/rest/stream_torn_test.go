package rest

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"harness"
	"harness/kernel"
)

// wire is a proxy that delays what it carries and tears it at any byte, until
// it has done so often enough.
type wire struct {
	l    net.Listener
	to   string
	mean int // bytes between two cuts
	left atomic.Int64
	cuts atomic.Int64
	wg   sync.WaitGroup
}

func stretch(t testing.TB, to string, cuts, mean int) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{l: l, to: to, mean: mean}
	w.left.Store(int64(cuts))
	w.wg.Go(func() {
		for seed := uint64(0); ; seed++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.wg.Go(func() { w.carry(c.(*net.TCPConn), rand.New(rand.NewPCG(seed, 7))) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		w.wg.Wait()
	})
	return w
}

// done reports whether it has torn often enough.
func (w *wire) done() bool { return w.left.Load() <= 0 }

func (w *wire) addr() string { return w.l.Addr().String() }

func (w *wire) carry(c *net.TCPConn, rnd *rand.Rand) {
	defer c.Close()
	nc, err := net.Dial("tcp", w.to)
	if err != nil {
		return
	}
	s := nc.(*net.TCPConn)
	defer s.Close()
	w.wg.Go(func() {
		io.Copy(s, c)
		s.Close() // the client has left
	})
	most := -1
	if w.left.Load() > 0 {
		most = rnd.IntN(2*w.mean + 1)
	}
	pause := time.NewTimer(0)
	defer pause.Stop()
	for buf := make([]byte, 4<<10); most != 0; {
		n, err := s.Read(buf[:1+rnd.IntN(len(buf))])
		if err != nil {
			return
		}
		if rnd.IntN(8) == 0 {
			pause.Reset(time.Duration(rnd.IntN(2000)) * time.Microsecond)
			<-pause.C
		}
		if most > 0 {
			n = min(n, most)
			most -= n
		}
		if _, err := c.Write(buf[:n]); err != nil {
			return
		}
	}
	if w.left.Add(-1) >= 0 {
		w.cuts.Add(1)
	}
	for _, x := range []*net.TCPConn{c, s} {
		if rnd.IntN(2) == 0 {
			x.SetLinger(0) // a reset instead of an end
		}
	}
}

// torment is how long and how often, and a script that fits: events that do
// not merge, at a pace that clients can follow between two cuts.
func torment() (cuts, events int, src string) {
	cuts, events = 40, 3_000
	if full() {
		cuts, events = 1000, 100_000
	}
	return cuts, events, fmt.Sprintf("repeat %d\nrepeat 10\nsay x\nthink y\nend\nwait 5ms\nend\n", events/20)
}

// A client that is cut again and again, at any byte, has every event once.
func TestATornStreamTellsEveryEventOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, st harness.Store) {
		cuts, events, src := torment()
		h := build(t, st, src, kernel.Options{Window: -1}, feedOptions{})
		id := h.create("")
		w := stretch(t, h.addr, cuts, events*190/cuts*3/4)
		h.submit(id, "go")
		var got []heard
		for last, over := "", false; !over; {
			l, err := listen(t, w.addr(), string(id), last)
			if err != nil {
				continue // torn inside the head
			}
			for err == nil && !over {
				var e heard
				if e, err = l.next(); err != nil {
					continue
				}
				if got = append(got, e); e.name == "turn_end" && w.done() {
					over = true
				} else if e.name == "turn_end" {
					h.submit(id, "go on")
				}
			}
			last = l.last
			l.nc.Close()
		}
		same(t, "a torn stream", got, h.log(id, everything)[:len(got)])
		t.Logf("%d events, cut %d times", len(got), w.cuts.Load())
		if len(got) < events {
			t.Errorf("only %d events", len(got))
		}
		eventually(t, "nothing is left of the torn ones", func() bool { return h.feeds.srv.Len() == 0 && h.feeds.count() == 0 })
	})
}

// The same over WebSocket: what a client was told, put together, is the state.
func TestATornSocketAddsUpToTheState(t *testing.T) {
	eachStore(t, func(t *testing.T, st harness.Store) {
		cuts, events, src := torment()
		h := build(t, st, src, kernel.Options{Window: -1}, feedOptions{})
		hub, web := socketsOf(t, h)
		id := h.create("")
		w := stretch(t, web.Listener.Addr().String(), cuts, events*12/cuts/2)
		turn := h.submit(id, "go")
		m := &mirror{}
		states := 0
		over := func() bool { return m.seq > uint64(turn.Seq) && m.idle() }
		for !over() {
			ws, err := m.dial(w.addr(), id)
			if err != nil {
				continue
			}
			for err == nil && !over() {
				var kind string
				if kind, err = m.read(ws); kind == "state" {
					states++
				}
			}
			ws.CloseNow()
			if over() && !w.done() {
				turn = h.submit(id, "go on")
			}
		}
		fresh := &mirror{}
		ws, err := fresh.dial(web.Listener.Addr().String(), id)
		if err != nil {
			t.Fatal(err)
		}
		defer ws.CloseNow()
		for !fresh.idle() || fresh.seq < m.seq {
			if _, err := fresh.read(ws); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := m.value(t), fresh.value(t); !reflect.DeepEqual(got, want) {
			t.Errorf("told %.300s\nthe state is %.300s", m.tree.AppendJSON(nil), fresh.tree.AppendJSON(nil))
		}
		t.Logf("%d events, cut %d times, %d whole states", fresh.seq, w.cuts.Load(), states)
		if fresh.seq < uint64(events) {
			t.Errorf("only %d events", fresh.seq)
		}
		ws.CloseNow()
		eventually(t, "nothing is left of the torn ones", func() bool { return hub.Clients() == 0 })
	})
}
