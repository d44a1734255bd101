package egress

import (
	"encoding/base64"
	"net"
	"net/http"
	"strings"
)

// Forward says where tunnels may lead: to port 443 of listed domains, by the
// name that was asked for.
type Forward struct {
	Domains []string // names, and *.suffixes, which do not stand for the name itself
	// MaxBytes bounds what a tunnel carries, both ways together; 1 GiB.
	MaxBytes int64
}

const (
	forwardPort     = "443"
	forwardMaxBytes = 1 << 30
)

type forward struct {
	domains  domains
	guard    *guard
	maxBytes int64
}

func newForward(f Forward, opts *Options) (*forward, error) {
	d, err := parseDomains(f.Domains)
	if err != nil {
		return nil, err
	}
	if f.MaxBytes == 0 {
		f.MaxBytes = forwardMaxBytes
	}
	return &forward{domains: d, guard: &guard{resolve: opts.Resolve, dial: opts.Dial}, maxBytes: f.MaxBytes}, nil
}

// ForwardEnv is what programs need to use tunnels of the proxy at an address,
// such as http://127.0.0.1:8080.
func ForwardEnv(address, token string) []string {
	proxy := strings.Replace(address, "://", "://run:"+token+"@", 1)
	const direct = "127.0.0.1,localhost,::1"
	return []string{"HTTPS_PROXY=" + proxy, "https_proxy=" + proxy, "NO_PROXY=" + direct, "no_proxy=" + direct}
}

// target is the host of a CONNECT, if a tunnel to it is allowed.
func (f *forward) target(authority string) (string, error) {
	host, port, err := net.SplitHostPort(authority)
	if err != nil {
		return "", refuseDomain
	}
	name, ok := plainName(host)
	switch {
	case !ok || !f.domains.allow(name):
		return "", refuseDomain
	case port != forwardPort:
		return "", refusePort
	}
	return name, nil
}

// proxyToken is the token of a proxy's client: the password, whoever says it.
func proxyToken(h http.Header) string {
	all := h["Proxy-Authorization"]
	if len(all) != 1 {
		return ""
	}
	scheme, code, _ := strings.Cut(all[0], " ")
	b, err := base64.StdEncoding.DecodeString(code)
	if err != nil || !strings.EqualFold(scheme, "Basic") {
		return ""
	}
	_, token, _ := strings.Cut(string(b), ":")
	return token
}
