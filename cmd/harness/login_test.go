package main

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

var loginURL = regexp.MustCompile(`(http://\S+/login)#code=(\S+)`)

// printedLogin is the URL that the server prints at its start.
func (p *process) printedLogin() (page, code string) {
	p.t.Helper()
	var m []string
	until(p.t, "a login to be printed", func() bool { m = loginURL.FindStringSubmatch(p.output()); return m != nil })
	return m[1], m[2]
}

// exchange is what the login page does with its code.
func (h *house) exchange(t testing.TB, code string) reply {
	t.Helper()
	return h.send(t, ask{method: "POST", path: "/login", body: fmt.Sprintf(`{"code":%q,"next":"/"}`, code), header: http.Header{"Origin": {h.http}}})
}

func (h *house) socketWith(t testing.TB, header http.Header) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ws, resp, err := websocket.Dial(ctx, h.ws+"?userId=ada", &websocket.DialOptions{HTTPHeader: header})
	if err == nil {
		ws.CloseNow()
	}
	if resp == nil {
		t.Fatal(err)
		return 0
	}
	return resp.StatusCode
}

func TestThePrintedURLLogsABrowserInOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	page, code := h.printedLogin()
	if page != h.http+"/login" {
		t.Errorf("the page is %s", page)
	}
	got := h.exchange(t, code)
	set := got.header.Get("Set-Cookie")
	if got.status != 200 || !strings.Contains(set, "HttpOnly") || !strings.Contains(set, "SameSite=Strict") || !strings.Contains(set, "Path=/") || strings.Contains(set, "Domain") {
		t.Fatalf("%d %s, cookie %q", got.status, got.body, set)
	}
	value, _, _ := strings.Cut(set, ";")
	cookie := http.Header{"Cookie": {value}}
	if got := h.send(t, ask{method: "GET", path: "/whoami", header: cookie}); !strings.Contains(got.body, `"role":"admin"`) {
		t.Errorf("whoami: %d %s", got.status, got.body)
	}
	if status := h.socketWith(t, with(cookie, "Origin", h.http)); status != 101 {
		t.Errorf("WebSocket with the cookie: %d", status)
	}
	for what, header := range map[string]http.Header{
		"no origin": cookie, "another": with(cookie, "Origin", "http://localhost:1"), "no cookie": {"Origin": {h.http}},
		"another cookie": {"Origin": {h.http}, "Cookie": {value + "x"}}, "cross-site": with(cookie, "Origin", h.http, "Sec-Fetch-Site", "cross-site"),
	} {
		if status := h.socketWith(t, header); status != 403 && status != 401 {
			t.Errorf("WebSocket with %s: %d", what, status)
		}
	}
	created := h.send(t, ask{method: "POST", path: "/chat/sessions", body: `{}`, header: with(cookie, "Origin", h.http, "Sec-Fetch-Site", "same-origin")})
	if created.status != 201 {
		t.Errorf("create with the cookie: %d %s", created.status, created.body)
	}
	if got := h.send(t, ask{method: "POST", path: "/logout", header: cookie}); got.status != 403 {
		t.Errorf("logged out by no page of ours: %d", got.status)
	}
	if got := h.send(t, ask{method: "POST", path: "/logout", header: with(cookie, "Origin", h.http)}); got.status != 200 || !strings.Contains(got.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("log out: %d %v", got.status, got.header)
	}
	if got := h.send(t, ask{method: "GET", path: "/whoami", header: cookie}); got.status != 401 {
		t.Errorf("the cookie after logging out: %d", got.status)
	}
	if got := h.exchange(t, code); got.status != 401 || got.header.Get("Set-Cookie") != "" {
		t.Errorf("the URL again: %d %s", got.status, got.body)
	}
}

func TestHarnessLoginPrintsAnotherURL(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	cmd := invocation(t, "login")
	cmd.Env = append(cmd.Env, "HARNESS_DATA="+h.dir)
	first := finish(t, cmd)
	m := loginURL.FindStringSubmatch(first.stdout)
	if first.code != 0 || m == nil || m[1] != h.http+"/login" {
		t.Fatalf("exit code %d\n%s%s", first.code, first.stdout, first.stderr)
	}
	if got := h.exchange(t, m[2]); got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
	cmd = invocation(t, "login", "--connect", h.http) // as another, with a token
	cmd.Env = append(cmd.Env[:3:3], "HARNESS_TOKEN="+h.tokens["bob-viewer"])
	m = loginURL.FindStringSubmatch(finish(t, cmd).stdout)
	if m == nil {
		t.Fatal("no URL for bob")
	}
	got := h.exchange(t, m[2])
	value, _, _ := strings.Cut(got.header.Get("Set-Cookie"), ";")
	if who := h.send(t, ask{method: "GET", path: "/whoami", header: http.Header{"Cookie": {value}}}); !strings.Contains(who.body, `"user":"bob"`) || !strings.Contains(who.body, `"viewer"`) {
		t.Errorf("whoami: %s", who.body)
	}
	cmd = invocation(t, "login")
	cmd.Env = append(cmd.Env, "HARNESS_DATA="+t.TempDir())
	o := finish(t, cmd)
	o.failed(t, 1, "no server of", "harness serve")
	if strings.Contains(o.stderr, "session") {
		t.Errorf("it speaks of something else, too: %s", o.stderr)
	}
}

// TestASubprotocolCarriesTheToken, for pages that cannot set headers.
func TestASubprotocolCarriesTheToken(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	dial := func(protocols ...string) (string, int) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		ws, resp, err := websocket.Dial(ctx, h.ws+"?userId=ada", &websocket.DialOptions{Subprotocols: protocols})
		if resp == nil {
			t.Fatal(err)
		}
		if err == nil {
			defer ws.CloseNow()
			return ws.Subprotocol(), resp.StatusCode
		}
		return "", resp.StatusCode
	}
	if name, status := dial("harness.v1", "bearer."+h.tokens["ada"]); status != 101 || name != "harness.v1" {
		t.Errorf("%d, agreed to %q", status, name)
	}
	for _, protocols := range [][]string{{"harness.v1"}, {"harness.v1", "bearer."}, {"harness.v1", "bearer.x"}, {"bearer." + h.tokens["ada"], "bearer." + h.tokens["bob"]}} {
		if _, status := dial(protocols...); status != 401 {
			t.Errorf("%q: %d", protocols, status)
		}
	}
}
