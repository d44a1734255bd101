package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"harness/gateway"
)

// knock asks for something that stays open, on a connection that the test
// closes, and returns the answer's status and head.
func (h *house) knock(t testing.TB, as, request string) (io.Closer, *http.Response) {
	t.Helper()
	c, err := h.stranger().Dial("tcp", h.host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n", request, h.host, h.tokens[as])
	switch {
	case strings.Contains(request, "/ws"):
		io.WriteString(c, "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
	case strings.Contains(request, "/rpc"):
		io.WriteString(c, "Connection: Upgrade\r\nUpgrade: "+upgradeTo+"\r\n\r\n")
	default:
		io.WriteString(c, "Accept: text/event-stream\r\n\r\n")
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("%s as %s: %v", request, as, err)
	}
	return c, resp
}

// TestConnectionsOfAUserAreBounded meets each bound exactly, with two of the
// user's tokens: then there is room for others, for an admin, and for the user
// itself as soon as something is closed.
func TestConnectionsOfAUserAreBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mine, bobs := h.session(t, "ada", ""), h.session(t, "bob", "")
	for _, c := range []struct {
		what, path string
		limit, ok  int
	}{
		{"WebSockets", "GET /ws?sessionId=", gateway.MaxWebSockets, 101},
		{"event streams", "GET /sessions/%s/events/stream", gateway.MaxStreams, 200},
		{"JSON-RPC connections", "GET /rpc?", gateway.MaxLines, 101},
	} {
		t.Run(strings.ReplaceAll(c.what, " ", "_"), func(t *testing.T) {
			of := func(id string) string {
				if strings.Contains(c.path, "%s") {
					return fmt.Sprintf(c.path, id)
				}
				return c.path + id
			}
			var open []io.Closer
			for i := range c.limit {
				conn, resp := h.knock(t, []string{"ada", "ada-viewer"}[i%2], of(mine))
				if resp.StatusCode != c.ok {
					t.Fatalf("the %d.: %s", i+1, resp.Status)
				}
				open = append(open, conn)
			}
			for _, as := range []string{"ada", "ada-operator"} {
				h.refused(t, "one more as "+as, func() {
					if _, resp := h.knock(t, as, of(mine)); resp.StatusCode != 429 || resp.Header.Get("Retry-After") == "" {
						t.Errorf("one more as %s: %s", as, resp.Status)
					}
				})
			}
			if c.what == "event streams" {
				h.unchanged(t, func() { // what would be answered by a stream is not even begun
					got := h.denied(t, ask{as: "ada", method: "POST", path: "/chat/sessions/" + mine + "/turns", body: `{"prompt":"attack"}`, header: http.Header{"Accept": {"text/event-stream"}}})
					if got.status != 429 || !strings.Contains(got.body, `"too_many_requests"`) {
						t.Errorf("a turn: %d %s", got.status, got.body)
					}
				})
			}
			for as, id := range map[string]string{"bob": bobs, "owner": mine} {
				if conn, resp := h.knock(t, as, of(id)); resp.StatusCode != c.ok {
					t.Errorf("as %s: %s", as, resp.Status)
				} else {
					conn.Close()
				}
			}
			open[3].Close()
			for end := time.Now().Add(patience); ; {
				conn, resp := h.knock(t, "ada", of(mine))
				if resp.StatusCode == c.ok {
					open[3] = conn
					break
				}
				if time.Now().After(end) {
					t.Fatalf("after one was closed: %s", resp.Status)
				}
			}
			if _, resp := h.knock(t, "ada", of(mine)); resp.StatusCode != 429 {
				t.Errorf("one more again: %s", resp.Status)
			}
			for _, conn := range open {
				conn.Close()
			}
		})
	}
}

// TestSessionsOfAUserAreBounded on every protocol.
func TestSessionsOfAUserAreBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "--max-sessions-per-user", "3")
	first := h.session(t, "ada", "hello")
	h.session(t, "ada-operator", "")
	h.session(t, "ada", "")
	h.settled(t)
	refused := func() {
		t.Helper()
		h.unchanged(t, func() {
			for path, body := range map[string]string{"/chat/sessions": `{"title":"x"}`, "/chat/sessions/" + first + "/branch": `{}`} {
				got := h.denied(t, ask{as: "ada", method: "POST", path: path, body: body})
				if got.status != 403 || !strings.Contains(got.body, `"quota_exceeded"`) {
					t.Errorf("%s: %d %s", path, got.status, got.body)
				}
			}
			v, _ := h.viewAs(t, "ada", "") // ada's default session, which is not there yet
			if f := h.denies(t, v, `"type":"submit","prompt":"attack"`); f.Code != "quota_exceeded" {
				t.Errorf("WebSocket: %+v", f)
			}
			if a := h.declines(t, h.speakAs(t, "ada"), "thread.create", "{}"); a.Error.Code != -32007 || a.Error.Data.Code != "quota_exceeded" {
				t.Errorf("JSON-RPC: %+v", a)
			}
		})
	}
	refused()
	h.session(t, "bob", "")
	for range 4 {
		h.session(t, "owner", "")
	}
	if got := h.send(t, ask{as: "ada", method: "DELETE", path: "/sessions/" + first}); got.status != 204 {
		t.Fatalf("remove: %d %s", got.status, got.body)
	}
	first = h.session(t, "ada", "hello")
	h.settled(t)
	refused()
}

