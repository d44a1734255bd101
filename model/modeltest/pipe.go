package modeltest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"
)

// Pipe serves h without a network and returns how to dial it. With it a test
// in a synctest bubble can let ten minutes pass in no time. The server ends
// with the test.
func Pipe(tb testing.TB, h http.Handler) func(ctx context.Context, network, addr string) (net.Conn, error) {
	tb.Helper()
	l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	srv := &http.Server{Handler: h}
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			tb.Errorf("serve: %v", err)
		}
	})
	tb.Cleanup(func() {
		srv.Close()
		wg.Wait()
	})
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		select {
		case l.conns <- theirs:
			return ours, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-l.closed:
			return nil, net.ErrClosed
		}
	}
}

// pipes is a net.Listener of pipes.
type pipes struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }
