package egress_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"harness/egress"
)

func TestARelayCarriesEveryByteAndEndsWithItsContext(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "s")
	there, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { // an echo, which ends when its client has
		for {
			c, err := there.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				_, _ = io.Copy(c, c)
				c.Close()
			})
		}
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	relayed := make(chan error, 1)
	wg.Go(func() { relayed <- egress.Relay(ctx, l, socket) })
	dial := func() *net.TCPConn {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(patience))
		return c.(*net.TCPConn)
	}
	var clients sync.WaitGroup
	for range 20 {
		clients.Go(func() {
			c := dial()
			defer c.Close()
			in := bytes.Repeat([]byte("0123456789abcdef"), 1<<13)
			var sent sync.WaitGroup
			sent.Go(func() {
				_, _ = c.Write(in)
				_ = c.CloseWrite()
			})
			out, err := io.ReadAll(c)
			if err != nil || !bytes.Equal(in, out) {
				t.Errorf("%d bytes of %d, %v", len(out), len(in), err)
			}
			sent.Wait()
		})
	}
	open := dial()
	defer open.Close()
	if _, err := io.WriteString(open, "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(open, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	clients.Wait()
	cancel()
	if err := <-relayed; err != nil {
		t.Errorf("relay: %v", err)
	}
	if _, err := io.ReadFull(open, make([]byte, 1)); err == nil {
		t.Error("a connection outlived its relay")
	}
	there.Close()
	wg.Wait()
}

func TestARelayIsForLoopback(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := egress.Relay(t.Context(), l, "/nowhere"); err == nil {
		t.Error("it served everybody")
	}
}
