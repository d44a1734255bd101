package gateway

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"harness"
)

// Names are what this server is called, exactly: as a host, and as an origin of
// pages. A name that is not among them is another server's, even if it leads
// here (DNS rebinding).
type Names struct {
	hosts   map[string]bool
	origins map[string]bool
	port    string
	secure  bool
	public  bool // it has a name beyond this machine
}

// NewNames are the names of a server that listens on addr. extra are those
// under which it is known besides, HOST or HOST:PORT, for example by a proxy;
// secure says that clients speak TLS with it, or with the proxy.
func NewNames(addr net.Addr, secure bool, extra ...string) (*Names, error) {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return nil, fmt.Errorf("a server at %s has no names: %w", addr, harness.ErrInvalid)
	}
	n := &Names{hosts: map[string]bool{}, origins: map[string]bool{}, port: strconv.Itoa(tcp.Port), secure: secure}
	scheme := "http://"
	usual := "80"
	if secure {
		scheme, usual = "https://", "443"
	}
	add := func(host, port string) {
		full := strings.ToLower(net.JoinHostPort(host, port))
		n.hosts[full], n.origins[scheme+full] = true, true
		if port == usual {
			short := strings.TrimSuffix(full, ":"+port)
			n.hosts[short], n.origins[scheme+short] = true, true
		}
	}
	if tcp.IP.IsLoopback() || tcp.IP.IsUnspecified() {
		for _, h := range []string{"localhost", "127.0.0.1", "::1"} {
			add(h, n.port)
		}
	}
	if !tcp.IP.IsUnspecified() {
		add(tcp.IP.String(), n.port)
	}
	for _, name := range extra {
		host, port, err := net.SplitHostPort(name)
		if err != nil {
			host, port = name, usual
		}
		if err := checkName(host, port); err != nil {
			return nil, err
		}
		add(host, port)
		n.public = n.public || !loopbackHost(host)
	}
	return n, nil
}

// checkName refuses what could mean more than one name.
func checkName(host, port string) error {
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("name %s:%s: no port: %w", host, port, harness.ErrInvalid)
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return nil
	}
	if host == "" || strings.Trim(strings.ToLower(host), "abcdefghijklmnopqrstuvwxyz0123456789.-") != "" || strings.HasSuffix(host, ".") {
		return fmt.Errorf("name %q: not a host name: %w", host, harness.ErrInvalid)
	}
	return nil
}

// Secure reports whether clients speak TLS.
func (n *Names) Secure() bool { return n.secure }

// Host reports whether host, of a request, is this server. A request for
// another is answered with 421. Names are the same in any case: browsers lower
// it, and other clients may write LOCALHOST.
func (n *Names) Host(host string) bool { return n.hosts[host] || n.hosts[strings.ToLower(host)] }

// Origin reports whether an Origin is a page of this server. Browsers write
// origins in lower case, so another spelling is somebody else's.
func (n *Names) Origin(origin string) bool { return n.origins[origin] }

// checkOrigin refuses a request of a page that is not this server's, with
// ErrForbidden. A request that says nothing comes from no page, or its reading
// is prevented by the browser.
func (n *Names) checkOrigin(r *http.Request) error {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return nil
	}
	if len(origins) > 1 || !n.Origin(origins[0]) {
		return fmt.Errorf("requests of pages of other sites are refused: %w", harness.ErrForbidden)
	}
	return nil
}

// fromOurPage refuses a request that does not say that it comes from a page of
// this server, with ErrForbidden.
func (n *Names) fromOurPage(r *http.Request) error {
	if err := n.checkOrigin(r); err != nil {
		return err
	}
	if r.Header.Get("Origin") == "" {
		return fmt.Errorf("a request with a cookie that changes something must have an Origin: %w", harness.ErrForbidden)
	}
	switch site := r.Header.Values("Sec-Fetch-Site"); {
	case len(site) == 0:
	case len(site) > 1 || site[0] != "same-origin" && site[0] != "none":
		return fmt.Errorf("requests of other sites are refused: %w", harness.ErrForbidden)
	}
	return nil
}
