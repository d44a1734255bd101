package egress

import (
	"fmt"
	"net"
	"net/netip"
)

// Networks that a name of the outside must not lead to, besides those that
// package netip knows.
var (
	// inside are private networks: allowed to a provider that says so.
	inside = prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
	// never are this machine, its link, nobody, everybody, and addresses of
	// IPv6 that carry one of IPv4 through somebody else's gateway.
	never = prefixes(
		"0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", // Teredo and other protocols, documentation, 6to4
	)
	// global is all of IPv6 that is somebody's; NAT64 (64:ff9b::/96, 64:ff9b:1::/48),
	// mapped and compatible addresses, fe80::/10, fec0::/10 and ff00::/8 are outside.
	global = netip.MustParsePrefix("2000::/3")
)

func prefixes(list ...string) (out []netip.Prefix) {
	for _, s := range list {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// checkAddress refuses an address that is not on the public Internet. private
// also allows private networks.
func checkAddress(a netip.Addr, private bool) error {
	if within(a, inside) {
		if private {
			return nil
		}
		return fmt.Errorf("%s is private", a)
	}
	switch {
	case !a.IsValid() || a.Zone() != "" || a.Is4In6(), within(a, never), a.Is6() && !global.Contains(a):
		return fmt.Errorf("%s is not on the Internet", a)
	}
	return nil
}

func within(a netip.Addr, list []netip.Prefix) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// checkOwn refuses an address that this machine has, public as it may be.
func checkOwn(a netip.Addr) error {
	own, err := net.InterfaceAddrs()
	if err != nil {
		return fmt.Errorf("list the addresses of this machine: %w", err)
	}
	for _, o := range own {
		if n, ok := o.(*net.IPNet); ok {
			if b, ok := netip.AddrFromSlice(n.IP); ok && b.Unmap() == a {
				return fmt.Errorf("%s is this machine", a)
			}
		}
	}
	return nil
}
