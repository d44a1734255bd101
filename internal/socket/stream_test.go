package socket

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// viewer is a Sender that tells what it was called with.
type viewer struct{ *owner }

func newViewer(t testing.TB) viewer { return viewer{newOwner(t)} }

// streamModes are the ways to carry a stream; all must behave the same.
var streamModes = append(modes[:len(modes):len(modes)], mode{name: "http2", tls: true, http2: true}, mode{name: "wrapped", wrapped: true})

func eachStreamMode(t *testing.T, f func(t *testing.T, m mode)) {
	for _, m := range streamModes {
		t.Run(m.name, func(t *testing.T) { f(t, m) })
	}
}

// serveStreams starts a server of streams for o and shuts it down with the test.
func serveStreams(t testing.TB, o Sender, m mode, opts Options) (*Server, *httptest.Server) {
	t.Helper()
	opts.NoPark = m.noPark
	s, err := NewStreams(o, &opts)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Extra", "kept")
		if m.wrapped {
			w = struct { // as a middleware might that knows Flush and no more
				http.ResponseWriter
				http.Flusher
			}{w, w.(http.Flusher)}
		}
		if _, err := s.Stream(w, r, "tag"); errors.Is(err, ErrClosed) {
			http.Error(w, "closed", http.StatusServiceUnavailable)
		}
	}))
	web.EnableHTTP2 = m.http2
	if m.tls {
		web.StartTLS()
	} else {
		web.Start()
	}
	t.Cleanup(func() {
		if !s.isDraining() {
			s.Shutdown(t.Context()) // which has ended: peers are not waited for
		}
		web.Close()
	})
	return s, web
}

// follow opens a stream; hangUp ends it from the client's side.
func follow(t testing.TB, web *httptest.Server) (body *bufio.Reader, hangUp func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, "GET", web.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := web.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	h := resp.Header
	if resp.StatusCode != 200 || h.Get("Content-Type") != "text/event-stream" || h.Get("Cache-Control") != "no-store" ||
		h.Get("X-Accel-Buffering") != "no" || h.Get("X-Extra") != "kept" || h.Get("Date") == "" || resp.ContentLength != -1 {
		t.Fatalf("answered with %d %v", resp.StatusCode, h)
	}
	return bufio.NewReader(resp.Body), cancel
}

func sse(i int, size int) []byte {
	return fmt.Appendf(nil, "id: %d\ndata: %s\n\n", i, strings.Repeat("x", size))
}

func TestStreamCarriesEventsAndEndsBehindThem(t *testing.T) {
	eachStreamMode(t, func(t *testing.T, m mode) {
		o := newViewer(t)
		s, web := serveStreams(t, o, m, Options{})
		body, _ := follow(t, web)
		c := receive(t, o.conns, "Opened")
		if c.Tag() != "tag" {
			t.Errorf("tag %v", c.Tag())
		}
		var want bytes.Buffer
		for i := range 10 {
			e := sse(i, i*100)
			want.Write(e)
			if n, err := c.Write(e); n != len(e) || err != nil {
				t.Fatal(n, err)
			}
		}
		c.Close(1000, "")
		got, err := io.ReadAll(body)
		if err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Errorf("got %q and %v, want %q", got, err, want.Bytes())
		}
		o.want("closed socket: closed by server: 1000 ")
		until(t, "row freed", func() bool { return s.Len() == 0 })
	})
}

func TestStreamOfAPeerThatHangsUpEndsAtOnce(t *testing.T) {
	eachStreamMode(t, func(t *testing.T, m mode) {
		o := newViewer(t)
		s, web := serveStreams(t, o, m, Options{PingAfter: -1})
		_, hangUp := follow(t, web)
		receive(t, o.conns, "Opened")
		hangUp()
		if got := receive(t, o.calls, "Closed"); !strings.HasPrefix(got, "closed ") {
			t.Errorf("owner was called with %q", got)
		}
		until(t, "row freed", func() bool { return s.Len() == 0 })
	})
}

func TestStreamPingsBetweenEvents(t *testing.T) {
	eachStreamMode(t, func(t *testing.T, m mode) {
		o := newViewer(t)
		_, web := serveStreams(t, o, m, Options{PingAfter: 50 * time.Millisecond, DeadAfter: 50 * time.Millisecond})
		body, _ := follow(t, web)
		c := receive(t, o.conns, "Opened")
		for i := range 3 { // nobody has to answer them
			for range 2 {
				if line, err := body.ReadString('\n'); line != ": ping\n" && line != "\n" || err != nil {
					t.Fatalf("line %q, %v", line, err)
				}
			}
			if i == 1 {
				c.Write([]byte("data: x\n\n"))
				for _, want := range []string{"data: x\n", "\n"} {
					line, err := body.ReadString('\n')
					for line == ": ping\n" {
						body.ReadString('\n')
						line, err = body.ReadString('\n')
					}
					if line != want || err != nil {
						t.Fatalf("line %q, %v", line, err)
					}
				}
			}
		}
	})
}

// What a slow reader gets is every event whole and in order, and pings only
// between them.
func TestStreamToASlowReaderIsToldWhenItMayWrite(t *testing.T) {
	eachStreamMode(t, func(t *testing.T, m mode) {
		o := newViewer(t)
		ready := make(chan struct{}, 1)
		o.writable = func(*Conn) { ready <- struct{}{} }
		_, web := serveStreams(t, o, m, Options{PingAfter: 20 * time.Millisecond})
		body, _ := follow(t, web)
		c := receive(t, o.conns, "Opened")
		const n, size = 400, 30_000 // 12 MB, more than any buffer on the way holds
		var rest []byte
		for i := range n {
			rest = append(rest, sse(i, size)...)
		}
		took, err := c.Write(rest)
		if err != nil || took == len(rest) {
			t.Fatalf("took %d of %d, %v", took, len(rest), err)
		}
		if tail := c.Unfinished(); tail > 0 && !bytes.HasSuffix(rest[:took+tail], eventEnd) || tail > size+100 {
			t.Fatalf("%d bytes are unfinished behind %q", tail, rest[max(0, took-10):took])
		}
		seen := make(chan string, 1)
		go func() {
			for i := 0; i < n; {
				line, err := body.ReadString('\n')
				switch {
				case err != nil:
					seen <- err.Error()
					return
				case line == ": ping\n", line == "\n":
				case line == fmt.Sprintf("id: %d\n", i):
					if data, _ := body.ReadString('\n'); len(data) != size+7 {
						seen <- fmt.Sprintf("event %d has %d bytes", i, len(data))
						return
					}
					i++
				default:
					seen <- "line " + digest([]byte(line))
					return
				}
			}
			seen <- "all came"
		}()
		for rest = rest[took:]; len(rest) > 0; rest = rest[took:] {
			receive(t, ready, "Writable")
			if took, err = c.Write(rest); err != nil {
				t.Fatal(err)
			}
		}
		if got := receive(t, seen, "the end"); got != "all came" {
			t.Error(got)
		}
	})
}

func TestStreamThatTakesNothingIsClosed(t *testing.T) {
	eachStreamMode(t, func(t *testing.T, m mode) {
		o := newViewer(t)
		rest := sse(1, 16<<20)
		var mu sync.Mutex            // guards rest
		o.writable = func(c *Conn) { // until nothing moves
			mu.Lock()
			defer mu.Unlock()
			n, _ := c.Write(rest)
			rest = rest[n:]
		}
		s, web := serveStreams(t, o, m, Options{StallAfter: 300 * time.Millisecond})
		_, hangUp := follow(t, web)
		o.writable(receive(t, o.conns, "Opened"))
		o.want("closed " + ErrStalled.Error())
		if m.wrapped {
			hangUp() // who hides deadlines must wait for this
		}
		until(t, "row freed", func() bool { return s.Len() == 0 })
	})
}

func TestStreamIsDeafToItsPeer(t *testing.T) {
	o := newViewer(t)
	_, web := serveStreams(t, o, mode{}, Options{})
	p := dial(t, web)
	p.send([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /pipelined HTTP/1.1\r\n"))
	c := receive(t, o.conns, "Opened")
	p.send([]byte(long(1 << 20)))
	if _, err := http.ReadResponse(p.br, nil); err != nil {
		t.Fatal(err)
	}
	c.Write(sse(7, 3))
	if line, err := p.br.ReadString('\n'); line != "id: 7\n" || err != nil {
		t.Errorf("line %q, %v", line, err)
	}
	p.Close()
	if got := receive(t, o.calls, "Closed"); !strings.HasPrefix(got, "closed ") {
		t.Errorf("owner was called with %q", got)
	}
}

func TestStreamsEndWithShutdown(t *testing.T) {
	eachStreamMode(t, func(t *testing.T, m mode) {
		before := runtime.NumGoroutine()
		o := newViewer(t)
		s, web := serveStreams(t, o, m, Options{})
		ends := make(chan error, 20)
		for range cap(ends) {
			body, _ := follow(t, web)
			receive(t, o.conns, "Opened")
			go func() {
				_, err := io.Copy(io.Discard, body)
				ends <- err
			}()
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Fatal(err)
		}
		for range cap(ends) {
			if err := receive(t, ends, "end of a stream"); err != nil {
				t.Errorf("a stream ended with %v", err)
			}
		}
		if len(o.calls) != cap(ends) {
			t.Errorf("Shutdown returned after %d Closed calls, want %d", len(o.calls), cap(ends))
		}
		resp, err := web.Client().Get(web.URL)
		if err != nil || resp.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("after Shutdown: %v %v", resp, err)
		} else {
			resp.Body.Close()
		}
		web.Client().CloseIdleConnections()
		web.Close()
		until(t, "goroutines gone", func() bool { return runtime.NumGoroutine() <= before })
	})
}

func TestUnfinishedLeadsToTheNextEvent(t *testing.T) {
	p := []byte("id: 1\ndata: a\n\n: ping\n\nid: 2\nevent: x\ndata: bb\n\nretry: 1\n\n")
	ends := []int{0}
	for i := range p {
		if bytes.HasSuffix(p[:i+1], eventEnd) {
			ends = append(ends, i+1)
		}
	}
	next := func(n int) int {
		for _, e := range ends {
			if e >= n {
				return e - n
			}
		}
		return 0
	}
	for cut := range p { // a Write that stopped at cut …
		owed := unfinishedEvent(0, p, cut)
		if owed != next(cut) {
			t.Fatalf("after %d bytes %d are unfinished, want %d", cut, owed, next(cut))
		}
		for n := range len(p) - cut + 1 { // … and one that goes on from there
			if got := unfinishedEvent(owed, p[cut:], n); got != next(cut+n) {
				t.Fatalf("from %d, after %d bytes %d are unfinished, want %d", cut, n, got, next(cut+n))
			}
		}
	}
}
