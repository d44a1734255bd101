package socket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/gobwas/ws"
)

func TestBadHandshakesGetTheStatusTheyDeserve(t *testing.T) {
	_, web := serve(t, newOwner(t), mode{}, Options{})
	for _, c := range []struct {
		old, new string
		status   int
	}{
		{"Upgrade: WebSocket\r\n", "", 426},
		{"keep-alive, Upgrade", "keep-alive", 426},
		{"HTTP/1.1", "HTTP/1.0", 426},
		{"Version: 13", "Version: 8", 426},
		{"GET", "POST", 405},
		{"dGhlIHNhbXBsZSBub25jZQ==", "c2hvcnQ=", 400},
		{"dGhlIHNhbXBsZSBub25jZQ==", "!", 400},
		{"Host: x\r\n", "Host: x\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", 400},
	} {
		p := dial(t, web)
		p.send([]byte(strings.Replace(hello, c.old, c.new, 1)))
		r, err := http.ReadResponse(p.br, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.StatusCode != c.status {
			t.Errorf("%q → %q is answered with %d, want %d", c.old, c.new, r.StatusCode, c.status)
		}
		if c.status == 426 && r.Header.Get("Upgrade") == "" && r.Header.Get("Sec-Websocket-Version") == "" {
			t.Errorf("%q → %q: 426 without a word about what to upgrade to", c.old, c.new)
		}
	}
}

func TestCoderClientTalksToUs(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		o := newOwner(t)
		o.message = func(c *Conn, b []byte) { c.Write(AppendText(nil, b)) }
		_, web := serve(t, o, m, Options{})
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		c, r, err := websocket.Dial(ctx, web.URL, &websocket.DialOptions{
			HTTPClient: web.Client(), Subprotocols: []string{"a", "b"}, CompressionMode: websocket.CompressionContextTakeover,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer c.CloseNow()
		if c.Subprotocol() != "a" || r.Header.Get("Sec-Websocket-Extensions") != "" {
			t.Errorf("agreed on %q and extensions %q", c.Subprotocol(), r.Header.Get("Sec-Websocket-Extensions"))
		}
		for _, n := range []int{0, 1, 125, 126, 5000, 32768} {
			if err := c.Write(ctx, websocket.MessageText, []byte(long(n))); err != nil {
				t.Fatal(err)
			}
			if _, b, err := c.Read(ctx); err != nil || string(b) != long(n) {
				t.Fatalf("echo of %d bytes: %d bytes, %v", n, len(b), err)
			}
		}
		ponged := make(chan error, 1)
		go func() { ponged <- c.Ping(ctx) }()
		go c.Read(ctx)
		if err := <-ponged; err != nil {
			t.Error(err)
		}
		if err := c.Close(websocket.StatusNormalClosure, "done"); err != nil {
			t.Error(err)
		}
		o.want("closed socket: closed by peer: 1000 done")
	})
}

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
		if got := unfinished(0, frames, n); got != want {
			t.Fatalf("after %d bytes %d are unfinished, want %d", n, got, want)
		}
		if n > 3 && n < 307 { // go on from inside the second frame
			if got := unfinished(want, frames[n:], 307-n+100); got != 70010-100 {
				t.Fatalf("from byte %d: %d, want %d", n, got, 70010-100)
			}
		}
	}
}

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

func TestShutdownSaysGoodbyeAndLeavesNothingRunning(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		before := runtime.NumGoroutine()
		o := newOwner(t)
		s, web := serve(t, o, m, Options{})
		var peers []*peer
		for range 20 {
			p := connect(t, web)
			peers = append(peers, p)
			receive(t, o.conns, "Opened")
			go func() {
				io.Copy(io.Discard, readerFunc(p.br.Read)) // a peer that ends when we do
				p.Close()
			}()
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Fatal(err)
		}
		if len(o.calls) != len(peers) {
			t.Fatalf("Shutdown returned after %d Closed calls, want %d", len(o.calls), len(peers))
		}
		for range peers {
			o.want("closed socket: closed by server: 1001 server is shutting down")
		}
		p := dial(t, web)
		p.send([]byte(hello))
		if r, err := http.ReadResponse(p.br, nil); err != nil || r.StatusCode != 503 {
			t.Errorf("handshake after Shutdown: %v %v, want 503", r, err)
		}
		p.Close()
		web.Close()
		until(t, "goroutines gone", func() bool { return runtime.NumGoroutine() <= before })
	})
}

func TestShutdownDoesNotWaitForPeersLongerThanItsContext(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		o := newOwner(t)
		s, web := serve(t, o, m, Options{})
		connect(t, web) // never reads, never closes
		receive(t, o.conns, "Opened")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Shutdown(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Shutdown: %v", err)
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

// until waits for a condition that must come true.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
		runtime.Gosched()
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
