package egress_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"harness/egress"
)

// resolver answers from a table.
func resolver(table map[string]string) func(context.Context, string) ([]netip.Addr, error) {
	return func(_ context.Context, host string) ([]netip.Addr, error) {
		list, ok := table[host]
		if !ok {
			return nil, fmt.Errorf("no such host %s", host)
		}
		var all []netip.Addr
		for a := range strings.SplitSeq(list, " ") {
			all = append(all, netip.MustParseAddr(a))
		}
		return all, nil
	}
}

// outside is a public address of nobody here.
const outside = "93.184.216.34"

// world is a server of the outside: whatever is dialled, this is reached.
type world struct {
	*httptest.Server
	mu     sync.Mutex // guards dialled
	dialed []string
}

func newWorld(t testing.TB, h http.Handler) *world {
	w := &world{Server: httptest.NewUnstartedServer(h)}
	w.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes that fail are what is tested
	w.EnableHTTP2 = true
	w.StartTLS()
	t.Cleanup(w.Close)
	return w
}

func (w *world) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	w.mu.Lock()
	w.dialed = append(w.dialed, addr)
	w.mu.Unlock()
	return (&net.Dialer{}).DialContext(ctx, network, w.Listener.Addr().String())
}

func (w *world) roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(w.Certificate())
	return pool
}

// through is a client that uses the proxy's tunnels.
func through(t testing.TB, h *house, w *world, token string) *http.Client {
	env := egress.ForwardEnv(h.address, token)
	proxy, err := url.Parse(strings.TrimPrefix(env[0], "HTTPS_PROXY="))
	if err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{RootCAs: w.roots()}}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func forwarding(t testing.TB, w *world, opts egress.Options, maxBytes int64) *house {
	opts.Forward = &egress.Forward{Domains: []string{"example.com", "*.wild.example"}, MaxBytes: maxBytes}
	opts.Resolve = resolver(map[string]string{"example.com": outside, "a.wild.example": outside})
	opts.Dial = w.dial
	return build(t, "http://127.0.0.1:1", opts)
}

func TestATunnelLeadsToAListedDomain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %d %q", r.Method, r.Host, len(b), r.Header["Proxy-Authorization"])
	}))
	h := forwarding(t, w, egress.Options{}, 0)
	token := h.grant(t, egress.Grant{Session: "ses_1", Forward: true})
	body := bytes.Repeat([]byte("x"), 1<<20)
	res, err := through(t, h, w, token).Post("https://EXAMPLE.com/x", "text/plain", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if b, _ := io.ReadAll(res.Body); string(b) != "POST example.com 1048576 []" && string(b) != "POST EXAMPLE.com 1048576 []" {
		t.Errorf("got %s", b)
	}
	if len(w.dialed) != 1 || w.dialed[0] != outside+":443" {
		t.Errorf("dialled %q, want the address that was looked at", w.dialed)
	}
	if r := h.last(); !r.Allowed || r.Session != "ses_1" || !strings.EqualFold(r.Target, "example.com:443") || r.Method != "CONNECT" {
		t.Errorf("recorded %+v", r)
	}
}

// TestATunnelIsForTheNameItWasMadeFor: behind one address there are many names.
func TestATunnelIsForTheNameItWasMadeFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, http.NotFoundHandler())
	h := forwarding(t, w, egress.Options{}, 0)
	token := h.grant(t, egress.Grant{Forward: true})
	for name, speak := range map[string]func(net.Conn) error{
		"another name": func(c net.Conn) error {
			return tls.Client(c, &tls.Config{ServerName: "evil.example", InsecureSkipVerify: true}).Handshake()
		},
		"no name": func(c net.Conn) error {
			return tls.Client(c, &tls.Config{InsecureSkipVerify: true}).Handshake()
		},
		"no TLS": func(c net.Conn) error {
			_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n")
			n, err := c.Read(make([]byte, 1))
			return fmt.Errorf("%d bytes, %w", n, err)
		},
	} {
		c := open(t, h, token, "a.wild.example:443")
		if err := speak(c); err == nil {
			t.Errorf("%s: it was served", name)
		}
		if r := h.last(); r.Allowed || r.Reason != "server name" {
			t.Errorf("%s: recorded %+v", name, r)
		}
	}
}

