package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"harness/gateway"
)

// TestAStrangerThatDoesNotReadIsCutOff, while a caller on the same connection is
// told something for as long as it listens, also after something public.
func TestAStrangerThatDoesNotReadIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		names, err := gateway.NewNames(l.Addr(), false)
		if err != nil {
			t.Fatal(err)
		}
		e := gateway.NewEdge(names, gateway.NewAuth(names, gateway.AuthOptions{Off: true}), nil)
		e.Handle(gateway.Route{Pattern: "GET /healthz", Public: true}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }))
		e.Handle(gateway.Route{Pattern: "GET /long"}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Hour) // sleep: the bubble's clock is what is tested
			fmt.Fprintln(w, "done")
		}))
		srv := e.Server(slog.New(slog.DiscardHandler))
		var serving sync.WaitGroup
		serving.Go(func() { srv.Serve(l) })
		dial := func() net.Conn {
			client, server := net.Pipe()
			l.conns <- server
			return client
		}
		for what, head := range map[string]string{
			"public": "GET /healthz HTTP/1.1\r\nHost: localhost:7717\r\n\r\n", "refused": "GET /long HTTP/1.1\r\nHost: evil\r\n\r\n", "all": "OPTIONS * HTTP/1.1\r\nHost: evil\r\n\r\n",
		} {
			c := dial()
			io.WriteString(c, head)
			time.Sleep(gateway.AnswerFor + time.Second) // sleep: as above
			if got, _ := io.ReadAll(c); len(got) > 0 {
				t.Errorf("%s: it is still told %q", what, got)
			}
		}
		c := dial()
		in := bufio.NewReader(c)
		for _, path := range []string{"/healthz", "/long"} {
			fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost:7717\r\n\r\n", path)
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			io.Copy(io.Discard, resp.Body)
		}
		c.Close()
		srv.Close()
		serving.Wait()
	})
}

// TestOptionsOfTheServerMeetTheEdge like any other request.
func TestOptionsOfTheServerMeetTheEdge(t *testing.T) {
	t.Parallel()
	s := newSite(t, gateway.AuthOptions{}, gateway.EdgeOptions{})
	for head, want := range map[string]string{
		"Host: evil.example\r\n":                                "421",
		"Host: " + s.host + "\r\n":                              "401",
		"Host: evil.example\r\nContent-Length: 3\r\n\r\nabc":    "421",
		"Host: " + s.host + "\r\nOrigin: https://evil.test\r\n": "403",
	} {
		c, err := net.Dial("tcp", s.host)
		if err != nil {
			t.Fatal(err)
		}
		c.SetDeadline(time.Now().Add(time.Minute))
		io.WriteString(c, "OPTIONS * HTTP/1.1\r\nConnection: close\r\n"+head+"\r\n")
		if got, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 "+want) {
			t.Errorf("%q: %.60q, %v", head, got, err)
		}
		c.Close()
	}
}

func TestNoTwoUsersOfAProviderBecomeOne(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, word := range []string{"ada", "auth0|victim", gateway.UserID("auth0|victim"), gateway.UserID(gateway.UserID("auth0|victim")), "usr_ada", "usr_"} {
		id := gateway.UserID(word)
		if other, ok := seen[id]; ok {
			t.Errorf("%q and %q are both %s", word, other, id)
		}
		seen[id] = word
	}
}
