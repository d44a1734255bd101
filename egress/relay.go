package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// acceptPause is the time after which a failed accept is tried again.
const acceptPause = 20 * time.Millisecond

// Relay joins each connection of a listener on loopback to a Unix socket, byte
// by byte, until ctx is done or the listener fails. It closes the listener, and
// returns when nothing of it runs any more.
//
// It is the end of the proxy inside a sandbox that has no network: it knows no
// key and no token, and decides nothing.
func Relay(ctx context.Context, l net.Listener, socket string) error {
	if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		l.Close()
		return fmt.Errorf("egress: relay on %s, which is not loopback", l.Addr())
	}
	l = limit(l, maxConns)
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	defer l.Close()
	for {
		c, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if c != nil {
				c.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("egress: relay: %w", err)
		case err != nil: // no descriptors, say; there will be some
			select {
			case <-time.After(acceptPause):
			case <-ctx.Done():
			}
			continue
		}
		running.Go(func() { join(ctx, c, socket) })
	}
}

// join carries bytes between a connection and a new one to the socket.
func join(ctx context.Context, here net.Conn, socket string) {
	defer here.Close()
	there, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return
	}
	defer there.Close()
	stop := context.AfterFunc(ctx, func() {
		here.Close()
		there.Close()
	})
	defer stop()
	inner := here.(*counted).Conn // which knows how to let the kernel copy
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(inner, there)
		closeWrite(inner)
	})
	_, _ = io.Copy(there, inner)
	closeWrite(there)
	back.Wait()
}