// TestCommandsOfAUserAreBounded: too many over one WebSocket are answered, each
// with an error; the same user hears the same everywhere, and others nothing.
func TestCommandsOfAUserAreBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id, bobs := h.session(t, "ada", "hello"), h.session(t, "bob", "hello")
	h.settled(t)
	v, _ := h.viewAs(t, "ada", "?sessionId="+id)
	batch := `{"type":"commands","commands":[` + strings.TrimSuffix(strings.Repeat(`{"type":"cancel"},`, 64), ",") + `]}`
	const flood = 8000
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	seen, began := map[string]int{}, time.Now()
	for range flood / 64 {
		if err := v.ws.Write(ctx, websocket.MessageText, []byte(batch)); err != nil {
			t.Fatal(err)
		}
		for range 64 {
			f, err := v.next()
			if err != nil {
				t.Fatalf("after %v: %v", seen, err)
			}
			seen[f.Code]++
		}
	}
	took := time.Since(began)
	if most := 2000 + int(took/(2*time.Millisecond)) + 64; seen["not_running"] < 1000 || seen["not_running"] > most || seen["too_many_requests"] != flood-seen["not_running"] {
		t.Errorf("in %s: %v", took, seen)
	}
	t.Logf("in %s: %v", took, seen)
	h.bounded(t, "audit.log", `"result":"too_many_requests"`, took)
	w, _ := h.viewAs(t, "bob", "?sessionId="+bobs)
	acked(t, w.do(`"type":"configure","config":{"model":"m"}`))
	h.exhaust(t, v, ctx, batch)
	if f := v.do(`"type":"configure","config":{"model":"m"}`); f.Code != "" && f.Code != "too_many_requests" {
		t.Errorf("%+v", f)
	}
}

// bounded fails unless a flood has as many lines in the audit as the bound of
// one party allows in that time.
func (h *house) bounded(t testing.TB, log, text string, took time.Duration) {
	t.Helper()
	if n := len(h.lines(t, log, text)); n < 1 || n > 1000+2+int(took/(10*time.Second)) {
		t.Errorf("%s has %d lines with %s", log, n, text)
	}
}

// exhaust meets the limit again and again until HTTP and JSON-RPC have met it
// as well: some room comes back while one asks.
func (h *house) exhaust(t *testing.T, v *viewer, ctx context.Context, batch string) {
	t.Helper()
	s := h.speakAs(t, "ada")
	http429, rpc32007 := false, false
	for !http429 || !rpc32007 {
		if err := v.ws.Write(ctx, websocket.MessageText, []byte(batch)); err != nil {
			t.Fatal(err)
		}
		for range 64 {
			if _, err := v.next(); err != nil {
				t.Fatal(err)
			}
		}
		got := h.send(t, ask{as: "ada", method: "POST", path: "/chat/sessions", body: `{"title":"attack"}`})
		if got.status == 429 {
			http429 = true
			if got.header.Get("Retry-After") == "" || got.header.Get("Content-Type") != "application/problem+json" || !strings.Contains(got.body, `"too_many_requests"`) {
				t.Errorf("%v %s", got.header, got.body)
			}
		}
		if a := s.call("thread.create", "{}"); a.Error.Code != 0 {
			rpc32007 = true
			if a.Error.Code != -32007 || a.Error.Data.Code != "too_many_requests" {
				t.Errorf("%+v", a)
			}
		}
		if ctx.Err() != nil {
			t.Fatalf("HTTP refused: %t, JSON-RPC: %t", http429, rpc32007)
		}
	}
}
