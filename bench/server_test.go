package bench

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"harness"
	"harness/kernel"
	"harness/protocol/delta"
)

// server is the product on a loopback socket, in this process.
type server struct {
	k    *kernel.Kernel
	hub  *delta.Hub
	http *http.Server
	addr string
	wg   sync.WaitGroup
}

func serve(st harness.Store, e harness.Engine, ko kernel.Options, do delta.Options) (*server, error) {
	ko.Engine = "bench"
	s := &server{k: kernel.New(st, map[string]harness.Engine{"bench": e}, &ko)}
	hub, err := delta.New(s.k, &do)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /ws", hub)
	s.hub = hub
	s.http, s.addr, err = listen(&s.wg, mux)
	return s, err
}

// listen serves h on a loopback port until the server it returns is closed.
func listen(wg *sync.WaitGroup, h http.Handler) (*http.Server, string, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	srv := &http.Server{Handler: h}
	wg.Go(func() { srv.Serve(l) })
	return srv, l.Addr().String(), nil
}

func (s *server) close() {
	soon, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s.hub.Shutdown(soon)
	s.http.Close()
	s.k.Close()
	s.wg.Wait()
}

func mustServe(tb testing.TB, st harness.Store, e harness.Engine, ko kernel.Options, do delta.Options) *server {
	tb.Helper()
	s, err := serve(st, e, ko, do)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// submit starts a turn.
func (s *server) submit(tb testing.TB, id harness.SessionID, text string) {
	tb.Helper()
	if _, err := s.k.Do(context.Background(), id, harness.Submit{Parts: harness.TextPart(text), Source: harness.FromResume}); err != nil {
		tb.Fatal(err)
	}
}

// asleep waits until no session has a goroutine.
func (s *server) asleep(tb testing.TB) {
	tb.Helper()
	until(tb, func() bool { return s.k.Awake() == 0 })
}

// until waits for a condition.
func until(tb testing.TB, ok func() bool) {
	tb.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(200 * time.Microsecond) {
		if time.Now().After(end) {
			tb.Fatal("waited a minute in vain")
		}
	}
}
