package runner

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"sync"
	"syscall"

	"harness"
)

// guard lets connections through to one address of the configuration, and to
// nothing that its name may come to mean later.
type guard struct {
	loopback bool // only this machine

	mu   sync.Mutex // guards what follows
	zone string     // where the name led first: public or private
}

// parse checks the address of a runner: https, or http on this machine, and
// nothing in it that is not an address.
func parse(address string) (*url.URL, *guard, error) {
	wrong := func(why string) (*url.URL, *guard, error) {
		return nil, nil, fmt.Errorf("runner %q: %s: %w", address, why, harness.ErrInvalid)
	}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return wrong("no URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return wrong("neither http nor https")
	case u.User != nil:
		return nil, nil, fmt.Errorf("the address of a runner has no name or password in it: %w", harness.ErrInvalid)
	case u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "":
		return wrong("not only a host, a port and a path")
	}
	ip, err := netip.ParseAddr(u.Hostname())
	literal := err == nil
	switch {
	case literal && ip.Is4In6():
		return wrong("an IPv4 address in the clothes of IPv6")
	case literal && zone(ip) == "":
		return wrong("an address where no runner can be")
	}
	g := &guard{loopback: u.Hostname() == "localhost" || literal && ip.IsLoopback()}
	if u.Scheme == "http" && !g.loopback {
		return wrong("others could read along; http is for this machine only")
	}
	if literal {
		g.zone = zone(ip)
	}
	return u, g, nil
}

// zone is what kind of place an address is; "" is none for a runner.
func zone(ip netip.Addr) string {
	switch ip = ip.Unmap(); {
	case ip.IsLoopback():
		return "loopback"
	case ip.IsPrivate():
		return "private"
	case ip.IsGlobalUnicast():
		return "public"
	}
	return "" // link-local (where clouds keep their keys), multicast, unspecified
}

// control looks at every connection just before it is made, when names have
// become addresses.
func (g *guard) control(network, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("connect to %s %s: %w", network, address, harness.ErrForbidden)
	}
	z := zone(at.Addr())
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case z == "", g.loopback != (z == "loopback"), g.zone != "" && g.zone != z:
		return fmt.Errorf("the runner's name leads to %s, a %s address: %w", at.Addr(), z, harness.ErrForbidden)
	}
	g.zone = z
	return nil
}

func (g *guard) dialer() *net.Dialer { return &net.Dialer{Timeout: dialWithin, Control: g.control} }
