package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"time"

	"harness/model"
)

// Options of an HTTP client. The zero value of each is its default.
type Options struct {
	// First is how long a server may take to begin its answer; 5 minutes, since
	// one on this machine may have to load its model.
	First time.Duration
	// Idle is how long it may send nothing after that; 90 s. A ping is something.
	Idle time.Duration
	// Connect bounds dialling and the TLS handshake, each; 10 s.
	Connect time.Duration
	// Proxy chooses a proxy; nil is none. The environment is not asked.
	Proxy func(*http.Request) (*url.URL, error)
	Dial  func(ctx context.Context, network, addr string) (net.Conn, error)
}

const (
	// maxAnswer bounds an answer; a window of a million tokens is some 8 MB of events.
	maxAnswer = 64 << 20
	// maxComplaint bounds the body of an answer that is an error.
	maxComplaint = 64 << 10
)

// errIdle is why a request ended when nothing came.
var errIdle = errors.New("nothing came from the server")

// NewHTTP makes a client for model servers: it follows no redirect (the key
// would go along), bounds silence instead of the whole exchange, and bounds
// what it reads.
func NewHTTP(opts *Options) *http.Client {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Connect = cmp.Or(o.Connect, 10*time.Second)
	if o.Dial == nil {
		o.Dial = (&net.Dialer{Timeout: o.Connect, KeepAlive: 30 * time.Second}).DialContext
	}
	return &http.Client{
		Transport: &patient{first: cmp.Or(o.First, 5*time.Minute), idle: cmp.Or(o.Idle, 90*time.Second), next: &http.Transport{
			Proxy: o.Proxy, DialContext: o.Dial, TLSHandshakeTimeout: o.Connect, ForceAttemptHTTP2: true,
			MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second,
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// patient ends an exchange in which nothing comes for too long.
type patient struct {
	first time.Duration
	idle  time.Duration
	next  http.RoundTripper
}

func (p *patient) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	timer := time.AfterFunc(p.first, func() { cancel(errIdle) })
	res, err := p.next.RoundTrip(r.WithContext(ctx))
	timer.Stop()
	if err != nil {
		err = because(ctx, err)
		cancel(nil)
		return nil, err
	}
	limit := int64(maxAnswer)
	if res.StatusCode != http.StatusOK {
		limit = maxComplaint
	}
	res.Body = &body{rc: res.Body, ctx: ctx, cancel: cancel, timer: timer, idle: p.idle, left: limit}
	return res, nil
}

// CloseIdleConnections lets http.Client's method of that name through.
func (p *patient) CloseIdleConnections() {
	if c, ok := p.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// because prefers what ended ctx to what that looked like.
func because(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errIdle) {
		return errIdle
	}
	return err
}

// body counts silence only while somebody reads.
type body struct {
	rc     io.ReadCloser
	ctx    context.Context // of this exchange alone
	cancel context.CancelCauseFunc
	timer  *time.Timer
	idle   time.Duration
	left   int64
}

func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("more than the server may send")
	}
	b.timer.Reset(b.idle)
	n, err := b.rc.Read(p[:min(int64(len(p)), b.left)])
	b.timer.Stop()
	b.left -= int64(n)
	if err != nil && err != io.EOF {
		err = because(b.ctx, err)
	}
	return n, err
}

func (b *body) Close() error {
	b.timer.Stop()
	err := b.rc.Close()
	b.cancel(nil)
	return err
}

// OnlyEvents refuses an answer that is not a stream of events, whatever its
// status says. It fits the middleware of both SDKs.
func OnlyEvents(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	res, err := next(r)
	if err != nil || res.StatusCode >= http.StatusBadRequest {
		return res, err
	}
	if res.StatusCode != http.StatusOK { // the SDKs would read it as an answer
		res.Body.Close()
		said := Said{Status: res.StatusCode, Header: res.Header, Message: "an answer was expected"}
		return nil, said.Error("", "")
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if kind == "text/event-stream" {
		return res, nil
	}
	res.Body.Close() // nothing in it is for us
	return nil, &model.Error{Fault: model.ServerError, Status: res.StatusCode, Message: fmt.Sprintf("the answer is %q, not a stream of events; is this the address of a model server?", bound(kind))}
}

// Provider is the name of a provider: its own at its own address, the host's
// at any other, whose prices are not known to be the same.
func Provider(own, ownURL, address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return own
	}
	if o, err := url.Parse(ownURL); err == nil && o.Host == u.Host {
		return own
	}
	return u.Host
}
