package socket

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/gobwas/ws"
)

func TestSlowReaderIsToldWhenItMayWrite(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		o := newOwner(t)
		ready := make(chan struct{}, 1)
		o.writable = func(*Conn) { ready <- struct{}{} }
		_, web := serve(t, o, m, Options{})
		p := connect(t, web)
		c := receive(t, o.conns, "Opened")

		var want bytes.Buffer
		for i := range 400 { // about 12 MB, more than any kernel buffer holds
			want.Write(AppendText(nil, fmt.Append(nil, i, " ", long(30_000))))
		}
		// A ping that comes while a frame is half written must be answered
		// between frames.
		rest := want.Bytes()
		short := 0
		n, err := c.Write(rest)
		for ; err == nil && n < len(rest); n, err = c.Write(rest) {
			rest = rest[n:]
			if short++; short == 1 {
				p.send(client(ws.OpPing, true, "between"))
				go func() {
					seen := 0
					for i := 0; i < 400 || seen == 0; {
						f, err := ws.ReadFrame(p.br)
						if err != nil {
							o.calls <- err.Error()
							return
						}
						switch {
						case f.Header.OpCode == ws.OpPong && string(f.Payload) == "between":
							seen++
						case f.Header.OpCode == ws.OpText && strings.HasPrefix(string(f.Payload), fmt.Sprint(i, " ")):
							i++
						default:
							o.calls <- fmt.Sprintf("frame %d is %d %s", i, f.Header.OpCode, digest(f.Payload))
							return
						}
					}
					o.calls <- "all came"
				}()
			}
			receive(t, ready, "Writable")
		}
		if err != nil || short == 0 {
			t.Fatalf("%d short writes, %v", short, err)
		}
		o.want("all came")
		if u := c.Unfinished(); u != 0 {
			t.Errorf("%d bytes unfinished at the end", u)
		}
	})
}

func TestWritableWaitsForOpened(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		o := &greeter{owner: newOwner(t), rest: AppendText(nil, []byte(long(8<<20)))}
		o.writable = func(c *Conn) { o.greet(c) }
		_, web := serve(t, o, m, Options{})
		if _, b := connect(t, web).frame(); string(b) != long(8<<20) {
			t.Errorf("greeting has %d bytes", len(b))
		}
	})
}

// greeter sends more than fits, from Opened on. Its rest has no lock: the race
// detector sees calls that overlap.
type greeter struct {
	*owner
	rest []byte
}

func (g *greeter) Opened(c *Conn) {
	for range 100 {
		g.greet(c)
	}
}

func (g *greeter) greet(c *Conn) {
	n, _ := c.Write(g.rest)
	g.rest = g.rest[n:]
}

func TestUnfinishedLeadsToTheNextFrame(t *testing.T) {
	frames := join(AppendText(nil, []byte("a")), AppendText(nil, []byte(long(300))), AppendText(nil, []byte(long(70000))), AppendText(nil, nil))
	ends := []int{3, 3 + 304, 3 + 304 + 70010, 3 + 304 + 70010 + 2}
	for n := range frames {
		want := 0
		for i, e := range ends {
			if start := append([]int{0}, ends...)[i]; start < n && n < e {
				want = e - n
			}
		}
		if got := unfinishedFrame(0, frames, n); got != want {
			t.Fatalf("after %d bytes %d are unfinished, want %d", n, got, want)
		}
		if n > 3 && n < 307 { // go on from inside the second frame
			if got := unfinishedFrame(want, frames[n:], 307-n+100); got != 70010-100 {
				t.Fatalf("from byte %d: %d, want %d", n, got, 70010-100)
			}
		}
	}
}

func TestConcurrentWriteAndCloseNeverReachAnotherConnection(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		o := newOwner(t)
		_, web := serve(t, o, m, Options{})
		const rounds = 60
		var all sync.WaitGroup
		for i := range rounds {
			p := connect(t, web)
			c := receive(t, o.conns, "Opened")
			frame := AppendText(nil, fmt.Append(nil, "for ", i, " only"))
			all.Go(func() { // descriptors are reused by the rounds after this one
				for {
					if _, err := c.Write(frame); err != nil {
						return
					}
					runtime.Gosched()
				}
			})
			all.Go(func() {
				for {
					f, err := ws.ReadFrame(p.br)
					if err != nil || f.Header.OpCode == ws.OpClose {
						p.Close()
						return
					}
					if string(f.Payload) != string(frame[2:]) {
						t.Errorf("connection %d got %q", i, f.Payload)
					}
				}
			})
			all.Go(func() { c.Close(1000, "") })
			all.Go(func() { c.Close(1001, "") })
		}
		all.Wait()
		for range rounds {
			if got := receive(t, o.calls, "Closed"); !strings.HasPrefix(got, "closed ") {
				t.Errorf("got %q", got)
			}
		}
	})
}

func TestFramesEncodedInPlaceEqualAppendText(t *testing.T) {
	for _, n := range []int{0, 1, 125, 126, 127, 65535, 65536, 100_000} {
		before := []byte("before")
		b, mark := BeginText(before)
		b = EndText(append(b, long(n)...), mark)
		if want := AppendText(before, []byte(long(n))); !bytes.Equal(b, want) {
			t.Errorf("payload of %d: %d bytes in place, %d appended, or other content", n, len(b), len(want))
		}
	}
}
