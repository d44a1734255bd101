package socket

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"sync"
	"testing"
)

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

func TestShutdownWhileConnectionsArrive(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		before := runtime.NumGoroutine()
		o := newOwner(t)
		s, web := serve(t, o, m, Options{})
		var arriving sync.WaitGroup
		for range 8 {
			arriving.Go(func() {
				for !s.isDraining() {
					p := dial(t, web)
					p.send([]byte(hello))
					io.Copy(io.Discard, io.LimitReader(p.br, 20)) // the start of an answer, if there is one
					p.Close()
				}
			})
		}
		until(t, "some connections", func() bool { return len(o.conns) > 20 })
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Fatal(err)
		}
		arriving.Wait()
		if len(o.calls) != len(o.conns) {
			t.Errorf("%d Opened, %d Closed", len(o.conns), len(o.calls))
		}
		web.Close()
		until(t, "goroutines gone", func() bool { return runtime.NumGoroutine() <= before })
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