// open opens a tunnel by hand.
func open(t testing.TB, h *house, token, authority string) net.Conn {
	t.Helper()
	c, err := net.Dial("unix", h.socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	r, _ := http.NewRequest(http.MethodConnect, "http://"+authority, nil)
	r.Host = authority
	r.SetBasicAuth("x", token)
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: x\r\nProxy-Authorization: %s\r\n\r\n", authority, r.Header.Get("Authorization"))
	head := make([]byte, len("HTTP/1.1 200 Connection Established\r\n\r\n"))
	if _, err := io.ReadFull(c, head); err != nil || !strings.HasPrefix(string(head), "HTTP/1.1 200") {
		t.Fatalf("tunnel: %q, %v", head, err)
	}
	return c
}

func TestATunnelHasLimits(t *testing.T) {
	t.Parallel()
	endless := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for b := make([]byte, 1<<16); ; {
			if _, err := w.Write(b); err != nil {
				return
			}
		}
	})
	silent := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for name, tc := range map[string]struct {
		handler http.Handler
		opts    egress.Options
		bytes   int64
	}{
		"bytes":   {endless, egress.Options{}, 1 << 20},
		"silence": {silent, egress.Options{Idle: 100 * time.Millisecond}, 0},
		"time":    {endless, egress.Options{Total: 300 * time.Millisecond}, 1 << 50},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tc.handler)
			h := forwarding(t, w, tc.opts, tc.bytes)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			r, _ := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.com/", nil)
			res, err := through(t, h, w, h.grant(t, egress.Grant{Forward: true})).Do(r)
			if err == nil {
				var n int64
				n, err = io.Copy(io.Discard, res.Body)
				res.Body.Close()
				if tc.bytes == 1<<20 && n > tc.bytes {
					t.Errorf("%d bytes came", n)
				}
			}
			if err == nil || ctx.Err() != nil {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

func TestATunnelEndsWithItsToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, http.NotFoundHandler())
	h := forwarding(t, w, egress.Options{}, 0)
	token, revoke, err := h.Grant(egress.Grant{Forward: true})
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, h, token, "example.com:443")
	if err := tls.Client(c, &tls.Config{ServerName: "example.com", RootCAs: w.roots()}).Handshake(); err != nil {
		t.Fatal(err)
	}
	revoke()
	if _, err := io.Copy(io.Discard, c); err != nil && strings.Contains(err.Error(), "timeout") {
		t.Errorf("it stayed open: %v", err)
	}
}

func TestAProviderIsReachedAtTheAddressThatWasLookedAt(t *testing.T) {
	t.Parallel()
	up := scripted(t)
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "example.com" || r.ProtoMajor != 2 {
			t.Errorf("host is %q, by %s", r.Host, r.Proto)
		}
		forwardTo(t, up.URL, w, r)
	}))
	names := map[string]string{"example.com": outside, "half.example.com": outside + " 10.0.0.1", "lan.example.com": "10.0.0.1", "link.example.com": "169.254.169.254"}
	if names["self.example.com"] = ownAddress(t); names["self.example.com"] == "" {
		names["self.example.com"] = "127.0.0.1"
	}
	h := build(t, up.URL, egress.Options{Resolve: resolver(names), Dial: w.dial, RootCAs: w.roots()}, map[string]egress.Provider{
		"outside": {Base: "https://example.com/gateway", Dialect: egress.DialectOpenAI, Key: key},
		"half":    {Base: "https://half.example.com", Dialect: egress.DialectOpenAI, Key: key},
		"lan":     {Base: "https://lan.example.com", Dialect: egress.DialectOpenAI, Key: key},
		"link":    {Base: "https://link.example.com", Dialect: egress.DialectOpenAI, Key: key, Private: true},
		"self":    {Base: "https://self.example.com", Dialect: egress.DialectOpenAI, Key: key, Private: true},
		"here":    {Base: "https://127.0.0.1.nip.example", Dialect: egress.DialectOpenAI, Key: key},
	})
	for provider, want := range map[string]int{"outside": 200, "half": 403, "lan": 403, "link": 403, "self": 403, "here": 502} {
		got := post(t, h.address+"/"+provider+"/v1/responses", h.grant(t, egress.Grant{Provider: provider}), forms[1].body+"}")
		if got.status != want {
			t.Errorf("%s: %d %s, want %d", provider, got.status, got.body, want)
		}
	}
	if len(w.dialed) != 1 || w.dialed[0] != outside+":443" {
		t.Errorf("dialled %q", w.dialed)
	}
	if got := up.Requests(); len(got) != 1 || got[0].Path != "/v1/responses" {
		t.Errorf("sent %v", got)
	}
}

// ownAddress is one that this machine has on a network, if it is on any.
func ownAddress(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			return n.IP.String()
		}
	}
	return ""
}

// forwardTo hands a request of a gateway on to another server.
func forwardTo(t *testing.T, to string, w http.ResponseWriter, r *http.Request) {
	out, err := http.NewRequestWithContext(r.Context(), r.Method, to+strings.TrimPrefix(r.URL.Path, "/gateway"), r.Body)
	if err != nil {
		t.Error(err)
		return
	}
	out.Header = r.Header
	res, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		t.Error(err)
		return
	}
	defer res.Body.Close()
	w.WriteHeader(res.StatusCode)
	_, _ = io.Copy(w, res.Body)
}
