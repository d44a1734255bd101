package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// connectFor bounds the search for a name, each attempt to connect, and a TLS
// handshake.
const connectFor = 10 * time.Second

// errAddress is why a connection was not tried.
var errAddress = errors.New("address is not allowed")

// guard connects to names of the outside. A name is resolved once, all its
// addresses are looked at, and one of these is dialled: nobody is asked again
// who could answer differently.
type guard struct {
	resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	dial    func(ctx context.Context, network, addr string) (net.Conn, error)
	private bool // private networks are allowed
}

// connect dials host:port, or fails with errAddress if any address of the host
// is not allowed: such a name means no good, whatever else it has.
func (g *guard) connect(ctx context.Context, host, port string) (net.Conn, error) {
	addrs, err := g.lookUp(ctx, host)
	if err != nil {
		return nil, err
	}
	var failed error
	for _, a := range addrs {
		ctx, cancel := context.WithTimeout(ctx, connectFor)
		c, err := g.dial(ctx, "tcp", net.JoinHostPort(a.String(), port))
		cancel()
		if err == nil {
			return c, nil
		}
		failed = errors.Join(failed, err)
	}
	return nil, failed
}

// lookUp resolves a host to addresses that are allowed.
func (g *guard) lookUp(ctx context.Context, host string) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, connectFor)
	defer cancel()
	addrs, err := g.resolve(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", host, err)
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("resolve %s: no addresses", host)
	}
	for i, a := range addrs {
		addrs[i] = a.Unmap()
		err := checkAddress(addrs[i], g.private)
		if err == nil {
			err = checkOwn(addrs[i])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %w", host, errAddress, err)
		}
	}
	return addrs, nil
}

// resolveName asks the system.
func resolveName(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}
