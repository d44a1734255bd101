package rest

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"harness/kernel"
	"harness/store/memory"
)

// Those who read slowly or not at all cost bounded memory and slow nobody; when
// they read, they hear everything.
func TestSlowStreamsSlowNobody(t *testing.T) {
	stalled := 15
	if full() {
		stalled = 40
	}
	h := build(t, memory.New(), "repeat 4000\nsay "+strings.Repeat("x", 400)+"\nthink y\nend\n", kernel.Options{Window: -1}, feedOptions{})
	id := h.create("")
	var slow []*listener
	for range stalled {
		l, err := listenWith(t, h.addr, string(id), 16<<10)
		if err != nil {
			t.Fatal(err)
		}
		slow = append(slow, l)
	}
	quick := h.listen(string(id))
	h.submit(id, "go")
	quick.until("turn_end") // while they take nothing
	most := 0
	eventually(t, "those who do not read are blocked", func() bool {
		blocked, held := 0, 0
		h.feeds.each(func(r *room) {
			if r.live != nil {
				for _, l := range r.live.lanes {
					held += cap(l.buf)
				}
			}
			for _, w := range r.streams {
				held += cap(w.rest)
				if w.blocked {
					blocked++
				}
			}
		})
		most = max(most, held)
		return blocked == stalled
	})
	t.Logf("%d bytes held for %d that do not read 3.4 MB", most, stalled)
	if most > 4<<20 {
		t.Errorf("%d bytes are held", most)
	}
	h.asleep()
	all := h.log(id, everything)
	var wg sync.WaitGroup
	for i, l := range slow {
		if err := l.nc.(*net.TCPConn).SetReadBuffer(1 << 20); err != nil { // a small one is waited for by TCP's clocks
			t.Fatal(err)
		}
		wg.Go(func() {
			var got []heard
			for range all {
				e, err := l.next()
				if err != nil {
					t.Errorf("stream %d behind %s: %v", i, l.last, err)
					return
				}
				got = append(got, e)
			}
			for i := range all {
				if got[i] != all[i] {
					t.Errorf("event %d is %v", i, got[i])
					return
				}
			}
		})
	}
	wg.Wait()
	if h.k.Awake() != 0 {
		t.Error("a stream that catches up woke the session")
	}
}

// listenWith is listen with a small receive buffer.
func listenWith(t testing.TB, addr, path string, buffer int) (*listener, error) {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	if err := nc.(*net.TCPConn).SetReadBuffer(buffer); err != nil {
		return nil, err
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(2 * soon))
	io.WriteString(nc, "GET /"+path+" HTTP/1.1\r\nHost: x\r\n\r\n")
	l := &listener{t: t, nc: nc, br: bufio.NewReader(nc), path: path}
	l.resp, err = http.ReadResponse(l.br, nil)
	return l, err
}

// Shutdown ends all streams, those that do not read too, and leaves nothing
// running.
func TestShutdownEndsStreams(t *testing.T) {
	before := runtime.NumGoroutine()
	h := build(t, memory.New(), "repeat 2000\nsay "+strings.Repeat("x", 400)+"\nthink y\nend\nhang\n", kernel.Options{Window: -1}, feedOptions{})
	id := h.create("")
	var all []*listener
	for range 20 {
		all = append(all, h.listen(string(id)))
	}
	h.submit(id, "go")
	all[0].until("thinking")
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	var wg sync.WaitGroup
	for _, l := range all[:10] {
		wg.Go(func() {
			io.Copy(io.Discard, l.br)
			l.nc.Close()
		})
	}
	if err := h.down(ctx); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if l, err := listen(t, h.addr, string(id), ""); err != nil || l.resp.StatusCode != 503 {
		t.Errorf("after shutdown: %v %v", l, err)
	} else {
		l.nc.Close()
	}
	h.web.Close()
	h.k.Close()
	eventually(t, "nothing runs", func() bool { return runtime.NumGoroutine() <= before })
}
