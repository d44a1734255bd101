package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"syscall"

	"harness"
)

// listen opens a loopback address. There is no authentication yet, so any
// other is refused.
func listen(addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("--addr %s: %w: %w", addr, err, harness.ErrInvalid)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("--addr %s: only loopback addresses are served, because requests are not authenticated: %w", addr, harness.ErrInvalid)
	}
	l, err := net.Listen("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--addr %s: another program listens there; choose another port, or 0 for any that is free", addr)
	case err != nil:
		return nil, fmt.Errorf("--addr %s: %w", addr, err)
	}
	return l, nil
}

// guard lets only requests through that name this server as their host, and
// come from no page or from a page of this server: a page of another site must
// not reach a server on the same machine, neither by a name that it resolves to
// loopback nor by a cross-site WebSocket.
func guard(addr net.Addr, next http.Handler) http.Handler {
	port := strconv.Itoa(addr.(*net.TCPAddr).Port)
	hosts := map[string]bool{}
	for _, h := range []string{"localhost", "127.0.0.1", "::1", addr.(*net.TCPAddr).IP.String()} {
		hosts[net.JoinHostPort(h, port)] = true
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !hosts[r.Host] {
			http.Error(rw, "this server is not called "+strconv.Quote(r.Host), http.StatusMisdirectedRequest)
			return
		}
		if origins := r.Header.Values("Origin"); len(origins) > 0 {
			u, err := url.Parse(origins[0])
			if len(origins) > 1 || err != nil || u.Scheme != "http" || !hosts[u.Host] {
				http.Error(rw, "requests of other sites are refused", http.StatusForbidden)
				return
			}
		}
		next.ServeHTTP(rw, r)
	})
}
