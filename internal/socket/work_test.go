package socket

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestBlockedHandlerStopsOnlyItsOwnConnection(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		o := newOwner(t)
		release := make(chan struct{})
		o.message = func(c *Conn, b []byte) {
			if string(b) == "block" {
				<-release
			}
			o.calls <- string(b)
		}
		_, web := serve(t, o, m, Options{})
		slow, quick := connect(t, web), connect(t, web)
		slow.send(join(text("block"), text("after")))
		for range 10 {
			quick.send(text("quick"))
			o.want("quick")
		}
		close(release)
		o.want("block", "after")
	})
}

func TestPeerThatVanishesIsReportedOnce(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		o := newOwner(t)
		s, web := serve(t, o, m, Options{})
		p := connect(t, web)
		p.send(text("half")[:7])
		p.Close()
		if got := receive(t, o.calls, "Closed"); !strings.HasPrefix(got, "closed ") {
			t.Errorf("got %q", got)
		}
		until(t, "row freed", func() bool { return s.Len() == 0 })
		if len(o.calls) > 0 {
			t.Errorf("then %q", <-o.calls)
		}
	})
}

func TestLastMessageBeforeTheEndIsDelivered(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		o := newOwner(t)
		_, web := serve(t, o, m, Options{})
		p := connect(t, web)
		p.send(text("last words"))
		p.Close()
		o.want("text last words")
		receive(t, o.calls, "Closed")
	})
}

func TestCloseFromInsideAHandlerCall(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		o := newOwner(t)
		o.message = func(c *Conn, b []byte) {
			c.Close(4001, strings.Repeat("€", 100))
			o.calls <- string(b)
		}
		_, web := serve(t, o, m, Options{})
		p := connect(t, web)
		p.send(join(text("one"), text("never")))
		o.want("one")
		p.wantClose(4001)
		if got := receive(t, o.calls, "Closed"); !strings.HasPrefix(got, "closed socket: closed by server: 4001") {
			t.Errorf("got %q", got)
		}
	})
}

func TestWorkersAreBoundedAndLeave(t *testing.T) {
	o := newOwner(t)
	var now, most atomic.Int32
	release := make(chan struct{})
	o.message = func(*Conn, []byte) {
		most.Store(max(most.Load(), now.Add(1)))
		<-release
		now.Add(-1)
		o.calls <- "handled"
	}
	s, web := serve(t, o, mode{}, Options{})
	for range maxWorkers + 50 {
		connect(t, web).send(text("x"))
	}
	until(t, "all workers busy", func() bool { return now.Load() == maxWorkers })
	close(release)
	for range maxWorkers + 50 {
		o.want("handled")
	}
	until(t, "workers gone", func() bool {
		s.queueMu.Lock()
		defer s.queueMu.Unlock()
		return s.workers == 0
	})
	if most.Load() > maxWorkers {
		t.Errorf("%d handlers ran at once", most.Load())
	}
}

func TestEveryMessageOfManyPeersComesInOrder(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		const peers, messages = 40, 300
		o := newOwner(t)
		got := make(map[*Conn]int)
		var mu sync.Mutex // guards got
		var done sync.WaitGroup
		done.Add(peers)
		o.message = func(c *Conn, b []byte) {
			mu.Lock()
			defer mu.Unlock()
			if want := fmt.Sprint(got[c], " ", long(got[c]*7)); string(b) != want {
				t.Errorf("message %d is %s", got[c], digest(b))
			}
			if got[c]++; got[c] == messages {
				done.Done()
			}
		}
		_, web := serve(t, o, m, Options{})
		for i := range peers {
			p := connect(t, web)
			done.Go(func() {
				dice := rand.New(rand.NewPCG(uint64(i), 1))
				var all []byte
				for j := range messages {
					all = append(all, text(fmt.Sprint(j, " ", long(j*7)))...)
				}
				for len(all) > 0 {
					n := min(len(all), 1+dice.IntN(5000))
					p.send(all[:n])
					all = all[n:]
				}
			})
		}
		done.Wait()
	})
}

func TestCloseFromInsideOpened(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		o := &closer{newOwner(t)}
		s, web := serve(t, o, m, Options{})
		p := connect(t, web)
		p.wantClose(4002)
		p.Close()
		o.want("closed socket: closed by server: 4002 not you")
		until(t, "row freed", func() bool { return s.Len() == 0 })
	})
}

type closer struct{ *owner }

func (closer) Opened(c *Conn) { c.Close(4002, "not you") }
