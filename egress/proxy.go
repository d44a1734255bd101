package egress

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"harness"
)

// Options of a proxy. The zero value of each is its default.
type Options struct {
	// Used is told what each answer used, when it has ended.
	Used func(Grant, Usage)
	// Audit is told every decision, before it has effects.
	Audit func(Record)
	// Forward allows tunnels; nil: none.
	Forward *Forward

	First time.Duration // until a provider begins to answer; 10 minutes
	Idle  time.Duration // that a provider, or both sides of a tunnel, may be silent; 5 minutes
	Total time.Duration // for a request or a tunnel; 1 hour
	Body  time.Duration // for an agent to send its request; 1 minute
	Write time.Duration // for an agent to take a part of its answer; 1 minute

	// Resolve and Dial reach the outside; default: the system. Dial gets
	// addresses, never names.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, network, addr string) (net.Conn, error)
	RootCAs *x509.CertPool // default: the system's
	Log     *slog.Logger   // failures of providers, without content; default: none
}

const (
	// maxConns bounds the connections of a listener.
	maxConns = 256
	// maxHeader bounds the headers of a request.
	maxHeader = 32 << 10
	// maxAnswer bounds an answer; a window of a million tokens is some 8 MB of events.
	maxAnswer = 64 << 20
	headFor   = 10 * time.Second // for the headers of a request
	parkedFor = 2 * time.Minute  // between two requests of a connection
)

// errClosed is why requests end with the proxy.
var errClosed = errors.New("the proxy is closed")

// Proxy is the way out. It may be used concurrently.
type Proxy struct {
	opts      Options
	upstreams map[string]*upstream
	forward   *forward
	grants    grants
	server    *http.Server
	ctx       context.Context // of everything; its end is Close
	cancel    context.CancelCauseFunc
	buffers   sync.Pool

	mu      sync.Mutex // guards what follows
	closed  bool
	held    int64          // bytes of requests
	running sync.WaitGroup // requests; added to under mu, while not closed
}

// New makes a proxy for providers, by names of a few letters.
func New(providers map[string]Provider, opts *Options) (*Proxy, error) {
	p := &Proxy{upstreams: map[string]*upstream{}, grants: grants{byHash: map[[sha256.Size]byte]*holder{}}}
	if opts != nil {
		p.opts = *opts
	}
	p.opts.complete()
	p.buffers.New = func() any { return new([32 << 10]byte) }
	p.ctx, p.cancel = context.WithCancelCause(context.Background())
	for name, provider := range providers {
		u, err := newUpstream(name, provider, &p.opts)
		if err != nil {
			return nil, err
		}
		p.upstreams[name] = u
	}
	if p.opts.Forward != nil {
		var err error
		if p.forward, err = newForward(*p.opts.Forward, &p.opts); err != nil {
			return nil, err
		}
	}
	p.server = &http.Server{
		Handler: http.HandlerFunc(p.handle), DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout: headFor, IdleTimeout: parkedFor, MaxHeaderBytes: maxHeader,
		ErrorLog: log.New(io.Discard, "", 0), // it has what agents sent
	}
	return p, nil
}

func (o *Options) complete() {
	for d, def := range map[*time.Duration]time.Duration{
		&o.First: 10 * time.Minute, &o.Idle: 5 * time.Minute, &o.Total: time.Hour, &o.Body: time.Minute, &o.Write: time.Minute,
	} {
		if *d == 0 {
			*d = def
		}
	}
	if o.Resolve == nil {
		o.Resolve = resolveName
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// Serve answers on a listener, until it fails or the proxy is closed. It closes
// the listener. Any number may be served at once.
func (p *Proxy) Serve(l net.Listener) error {
	err := p.server.Serve(limit(l, maxConns))
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("egress: serve: %w", err)
}

// Close ends every request and waits for it. No token is good any more.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.cancel(errClosed)
	err := p.server.Close()
	p.running.Wait()
	for _, u := range p.upstreams {
		u.transport.CloseIdleConnections()
	}
	return err
}

// handle counts requests for Close.
func (p *Proxy) handle(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		panic(http.ErrAbortHandler)
	}
	p.running.Add(1)
	p.mu.Unlock()
	defer p.running.Done()
	d := newDecision(r)
	serve := p.reverse
	if r.Method == http.MethodConnect {
		serve = p.tunnel
	}
	err := serve(w, r, d)
	if why, refused := errors.AsType[*refusal](err); refused {
		p.tell(d, why)
		why.write(w, d.dialect)
	} else if err != nil { // a plain end would look like that of the answer
		panic(http.ErrAbortHandler)
	}
}

// bind makes a context that ends with the request, its grant, or the time that
// it may take.
func (p *Proxy) bind(r *http.Request, h *holder) (context.Context, context.CancelCauseFunc) {
	ctx, stopTimer := context.WithTimeoutCause(r.Context(), p.opts.Total, errTotal)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(h.ctx, func() { cancel(context.Cause(h.ctx)) })
	return ctx, func(cause error) {
		stop()
		cancel(cause)
		stopTimer()
	}
}

// Reasons for the end of an exchange.
var (
	errTotal = errors.New("it took too long")
	errIdle  = errors.New("nothing came for too long")
	errLarge = errors.New("it is too large")
)

// Env is what an agent needs to use a provider through the proxy at an address,
// such as http://127.0.0.1:8080.
func (p *Proxy) Env(provider, address, token string) ([]string, error) {
	u := p.upstreams[provider]
	if u == nil {
		return nil, fmt.Errorf("egress: provider %q: %w", provider, harness.ErrInvalid)
	}
	address += "/" + provider
	switch u.provider.Dialect {
	case DialectOpenAI:
		return []string{"OPENAI_BASE_URL=" + address + "/v1", "OPENAI_API_KEY=" + token}, nil
	case DialectGoogle:
		return []string{"GOOGLE_GEMINI_BASE_URL=" + address, "GEMINI_API_KEY=" + token}, nil
	default:
		return []string{"ANTHROPIC_BASE_URL=" + address, "ANTHROPIC_API_KEY=" + token}, nil
	}
}
