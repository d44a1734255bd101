package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// page is what a logged-in browser has open. A channel closes when its
// connection does; the WebSocket's says with which code.
type page struct {
	cookie http.Header
	socket chan websocket.StatusCode
	events chan struct{}
}

func (h *house) page(t *testing.T, cookie http.Header, id string) page {
	t.Helper()
	p := page{cookie, make(chan websocket.StatusCode, 1), make(chan struct{})}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	ws, _, err := websocket.Dial(ctx, h.ws+"?sessionId="+id, &websocket.DialOptions{HTTPHeader: with(cookie, "Origin", h.http)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.CloseNow() })
	if _, _, err := ws.Read(ctx); err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			if _, _, err := ws.Read(ctx); err != nil {
				p.socket <- websocket.CloseStatus(err)
				return
			}
		}
	}()
	r, err := http.NewRequestWithContext(ctx, "GET", h.http+"/sessions/"+id+"/events/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = with(cookie, "Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(r)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%v, %v", resp, err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	lines := bufio.NewReader(resp.Body)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.events)
		io.Copy(io.Discard, lines)
	}()
	return p
}

func (p page) ends(t *testing.T) {
	t.Helper()
	late := time.After(patience)
	select {
	case code := <-p.socket:
		if code != websocket.StatusPolicyViolation {
			t.Errorf("the WebSocket ended with %d", code)
		}
	case <-late:
		t.Fatal("the WebSocket is still open")
	}
	select {
	case <-p.events:
	case <-late:
		t.Fatal("the event stream is still open")
	}
}

func (p page) stays(t *testing.T) {
	t.Helper()
	select {
	case code := <-p.socket:
		t.Errorf("the WebSocket of another browser ended with %d", code)
	case <-p.events:
		t.Error("the event stream of another browser ended")
	default:
	}
}

// TestLoggingOutClosesWhatTheBrowserHasOpen, and nothing of another browser of
// the same person, nor of the token that both came from.
func TestLoggingOutClosesWhatTheBrowserHasOpen(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.session(t, "ada", "")
	mine, other := h.page(t, h.browser(t, "ada"), id), h.page(t, h.browser(t, "ada"), id)
	token := h.open(t, "ada")
	got := h.send(t, ask{method: "POST", path: "/logout", header: with(mine.cookie, "Origin", h.http)})
	if got.status != 200 {
		t.Fatalf("log out: %d %s", got.status, got.body)
	}
	h.logged(t, got)
	mine.ends(t)
	if got := h.denied(t, ask{method: "GET", path: "/sessions", header: mine.cookie}); got.status != 401 {
		t.Errorf("the cookie still works: %d", got.status)
	}
	if got := h.send(t, ask{method: "GET", path: "/sessions", header: other.cookie}); got.status != 200 {
		t.Errorf("the other browser: %d", got.status)
	}
	other.stays(t)
	token.stays(t)

	// A page of another site cannot log anybody out.
	if got := h.denied(t, ask{method: "POST", path: "/logout", header: with(other.cookie, "Origin", "https://evil.example")}); got.status != 403 {
		t.Errorf("logged out by another site: %d", got.status)
	}
	other.stays(t)
}

// TestAPageThatIsNotThereIsAPage: who is logged in and looks for one is told so
// in a page, with every header that a page of ours has; a program gets a problem.
func TestAPageThatIsNotThereIsAPage(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	cookie := h.browser(t, "ada")
	for _, path := range []string{"/bogus", "/s", "/nothing/here", "/x/<script>alert(1)</script>"} {
		got := h.attack(t, ask{method: "GET", path: path, header: with(cookie, "Accept", "text/html,application/xhtml+xml,*/*;q=0.8")})
		if got.status != 404 || !strings.HasPrefix(got.header.Get("Content-Type"), "text/html") || !strings.Contains(got.body, "nothing at this address") || strings.Contains(got.body, "script") {
			t.Errorf("%s: %d %v %s", path, got.status, got.header, got.body)
		}
		if got.header.Get("Content-Security-Policy") == "" || got.header.Get("X-Content-Type-Options") != "nosniff" || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", path, got.header)
		}
		got = h.attack(t, ask{method: "GET", path: path, header: with(cookie, "Accept", "*/*")})
		if got.status != 404 || !strings.Contains(got.body, `"no_such_path"`) {
			t.Errorf("%s, to a program: %d %s", path, got.status, got.body)
		}
	}
	if got := h.attack(t, ask{method: "GET", path: "/bogus", header: http.Header{"Accept": {"text/html"}}}); got.status != 401 || strings.Contains(got.body, "nothing at") {
		t.Errorf("a stranger: %d %s", got.status, got.body)
	}
}
