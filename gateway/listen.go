package gateway

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"harness"
)

// Exposure is where a server listens, and what protects it there.
type Exposure struct {
	Addr        string // HOST:PORT
	TLS         bool   // it speaks TLS itself
	BehindProxy bool   // something before it does, and the port is not reachable otherwise
	AuthOff     bool   // nobody is asked who it is
}

// Check refuses to expose what others could reach or read: anything but a
// loopback address needs TLS or a proxy, and callers that are known.
func (e Exposure) Check() error {
	host, _, err := net.SplitHostPort(e.Addr)
	if err != nil {
		return fmt.Errorf("%w: %w", err, harness.ErrInvalid) // which names the address
	}
	loopback := loopbackHost(host)
	switch {
	case e.AuthOff && (!loopback || e.BehindProxy):
		return fmt.Errorf("address %s: without authentication only a loopback address is served, and not behind a proxy: %w", e.Addr, harness.ErrInvalid)
	case !loopback && !e.TLS && !e.BehindProxy:
		return fmt.Errorf("address %s: others could read along; give it a certificate, or say that it is behind a proxy that has one, or listen on 127.0.0.1: %w", e.Addr, harness.ErrInvalid)
	}
	return nil
}

// Listen opens a TCP address. A peer that has vanished without a word is noticed
// by the system, whatever the connection is used for.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	c := net.ListenConfig{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepIdle, Interval: keepEvery, Count: keepTries}}
	return c.Listen(ctx, "tcp", addr)
}

// loopbackHost reports whether a host is this machine by itself. An empty one
// is all of its addresses.
func loopbackHost(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
