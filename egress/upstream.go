package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"harness/internal/redact"
)

// upstream is a provider and the connections to it.
type upstream struct {
	provider  Provider
	base      *url.URL
	transport *http.Transport

	mu    sync.Mutex // guards what follows
	key   string
	clean *redact.Redactor // of key and the one before
}

func newUpstream(name string, p Provider, opts *Options) (*upstream, error) {
	base, err := p.check(name)
	if err != nil {
		return nil, err
	}
	if len(p.Routes) == 0 {
		p.Routes = Routes(p.Dialect)
	}
	u := &upstream{provider: p, base: base}
	u.transport = &http.Transport{
		DialContext: opts.Dial, TLSClientConfig: &tls.Config{RootCAs: opts.RootCAs}, TLSHandshakeTimeout: connectFor,
		ResponseHeaderTimeout: opts.First, MaxResponseHeaderBytes: 64 << 10, DisableCompression: true,
		ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 16, IdleConnTimeout: parkedFor,
	}
	if !onLoopback(base) {
		g := &guard{resolve: opts.Resolve, dial: opts.Dial, private: p.Private}
		u.transport.DialContext = func(ctx context.Context, _, addr string) (net.Conn, error) {
			host, port, err := net.SplitHostPort(addr)
			if err != nil {
				return nil, err
			}
			return g.connect(ctx, host, port)
		}
	}
	return u, nil
}

// secret is the key, and what takes it out of answers. Both are empty for a
// provider without one.
func (u *upstream) secret() (string, *redact.Redactor, error) {
	if u.provider.Key == nil {
		return "", nil, nil
	}
	key := u.provider.Key()
	if len(key) < redact.MinSecret || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "", nil, refuseKey
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if key != u.key {
		known := []string{key}
		if u.key != "" {
			known = append(known, u.key) // answers may still be on their way
		}
		clean, err := redact.Values(known...)
		if err != nil {
			return "", nil, refuseKey
		}
		u.key, u.clean = key, clean
	}
	return key, u.clean, nil
}

// request is what is sent: the agent's method, query and body, its headers but
// for those that are not its to send, and the key.
func (u *upstream) request(ctx context.Context, r *http.Request, path, key string, body []byte) *http.Request {
	out := (&http.Request{
		Method: r.Method, Host: u.base.Host, Header: http.Header{}, ContentLength: int64(len(body)),
		URL:   &url.URL{Scheme: u.base.Scheme, Host: u.base.Host, Path: u.base.Path + path, RawQuery: r.URL.Query().Encode()},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	copyHeaders(out.Header, r.Header, notSent)
	out.Header.Set("Accept-Encoding", "identity") // the answer is read along
	if u.provider.Dialect == DialectGoogle {      // which speaks other forms, too
		out.Header.Del("Accept")
		out.Header.Set("Content-Type", "application/json")
	}
	if out.Header.Get("User-Agent") == "" {
		out.Header.Set("User-Agent", "") // and not Go's
	}
	switch {
	case key == "":
	case u.provider.Dialect == DialectAnthropic && !u.provider.Bearer:
		out.Header.Set("X-Api-Key", key)
	case u.provider.Dialect == DialectGoogle && !u.provider.Bearer:
		out.Header.Set("X-Goog-Api-Key", key)
	default:
		out.Header.Set("Authorization", "Bearer "+key)
	}
	if len(body) > 0 {
		out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		out.Body, _ = out.GetBody()
	}
	return out
}
