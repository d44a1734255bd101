package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"harness"
	"harness/engine/script"
	"harness/gateway"
	"harness/internal/redact"
	"harness/kernel"
	"harness/store/memory"
)

// routesOf are the routes of a server with these flags, from the edge itself.
func routesOf(t *testing.T, args ...string) []gateway.Route {
	t.Helper()
	p := &program{stdout: io.Discard, stderr: io.Discard, getenv: func(string) string { return "" }}
	f := p.flags("serve", "", "")
	d := f.door()
	if err := f.parse(args, 0, 0); err != nil {
		t.Fatal(err)
	}
	hidden, err := redact.New()
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := script.Parse("say hi")
	if err != nil {
		t.Fatal(err)
	}
	store := memory.New()
	k := kernel.New(store, map[string]harness.Engine{"script": script.New(parsed, nil)}, &kernel.Options{Engine: "script"})
	s := &surface{k: k, log: slog.New(slog.DiscardHandler), secrets: secrets{hidden}, ready: t.Context()}
	if err := s.open(t.Context(), store, d, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7717}, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.shutdown(t.Context()); k.Close() })
	return s.edge.Routes()
}

// public is every route that may be open: the machine's keepers, and those who
// are not known yet because they log in.
var public = []string{"GET /healthz", "GET /login", "GET /login.css", "GET /login.js", "GET /readyz", "POST /login"}

// further are those that a login by an identity provider needs.
var further = []string{"GET /login/callback", "GET /login/provider"}

// vouched are the flags of a server that lets in whom an identity provider
// vouches for, which vouches for nobody.
func vouched(t testing.TB) []string {
	t.Helper()
	var web *httptest.Server
	web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/.well-known/openid-configuration" {
			io.WriteString(w, `{"keys":[]}`)
			return
		}
		fmt.Fprintf(w, `{"issuer":%[1]q,"jwks_uri":"%[1]s/keys","authorization_endpoint":"%[1]s/auth","token_endpoint":"%[1]s/token"}`, web.URL)
	}))
	t.Cleanup(web.Close)
	return []string{"--oidc-issuer", web.URL, "--oidc-client", "harness", "--oidc-roles", "staff=operator", "--oidc-default-role", "viewer"}
}

func TestEveryRouteIsClosedButThoseThatMustBeOpen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flags, open []string
	}{{nil, public}, {vouched(t), slices.Concat(public, further)}} {
		var open []string
		for _, r := range routesOf(t, c.flags...) {
			if r.Public {
				open = append(open, r.Pattern)
			}
		}
		slices.Sort(open)
		if !slices.Equal(open, slices.Sorted(slices.Values(c.open))) {
			t.Errorf("with %q open are %q, want %q", c.flags, open, c.open)
		}
	}
}

// TestStrangersAreAnsweredAlikeEverywhere is attack 16: every route of the
// server, every documented operation and what leads nowhere, without a token,
// with a wrong one and with the right one where none belongs.
// It is the same with an identity provider, whose tokens are tried as well.
func TestStrangersAreAnsweredAlikeEverywhere(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"tokens": nil, "an identity provider": vouched(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			strangers(t, flags)
		})
	}
}

func strangers(t *testing.T, flags []string) {
	h := newHouse(t, flags...)
	id := h.session(t, "ada", "ask")
	request, _ := h.question(t, id)
	var asks []ask
	add := func(method, path string) {
		for name, value := range map[string]string{"{id}": id, "{request_id}": request, "{rule_id}": "rul_1", "{schedule_id}": "sch_1", "{name}": "hook", "{artifact_id}": "art_1", "{$}": ""} {
			path = strings.ReplaceAll(path, name, value)
		}
		asks = append(asks, ask{method: method, path: path})
	}
	for _, r := range routesOf(t, flags...) {
		method, path, ok := strings.Cut(r.Pattern, " ")
		if !ok {
			method, path = "GET", r.Pattern
		}
		if !r.Public {
			add(method, path)
		}
	}
	routes := len(asks)
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(h.send(t, ask{as: "ada", method: "GET", path: "/openapi.json"}).body), &doc); err != nil || len(doc.Paths) < 15 {
		t.Fatalf("%d paths are described, %v", len(doc.Paths), err)
	}
	for path, operations := range doc.Paths {
		for method := range operations {
			add(strings.ToUpper(method), path)
		}
	}
	if routes < 26 {
		t.Fatalf("only %d routes", routes)
	}
	for _, path := range []string{"/nothing", "/metrics", "/debug/pprof/", "/debug/vars", "/static/app.js", "/favicon.ico", "/.git/config", "/healthz/", "/healthz/../sessions", "/login/", "//sessions", "/sessions/"} {
		add("GET", path)
	}
	for _, method := range []string{"PUT", "DELETE", "PATCH", "POST"} {
		add(method, "/healthz")
		add(method, "/login/code")
	}
	for i := range asks {
		switch asks[i].path {
		case "/ws":
			asks[i].header, asks[i].path = upgrade(), "/ws?userId=ada"
		case "/rpc":
			asks[i].header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {upgradeTo}}
		}
	}
	h.unchanged(t, func() {
		for _, q := range asks {
			if q.method == "POST" || q.method == "PATCH" {
				q.body = `{"prompt":"x","decision":"allow","title":"stolen","message_id":"itm_1"}`
			}
			query := "?"
			if strings.Contains(q.path, "?") {
				query = "&"
			}
			for what, change := range map[string]func(q *ask){
				"no token": func(*ask) {},
				"a wrong token": func(q *ask) {
					q.header = with(q.header, "Authorization", "Bearer "+gateway.TokenPrefix+strings.Repeat("x", 43))
				},
				"a token that nobody signed": func(q *ask) {
					q.header = with(q.header, "Authorization", "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEiLCJhdWQiOiJoYXJuZXNzIiwicm9sZXMiOiJzdGFmZiJ9.")
				},
				"a token in the query": func(q *ask) { q.path += query + "token=" + h.token },
				"one under any name":   func(q *ask) { q.path += query + "x=" + h.token },
			} {
				c := q
				change(&c)
				var got reply
				h.refused(t, c.method+" "+q.path+" with "+what, func() { got = h.send(t, c) })
				if got.status != http.StatusUnauthorized || !strings.Contains(got.body, `"unauthenticated"`) || got.header.Get("WWW-Authenticate") == "" {
					t.Errorf("%s %s with %s: %d %s", c.method, q.path, what, got.status, got.body)
				}
			}
		}
	})
	h.logged(t, h.send(t, asks[0]))
}

// TestLookingChangesNothing is attack 15: every GET route, by somebody who may
// do everything.
func TestLookingChangesNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.session(t, "ada", "ask")
	h.question(t, id)
	stored := h.draw(t, id)
	h.unchanged(t, func() {
		for _, r := range routesOf(t) {
			method, path, ok := strings.Cut(r.Pattern, " ")
			if !ok || method != "GET" {
				continue
			}
			path = strings.NewReplacer("{id}", id, "{$}", "", "{artifact_id}", stored, "{file...}", "app.js", "{section}", "models", "{view...}", "tools").Replace(path)
			if strings.Contains(path, "{") {
				t.Fatalf("%s: what is to be asked for?", r.Pattern)
			}
			for _, method := range []string{"GET", "HEAD"} {
				if got := h.oddly(t, ask{as: "owner", method: method, path: path + "?userId=somebody&prompt=x"}); got.status >= 500 {
					t.Errorf("%s %s: %d", method, path, got.status)
				}
			}
		}
		h.harmless(t, "connecting", func() {
			v, status := h.viewAs(t, "owner", "?userId=nobody-yet")
			if status != 101 || v.now.SessionID == "" {
				t.Errorf("connecting: %d %+v", status, v)
			}
		})
	})
}

// TestStrangersLearnNothingOfTheServer is the rest of attack 16: what is open
// says that the server is there, and no more.
func TestStrangersLearnNothingOfTheServer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for path, want := range map[string]string{"/healthz": `{"ok":true}`, "/readyz": `{"ok":true,"auth":"on"}`} {
		if got := h.send(t, ask{method: "GET", path: path}); got.status != 200 || strings.TrimSpace(got.body) != want {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	for _, path := range []string{"/login", "/login.js"} {
		got := h.send(t, ask{method: "GET", path: path})
		for _, secret := range []string{h.dir, h.token, "ada", version()} {
			if got.status != 200 || strings.Contains(got.body+fmt.Sprint(got.header), secret) {
				t.Errorf("%s: %d, with %q in it", path, got.status, secret)
			}
		}
		for name, value := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin"} {
			if got.header.Get(name) != value {
				t.Errorf("%s: %s is %q", path, name, got.header.Get(name))
			}
		}
		if csp := got.header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: Content-Security-Policy %q", path, csp)
		}
	}
}
