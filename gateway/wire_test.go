package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"harness/gateway"
)

// raw sends bytes that no client of ours would and returns the status line.
func (s *site) raw(text string) string {
	s.t.Helper()
	c, err := net.Dial("tcp", s.host)
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(c, text); err != nil {
		s.t.Fatal(err)
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return "closed"
	}
	return strings.TrimSpace(line)
}

// TestOddHosts is the rest of attack 7.
func TestOddHosts(t *testing.T) {
	t.Parallel()
	s := newSite(t, gateway.AuthOptions{}, gateway.EdgeOptions{})
	auth := "Authorization: Bearer " + s.token + "\r\nConnection: close\r\n\r\n"
	for name, c := range map[string]struct{ text, want string }{
		"two hosts":             {"GET /look HTTP/1.1\r\nHost: " + s.host + "\r\nHost: evil\r\n" + auth, "400"},
		"no host":               {"GET /look HTTP/1.1\r\n" + auth, "400"},
		"no host, 1.0":          {"GET /look HTTP/1.0\r\n" + auth, "421"},
		"empty host":            {"GET /look HTTP/1.1\r\nHost:\r\n" + auth, "421"},
		"another absolute URI":  {"GET http://evil.example/look HTTP/1.1\r\nHost: " + s.host + "\r\n" + auth, "421"},
		"userinfo in the host":  {"GET /look HTTP/1.1\r\nHost: evil@" + s.host + "\r\n" + auth, "4"},
		"our absolute URI":      {"GET http://" + s.host + "/look HTTP/1.1\r\nHost: " + s.host + "\r\n" + auth, "200"},
		"a path with dots":      {"GET /../../look HTTP/1.1\r\nHost: " + s.host + "\r\n" + auth, "3"},
		"dots, without a token": {"GET /healthz/../look HTTP/1.1\r\nHost: " + s.host + "\r\nConnection: close\r\n\r\n", "401"},
		"two lengths":           {"POST /act HTTP/1.1\r\nHost: " + s.host + "\r\nContent-Length: 1\r\nContent-Length: 2\r\n" + auth, "400"},
	} {
		if got := s.raw(c.text); !strings.HasPrefix(got, "HTTP/1.1 "+c.want) && !strings.HasPrefix(got, "HTTP/1.0 "+c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// pipes is a listener without a network, so that its time can be the bubble's.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7717} }

// TestWhoIsSlowIsCutOff: the head, the body and the next request have their
// time, exactly; an answer has as long as it likes.
func TestWhoIsSlowIsCutOff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		send string
		want time.Duration
		says string
	}{
		"head":                 {"GET /healthz HTTP/1.1\r\nHost: localhost:7717\r\nX-Slow: ", gateway.HeaderFor, ""},
		"body":                 {"POST /act HTTP/1.1\r\nHost: localhost:7717\r\nContent-Length: 10\r\n\r\nabc", gateway.BodyFor, "408"},
		"refused, with a body": {"POST /act HTTP/1.1\r\nHost: evil\r\nContent-Length: 10\r\n\r\nabc", gateway.AwayFor, "421"},
		"a body nobody reads":  {"POST /unread HTTP/1.1\r\nHost: localhost:7717\r\nContent-Length: 10\r\n\r\nabc", gateway.BodyFor, "done"},
		"idle":                 {"GET /healthz HTTP/1.1\r\nHost: localhost:7717\r\n\r\n", gateway.IdleFor, "200"},
		"long":                 {"POST /long HTTP/1.1\r\nHost: localhost:7717\r\nContent-Length: 3\r\n\r\nabc", time.Hour + gateway.IdleFor, "200"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
				names, err := gateway.NewNames(l.Addr(), false)
				if err != nil {
					t.Fatal(err)
				}
				e := gateway.NewEdge(names, gateway.NewAuth(names, gateway.AuthOptions{Off: true}), nil)
				e.Handle(gateway.Route{Pattern: "GET /healthz", Public: true}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }))
				e.Handle(gateway.Route{Pattern: "POST /act"}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if _, err := io.ReadAll(r.Body); err != nil {
						w.WriteHeader(http.StatusRequestTimeout)
					}
				}))
				e.Handle(gateway.Route{Pattern: "POST /unread"}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "done") }))
				e.Handle(gateway.Route{Pattern: "POST /long"}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					io.ReadAll(r.Body)
					time.Sleep(time.Hour) // sleep: the bubble's clock is what is tested
					if r.Context().Err() != nil {
						t.Error("cut off while it was answered")
					}
					fmt.Fprintln(w, "done")
				}))
				srv := e.Server(slog.New(slog.DiscardHandler))
				var serving sync.WaitGroup
				serving.Go(func() { srv.Serve(l) })
				client, server := net.Pipe()
				began := time.Now()
				l.conns <- server
				serving.Go(func() { io.WriteString(client, c.send) })
				got, _ := io.ReadAll(client)
				if d := time.Since(began); d < c.want || d > c.want+5*time.Second {
					t.Errorf("cut off after %s, want %s", d, c.want)
				}
				if !strings.Contains(string(got), c.says) {
					t.Errorf("said %q", got)
				}
				client.Close()
				srv.Close()
				serving.Wait()
			})
		})
	}
}

