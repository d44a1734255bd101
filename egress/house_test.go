package egress_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"harness/egress"
	"harness/model/modeltest"
)

// canary is the key that nobody but a provider may see, and that no file has.
var canary = "sk-canary-" + rand.Text()

// patience is how long a test waits for what takes milliseconds.
const patience = 20 * time.Second

func key() string { return canary }

// house is a proxy that serves a Unix socket and loopback, and what it told.
type house struct {
	*egress.Proxy
	socket  string
	address string // http://127.0.0.1:…

	mu      sync.Mutex // guards what follows
	records []egress.Record
	uses    []egress.Usage
}

// build makes a proxy; the providers' addresses are upstream, unless they have one.
func build(t testing.TB, upstream string, opts egress.Options, providers ...map[string]egress.Provider) *house {
	t.Helper()
	all := map[string]egress.Provider{
		"anthropic": {Base: upstream, Dialect: egress.DialectAnthropic, Key: key},
		"openai":    {Base: upstream, Dialect: egress.DialectOpenAI, Key: key},
		"google":    {Base: upstream, Dialect: egress.DialectGoogle, Key: key},
	}
	for _, more := range providers {
		for name, p := range more {
			all[name] = p
		}
	}
	h := &house{}
	opts.Audit = func(r egress.Record) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.records = append(h.records, r)
	}
	opts.Used = func(_ egress.Grant, u egress.Usage) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.uses = append(h.uses, u)
	}
	p, err := egress.New(all, &opts)
	if err != nil {
		t.Fatal(err)
	}
	h.Proxy = p
	h.socket = filepath.Join(t.TempDir(), "s")
	unix, err := net.Listen("unix", h.socket)
	if err != nil {
		t.Fatal(err)
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.address = "http://" + tcp.Addr().String()
	var wg sync.WaitGroup
	for _, l := range []net.Listener{unix, tcp} {
		wg.Go(func() {
			if err := p.Serve(l); err != nil {
				t.Errorf("serve: %v", err)
			}
		})
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		wg.Wait()
	})
	return h
}

// grant makes a token that the test's end revokes.
func (h *house) grant(t testing.TB, g egress.Grant) string {
	t.Helper()
	token, revoke, err := h.Grant(g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(revoke)
	return token
}

// last is the newest record.
func (h *house) last() egress.Record {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.records) == 0 {
		return egress.Record{}
	}
	return h.records[len(h.records)-1]
}

func (h *house) used() []egress.Usage {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]egress.Usage(nil), h.uses...)
}

// answer is what a client got.
type answer struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body
}

// client asks over its own connections, which end with the test.
func client(t testing.TB) *http.Client {
	tr := &http.Transport{DisableCompression: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// post asks, with the token as x-api-key.
func post(t testing.TB, url, token, body string) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Api-Key", token)
	return do(t, client(t), r)
}

func do(t testing.TB, c *http.Client, r *http.Request) answer {
	t.Helper()
	res, err := c.Do(r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, string(b), err}
}

// raw sends bytes on a connection and returns everything that comes back.
func (h *house) raw(t testing.TB, text string) string {
	t.Helper()
	c, err := net.Dial("unix", h.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.UnixConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := io.Copy(&out, c); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("read: %v after %q", err, out.String())
	}
	return out.String()
}

// talk sends bytes on a connection, waits for n answers and then for those that
// nobody asked for, and returns the statuses of all.
func (h *house) talk(t testing.TB, text string, n int) (all []int) {
	t.Helper()
	c, err := net.Dial("unix", h.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	for r := bufio.NewReader(c); ; {
		if len(all) == n {
			_ = c.(*net.UnixConn).CloseWrite()
		}
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			return all
		}
		_, _ = io.Copy(io.Discard, res.Body)
		all = append(all, res.StatusCode)
	}
}

// until waits for a condition.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for pause := time.NewTicker(time.Millisecond); !ok(); <-pause.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for %s", patience, what)
		}
	}
}

const hello = `
usage in=100 out=7 cached=40 written=5
think They greet me.
say Hello there.
`

// scripted is a model server whose answers say and count something.
func scripted(t testing.TB) *modeltest.Server { return modeltest.Serve(t, hello) }
