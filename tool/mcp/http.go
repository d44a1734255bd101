package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// remote makes a transport to the server's URL, with a client of its own.
func (l *link) remote(s *Server) (sdk.Transport, error) {
	home, err := url.Parse(s.URL)
	if err != nil {
		return nil, err
	}
	inside := isInside(home.Hostname())
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	outside := &net.Dialer{Timeout: 10 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		if at, err := netip.ParseAddrPort(address); err != nil || !public(at.Addr()) {
			return fmt.Errorf("a redirect to %s, an address inside", address)
		}
		return nil
	}}
	next := &http.Transport{ // no proxy: the environment is not asked
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if inside || address == hostPort(home) {
				return dialer.DialContext(ctx, network, address)
			}
			return outside.DialContext(ctx, network, address)
		},
		TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true,
		MaxIdleConnsPerHost: 4, IdleConnTimeout: 90 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
	context.AfterFunc(l.life, next.CloseIdleConnections)
	client := &http.Client{
		Transport: &guard{home: home, headers: s.Headers, end: l.end, next: next},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			switch {
			case len(via) > maxRedirects:
				return errors.New("too many redirects")
			case via[0].URL.Scheme == "https" && r.URL.Scheme != "https":
				return errors.New("a redirect from https to http")
			}
			return nil
		},
	}
	return &sdk.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, MaxRetries: 2, MaxEventSize: maxLine}, nil
}

// guard adds the configured headers where they belong and bounds every answer.
type guard struct {
	home    *url.URL
	headers map[string]string
	end     context.CancelCauseFunc
	next    *http.Transport
}

func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if r.URL.Scheme == g.home.Scheme && hostPort(r.URL) == hostPort(g.home) {
		for name, value := range g.headers {
			r.Header.Set(name, value)
		}
	}
	res, err := g.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	res.Body = &body{ReadCloser: res.Body, end: g.end, stream: r.Method == http.MethodGet, events: isEvents(res), unasked: newAllowance(time.Now())}
	return res, nil
}

// body counts what comes: an answer as a whole, a stream by its rate. A server
// that exceeds it is ended.
type body struct {
	io.ReadCloser
	end    context.CancelCauseFunc
	stream bool // nobody asked for any of it
	events bool // its lines are those of events

	mu      sync.Mutex // guards what follows
	total   int
	unasked allowance
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total += n
	ends, size := 0, 0
	if b.events {
		ends = bytes.Count(p[:n], []byte("\n\n")) // one that two reads share is not worth finding
	}
	if b.stream {
		size = n
	}
	if !b.unasked.take(time.Now(), ends, size) || !b.stream && b.total > 2*maxLine {
		b.end(errFlood)
		return 0, errFlood
	}
	return n, err
}

func isEvents(res *http.Response) bool {
	return strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// isInside reports whether a configured host is this machine or its network by name.
func isInside(host string) bool {
	if host == "localhost" {
		return true
	}
	at, err := netip.ParseAddr(host)
	return err == nil && !public(at)
}

// carrier is shared address space; the net package does not count it as private.
var carrier = netip.MustParsePrefix("100.64.0.0/10")

// public reports whether an address is one of the open network.
func public(at netip.Addr) bool {
	at = at.Unmap()
	return at.IsValid() && at.IsGlobalUnicast() && !at.IsPrivate() && !carrier.Contains(at)
}
