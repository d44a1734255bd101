package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"harness"
	"harness/gateway"
)

// TestAScopeHoldsOnEveryProtocol: what a scope does not leave is forbidden over
// WebSocket and JSON-RPC as it is over HTTP, changes nothing, and is in the
// audit; what it leaves is done.
func TestAScopeHoldsOnEveryProtocol(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.session(t, "ada", "ask")
	request, call := h.question(t, id)
	h.unchanged(t, func() {
		for _, as := range []string{"ada-reader", "ada-bot", "ada-pager", "page"} {
			who := harness.Caller{Role: harness.CallerRole(guests[as][1]), Scope: harness.CallerScope(guests[as][2])}
			if as != "page" {
				v, _ := h.viewAs(t, as, "?sessionId="+id)
				for command, a := range commandsOf {
					if gateway.May(who, a) && (a != gateway.Trust || gateway.May(who, gateway.Configure)) {
						continue
					}
					if f := h.denies(t, v, "%s", strings.NewReplacer("{id}", id, "{call}", call).Replace(command)); f.Code != "forbidden" {
						t.Errorf("%s as %s: %+v", command, as, f)
					}
				}
			}
			s := h.speakAs(t, as)
			for method, a := range methodsOf {
				if gateway.May(who, a) {
					continue
				}
				params := strings.NewReplacer("{id}", id, "{request}", request, "{rule}", "rul_1").Replace(ofThread[method].params)
				if params == "" {
					params = "{}"
				}
				if got := h.declines(t, s, method, params); got.Error.Code != -32006 {
					t.Errorf("%s as %s: %s %+v", method, as, got.Result, got.Error)
				}
			}
		}
	})
	bot, _ := h.viewAs(t, "ada-bot", "?sessionId="+id)
	acked(t, bot.do(`"type":"steer","message":"hurry"`))
	pager := h.speakAs(t, "ada-pager")
	if a := pager.call("approval.respond", fmt.Sprintf(`{"requestId":%q,"decision":"once"}`, request)); a.Error.Code != 0 {
		t.Errorf("the pager's answer: %+v", a.Error)
	}
	who := h.must(t, ask{as: "ada-bot", method: "GET", path: "/whoami"})
	if fmt.Sprint(who["scope"]) != "[read submit]" {
		t.Errorf("whoami is %v", who)
	}
	cookie := h.browser(t, "ada-reader") // a login has no more than the token that made it
	cookie.Set("Origin", h.http)
	if got := h.attack(t, ask{method: "PATCH", path: "/sessions/" + id, body: `{"title":"x"}`, header: cookie}); got.status != 403 {
		t.Errorf("a reader's login: %d %s", got.status, got.body)
	}
	if got := h.send(t, ask{as: "wall", method: "GET", path: "/sessions"}); !strings.Contains(got.body, id) {
		t.Errorf("the wall sees %s", got.body)
	}
}

// TestOutsideItsPlacesAScopeFindsNothing: a session that the scope does not
// name, by its id or its directory, is answered like one that is not there, on
// every protocol.
func TestOutsideItsPlacesAScopeFindsNothing(t *testing.T) {
	t.Parallel()
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	site := filepath.Join(work, "site")
	for _, dir := range []string{site, filepath.Join(work, "sitemap")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h := newHouse(t, "--cwd", work)
	h.tokens["site"] = h.grant(t, "site", "ada", "approver", "--scope", "dir:"+site)
	h.knows(t, "site")
	e := h.estate(t)
	for _, as := range []string{"page", "site"} {
		h.unchanged(t, func() {
			for _, q := range ofSession {
				q.as = as
				outside, absent := h.denied(t, q.on(e.id)), h.denied(t, q.on(absentID))
				if outside.status != 404 || strings.ReplaceAll(outside.body, e.id, absentID) != absent.body {
					t.Errorf("%s %s as %s: %d %s, of nobody %d %s", q.method, q.path, as, outside.status, outside.body, absent.status, absent.body)
				}
			}
			for _, path := range []string{"/sessions", "/chat/sessions", "/approvals", "/approvals?session_id=" + e.id, "/rules"} {
				if got := h.send(t, ask{as: as, method: "GET", path: path}); got.status != 200 || strings.Contains(got.body, e.id) || strings.Contains(got.body, e.request) || strings.Contains(got.body, e.rule) {
					t.Errorf("%s as %s: %d %s", path, as, got.status, got.body)
				}
			}
			h.refused(t, "/ws as "+as, func() {
				if v, status := h.viewAs(t, as, "?sessionId="+e.id); v != nil || status != 404 {
					t.Errorf("/ws as %s: %d", as, status)
				}
			})
			s := h.speakAs(t, as)
			for method, c := range ofThread {
				a := h.declines(t, s, method, strings.NewReplacer("{id}", e.id, "{request}", e.request, "{rule}", e.rule).Replace(c.params))
				if a.Error.Code != c.absent {
					t.Errorf("%s as %s: %s %+v", method, as, a.Result, a.Error)
				}
			}
		})
	}
	if v, status := h.viewAs(t, "page", ""); v == nil {
		t.Errorf("the page's own session: %d", status)
	}
	h.refused(t, "ada's default session, elsewhere", func() {
		if v, status := h.viewAs(t, "site", "?userId=ada"); v != nil || status != 404 {
			t.Errorf("ada's default session, elsewhere: %d", status)
		}
	})
	for body, want := range map[string]int{`{}`: 403, fmt.Sprintf(`{"directory":%q}`, site): 403} {
		if got := h.attack(t, ask{as: "page", method: "POST", path: "/chat/sessions", body: body}); got.status != want {
			t.Errorf("the page makes a session with %s: %d %s", body, got.status, got.body)
		}
	}
	for body, want := range map[string]int{`{}`: 201, fmt.Sprintf(`{"directory":%q}`, site): 201, fmt.Sprintf(`{"directory":%q}`, work): 403, fmt.Sprintf(`{"directory":%q}`, site+"map"): 403} {
		var got reply
		h.leaves(t, body, want/400, func() { got = h.send(t, ask{as: "site", method: "POST", path: "/chat/sessions", body: body}) }) // one if it is refused
		if got.status != want || want == 201 && !strings.Contains(got.body, fmt.Sprintf(`"directory":%q`, site)) {
			t.Errorf("the site makes a session with %s: %d %s", body, got.status, got.body)
		}
	}
	list := mustRun(t, "token", "ls", "--data", h.dir)
	if !strings.Contains(list, "dir:"+site) || !strings.Contains(list, "read,submit") {
		t.Errorf("the list is\n%s", list)
	}
	if o := invoke(t, "token", "add", "--data", h.dir, "--user", "ada", "--scope", "write", "x"); o.code == 0 || !strings.Contains(o.stderr, "read, submit") {
		t.Errorf("a scope that is none: %d %s", o.code, o.stderr)
	}
}