// TestConnectionsAreBounded meets both bounds exactly.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	p := newPages()
	s := newSite(t, gateway.AuthOptions{}, gateway.EdgeOptions{Audit: p.Ledger})
	srv := s.edge.Server(slog.New(slog.DiscardHandler))
	state := srv.ConnState
	open := func(from string) *conn {
		c := &conn{from: from}
		srv.ConnContext(t.Context(), c) // as net/http does
		state(c, http.StateNew)
		return c
	}
	var mine []*conn
	for range gateway.MaxFromOne {
		c := open("1.2.3.4:5")
		if c.closed {
			t.Fatal("too early")
		}
		mine = append(mine, c)
	}
	over := open("1.2.3.4:6")
	if !over.closed {
		t.Error("one too many from one address")
	}
	state(over, http.StateClosed)
	if open("1.2.3.5:6").closed {
		t.Error("another address has no more")
	}
	state(mine[0], http.StateClosed)
	state(mine[1], http.StateHijacked)
	state(mine[1], http.StateClosed)
	if open("1.2.3.4:7").closed || open("1.2.3.4:8").closed || !open("1.2.3.4:9").closed {
		t.Error("two that went make room for two")
	}
	n := gateway.MaxFromOne + 2 // and one that is closed, but not yet gone
	for i := n; i < gateway.MaxConnections; i++ {
		if open(fmt.Sprintf("10.0.%d.%d:1", i/256, i%256)).closed {
			t.Fatalf("number %d is too many", i)
		}
	}
	if !open("11.0.0.1:1").closed {
		t.Error("one too many")
	}
	if all := p.turned(); len(all) != 3 || all[0].Remote != "1.2.3.4:6" || all[2].Remote != "11.0.0.1:1" {
		t.Errorf("the audit has %+v", all)
	}
}

// conn is a connection that only says where it is from.
type conn struct {
	net.Conn
	from   string
	closed bool
}

func (c *conn) RemoteAddr() net.Addr { a, _ := net.ResolveTCPAddr("tcp", c.from); return a }
func (c *conn) Close() error         { c.closed = true; return nil }

// FuzzLocalPath: whatever comes out stays on this server, as browsers read it.
func FuzzLocalPath(f *testing.F) {
	for _, s := range []string{"/", "//evil", `/\evil`, "/a/../..//evil", "/%2f/evil", "/\t/evil", "https:evil", "/a?b#c", "/%5c%5cevil"} {
		f.Add(s)
	}
	base, err := url.Parse("http://here:1/login")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, next string) {
		got := gateway.LocalPath(next)
		u, err := base.Parse(got)
		if err != nil || u.Host != "here:1" || u.Scheme != "http" || !strings.HasPrefix(got, "/") || strings.HasPrefix(got, "//") || strings.ContainsAny(got, "\\\t\r\n\"<> ") {
			t.Errorf("%q leads to %q", next, got)
		}
	})
}
