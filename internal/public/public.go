// Package public connects to the public Internet and to nothing else: what a
// stranger names must not lead to the machines around us.
package public

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// ErrAddress is an address that is not one of the public Internet.
var ErrAddress = errors.New("not a public address")

// refused lists the networks that are not the public Internet, by the IANA
// registries of special purpose addresses, and where metadata services are.
var refused = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16",
	"192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"168.63.129.16/32", // Azure's host
	"::/96", "::1/128", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16",
	"fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
)

// nat64 is where IPv4 addresses are in IPv6 ones.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

func prefixes(list ...string) (out []netip.Prefix) {
	for _, s := range list {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// Is reports whether an address is one of the public Internet.
func Is(a netip.Addr) bool {
	if a = a.Unmap().WithZone(""); !a.IsValid() {
		return false
	}
	if nat64.Contains(a) {
		b := a.As16()
		return Is(netip.AddrFrom4([4]byte(b[12:])))
	}
	for _, p := range refused {
		if p.Contains(a) {
			return false
		}
	}
	return a.IsGlobalUnicast()
}

// Dialer dials public addresses only. What it has checked is what it dials, so a
// name that resolves to something else a moment later changes nothing.
type Dialer struct {
	allow  func(netip.AddrPort) bool
	lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)
	dialer net.Dialer
}

// New makes a dialer. allow, if there is one, lets addresses pass that are not
// public.
func New(allow func(netip.AddrPort) bool) *Dialer {
	return &Dialer{allow: allow, lookup: net.DefaultResolver.LookupNetIP, dialer: net.Dialer{Timeout: 10 * time.Second}}
}

// Dial connects to one of a host's addresses. One that is refused spoils all: a
// name that mixes them is not an honest one.
func (g *Dialer) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	number, err := net.DefaultResolver.LookupPort(ctx, network, port)
	if err != nil {
		return nil, err
	}
	addrs, err := g.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, a := range addrs {
		if to := netip.AddrPortFrom(a, uint16(number)); !Is(a) && (g.allow == nil || !g.allow(to)) {
			return nil, fmt.Errorf("%s is at %s: %w", host, a, ErrAddress)
		}
	}
	for _, a := range addrs[:min(len(addrs), 4)] {
		c, err := g.dialer.DialContext(ctx, network, netip.AddrPortFrom(a, uint16(number)).String())
		if err == nil {
			return c, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func (g *Dialer) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a.Unmap()}, nil
	}
	addrs, err := g.lookup(ctx, "ip", host)
	if err == nil && len(addrs) == 0 {
		err = fmt.Errorf("%s has no address", host)
	}
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	return addrs, err
}
