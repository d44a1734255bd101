package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"harness/gateway"
)

// browser logs in as a page does, and returns the cookie's header.
func (h *house) browser(t testing.TB, as string) http.Header {
	t.Helper()
	code := h.must(t, ask{as: as, method: "POST", path: "/login/code"})["code"].(string)
	got := h.send(t, ask{method: "POST", path: "/login", body: fmt.Sprintf(`{"code":%q}`, code), header: http.Header{"Origin": {h.http}}})
	set, _, _ := strings.Cut(got.header.Get("Set-Cookie"), ";")
	if got.status != 200 || set == "" {
		t.Fatalf("log in: %d %s", got.status, got.body)
	}
	return http.Header{"Cookie": {set}}
}

// TestAttacksBeforeAnybodyIsKnown are the attacks of the list that a request's
// head is enough for.
func TestAttacksBeforeAnybodyIsKnown(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.session(t, "ada", "hello")
	cookie := h.browser(t, "ada")
	ours, ok := h.http, "Bearer "+h.tokens["ada"]
	other := "http://localhost:1"
	turns := "/chat/sessions/" + id + "/turns"
	socket := func(number int, name string, want int, host string, more ...string) struct {
		number int
		name   string
		want   int
		q      ask
	} {
		return struct {
			number int
			name   string
			want   int
			q      ask
		}{number, name, want, ask{method: "GET", path: "/ws?sessionId=" + id, host: host, header: upgrade(more...)}}
	}
	type row = struct {
		number int
		name   string
		want   int
		q      ask
	}
	act := func(number int, name string, want int, header http.Header) row {
		return row{number, name, want, ask{method: "POST", path: turns, body: `{"prompt":"attack"}`, header: header}}
	}
	host := func(number int, name string, want int, host string) row {
		return row{number, name, want, ask{as: "ada", method: "POST", path: turns, body: `{"prompt":"attack"}`, host: host}}
	}
	rows := []row{
		socket(1, "no token", 401, ""),
		socket(1, "a user in the query is nobody", 401, "", "X-User", "ada"),
		socket(2, "a page of another site", 403, "", "Authorization", ok, "Origin", "https://evil.example"),
		socket(2, "the same with the cookie", 403, "", "Cookie", cookie.Get("Cookie"), "Origin", "https://evil.example"),
		socket(3, "a page of nowhere", 403, "", "Authorization", ok, "Origin", "null"),
		socket(4, "rebound", 421, "evil.example:"+h.port, "Authorization", ok, "Origin", "http://evil.example:"+h.port),
		socket(4, "rebound, with the cookie", 421, "evil.example:"+h.port, "Cookie", cookie.Get("Cookie"), "Origin", "http://evil.example:"+h.port),
		socket(5, "a page of another port", 403, "", "Authorization", ok, "Origin", other),
		socket(6, "our address as prefix", 403, "", "Authorization", ok, "Origin", "http://127.0.0.1.evil.com"),
		socket(6, "our name as prefix", 403, "", "Authorization", ok, "Origin", "http://localhost.evil.com"),
		socket(6, "our name as user", 403, "", "Authorization", ok, "Origin", "http://localhost:"+h.port+"@evil.com"),
		socket(6, "our name in capitals", 403, "", "Authorization", ok, "Origin", "http://LOCALHOST:"+h.port),
		host(7, "another name", 421, "evil"),
		host(7, "two ports", 421, "127.0.0.1:"+h.port+":80"),
		host(7, "a dot behind", 421, "127.0.0.1."),
		host(7, "a dot behind, with the port", 421, "127.0.0.1.:"+h.port),
		host(7, "no port", 421, "127.0.0.1"),
		act(8, "nothing behind Bearer", 401, http.Header{"Authorization": {"Bearer "}}),
		act(8, "null", 401, http.Header{"Authorization": {"Bearer null"}}),
		act(8, "x", 401, http.Header{"Authorization": {"Bearer x"}}),
		act(8, "Basic", 401, http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte("ada:"+h.tokens["ada"]))}}),
		act(8, "the token twice", 401, http.Header{"Authorization": {ok, ok}}),
		act(8, "with a comma", 401, http.Header{"Authorization": {ok + ", " + ok}}),
		act(8, "its hash", 401, http.Header{"Authorization": {fmt.Sprintf("Bearer %x", sha256.Sum256([]byte(h.tokens["ada"])))}}),
		act(9, "a prefix", 401, http.Header{"Authorization": {ok[:len(ok)-1]}}),
		act(9, "a suffix", 401, http.Header{"Authorization": {"Bearer " + h.tokens["ada"][1:]}}),
		act(9, "more", 401, http.Header{"Authorization": {ok + "A"}}),
		act(9, "another case", 401, http.Header{"Authorization": {"Bearer " + strings.ToUpper(h.tokens["ada"])}}),
		act(9, "without hk_", 401, http.Header{"Authorization": {"Bearer " + strings.TrimPrefix(h.tokens["ada"], gateway.TokenPrefix)}}),
		act(13, "a form of text with the cookie", 403, with(cookie, "Content-Type", "text/plain", "Origin", "https://evil.example")),
		act(13, "the same without an origin", 403, with(cookie, "Content-Type", "text/plain")),
		act(13, "our own page, but a form", 415, with(cookie, "Content-Type", "text/plain", "Origin", ours)),
		act(13, "a form", 415, http.Header{"Authorization": {ok}, "Content-Type": {"application/x-www-form-urlencoded"}}),
		act(14, "cross-site", 403, with(cookie, "Origin", ours, "Sec-Fetch-Site", "cross-site")),
		act(14, "same-site", 403, with(cookie, "Origin", ours, "Sec-Fetch-Site", "same-site")),
		act(14, "another port's page", 403, with(cookie, "Origin", other, "Sec-Fetch-Site", "same-site")),
		socket(14, "an upgrade with the cookie alone", 403, "", "Cookie", cookie.Get("Cookie")),
		{17, "preflight", 403, ask{method: "OPTIONS", path: turns, header: http.Header{"Origin": {"https://evil.example"}, "Access-Control-Request-Method": {"POST"}}}},
		{17, "preflight of ours, without a token", 401, ask{method: "OPTIONS", path: turns, header: http.Header{"Origin": {ours}, "Access-Control-Request-Method": {"POST"}}}},
		act(18, "a JWT without a provider", 401, http.Header{"Authorization": {"Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ."}}),
		act(21, "a user said by a header", 401, http.Header{"X-Forwarded-User": {"ada"}, "X-Forwarded-For": {"127.0.0.1"}, "X-Remote-User": {"ada"}, "Forwarded": {"for=127.0.0.1"}}),
	}
	for _, a := range rows {
		t.Run(fmt.Sprintf("%d_%s", a.number, strings.ReplaceAll(a.name, " ", "_")), func(t *testing.T) {
			if a.q.header.Get("Content-Type") == "" && a.q.body != "" {
				a.q.header = with(a.q.header, "Content-Type", "application/json")
			}
			got := h.attack(t, a.q)
			if got.status != a.want {
				t.Errorf("%d %s, want %d", got.status, got.body, a.want)
			}
			if got.header.Get("Access-Control-Allow-Origin") != "" || got.header.Get("Content-Security-Policy") == "" {
				t.Errorf("headers %v", got.header)
			}
		})
	}
}

// TestOddHeadsReachNothing is the rest of attack 7, and of 9: what no client of
// ours can even write. Each has one line in the log, also what net/http cannot
// read.
func TestOddHeadsReachNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.session(t, "ada", "")
	head := func(line string, more ...string) string {
		return line + " HTTP/1.1\r\n" + strings.Join(more, "\r\n") + "\r\nAuthorization: Bearer " + h.tokens["ada"] + "\r\nContent-Type: application/json\r\nConnection: close\r\n"
	}
	const body = "Content-Length: 14\r\n\r\n" + `{"prompt":"x"}`
	post := "POST /chat/sessions/" + id + "/turns"
	for name, c := range map[string]struct{ text, want string }{
		"two hosts":            {head(post, "Host: "+h.host, "Host: evil") + body, "400"},
		"the same host twice":  {head(post, "Host: "+h.host, "Host: "+h.host) + body, "400"},
		"no host":              {head(post, "X: y") + body, "400"},
		"an empty host":        {head(post, "Host:") + body, "421"},
		"another absolute URI": {head("POST http://evil.example/chat/sessions/"+id+"/turns", "Host: "+h.host) + body, "421"},
		"a user in the host":   {head(post, "Host: evil@"+h.host) + body, "4"},
		"NUL in the token":     {post + " HTTP/1.1\r\nHost: " + h.host + "\r\nAuthorization: Bearer " + h.tokens["ada"] + "\x00\r\nConnection: close\r\n" + body, "400"},
		"two lengths":          {head(post, "Host: "+h.host, "Content-Length: 1") + body, "400"},
		"length and chunks":    {head(post, "Host: "+h.host, "Transfer-Encoding: chunked") + body + "\r\n", "4"},
		"17 KiB of headers":    {head(post, "Host: "+h.host, "X: "+strings.Repeat("x", 17<<10)) + body, "4"},
		"CONNECT":              {head("CONNECT evil.example:443", "Host: evil.example:443") + "\r\n", "421"},
		"TRACE":                {head("TRACE /sessions", "Host: "+h.host) + "\r\n", "405"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			h.unchanged(t, func() {
				c0, err := h.stranger().Dial("tcp", h.host)
				if err != nil {
					t.Fatal(err)
				}
				defer c0.Close()
				c0.SetDeadline(time.Now().Add(patience))
				h.refused(t, name, func() {
					if _, err := io.WriteString(c0, c.text); err != nil {
						t.Fatal(err)
					}
					line, err := bufio.NewReader(c0).ReadString('\n')
					if err != nil || !strings.HasPrefix(line, "HTTP/1.1 "+c.want) {
						t.Errorf("%q, %v, want %s", line, err, c.want)
					}
					c0.Close()
				})
				if all := h.lines(t, "access.log", `"remote":"`+c0.LocalAddr().String()+`"`); len(all) != 1 {
					t.Errorf("the access log has %q", all)
				}
			})
		})
	}
}

// TestWhatAClientSaysOfItselfIsIgnored is attack 21 by somebody who is known.
func TestWhatAClientSaysOfItselfIsIgnored(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	claims := http.Header{"X-Forwarded-User": {"bob"}, "X-Forwarded-For": {"127.0.0.1"}, "X-Role": {"admin"}, "X-Scopes": {"admin"}}
	var who map[string]any
	h.harmless(t, "claims that nobody reads", func() {
		who = h.must(t, ask{as: "ada-viewer", method: "GET", path: "/whoami?role=admin&userId=bob&scopes=admin", header: claims})
	})
	if who["role"] != "viewer" || who["user"] != "ada" || who["name"] != "ada-viewer" {
		t.Errorf("whoami is %v", who)
	}
	h.unchanged(t, func() {
		for body, want := range map[string]int{
			`{"user_id":"bob"}`:                           404,
			`{"role":"admin","scopes":["admin"]}`:         400, // there is no such field
			`{"title":"x","permission_mode":"full_auto"}`: 403,
		} {
			as := "ada-viewer"
			if want == 404 {
				as = "ada"
			}
			got := h.denied(t, ask{as: as, method: "POST", path: "/chat/sessions", body: body, header: claims})
			if got.status != want && !(want == 404 && got.status == 403) {
				t.Errorf("%s as %s: %d %s, want %d", body, as, got.status, got.body, want)
			}
		}
		h.refused(t, "/ws?userId=bob as ada", func() {
			if v, status := h.viewAs(t, "ada", "?userId=bob"); v != nil || status != 404 {
				t.Errorf("/ws?userId=bob as ada: %d", status)
			}
		})
	})
}

// TestNextIsAlwaysOnThisServer is attack 12, and of 11 what a second use finds.
func TestNextIsAlwaysOnThisServer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	login := func(code, next string, header http.Header) reply {
		return h.send(t, ask{method: "POST", path: "/login", body: fmt.Sprintf(`{"code":%q,"next":%q}`, code, next), header: header})
	}
	page := http.Header{"Origin": {h.http}}
	for _, next := range []string{"//evil.com", `/\evil.com`, "https:evil", "https://evil.com", "/%2f%2fevil.com", `\\evil.com`, "javascript:alert(1)", "/\t/evil.com", "///evil.com", "evil.com"} {
		code := h.must(t, ask{as: "ada", method: "POST", path: "/login/code"})["code"].(string)
		var got reply
		h.harmless(t, next, func() { got = login(code, next, page) }) // it leads home
		if got.status != 200 || !slices.Contains([]string{`{"next":"/"}`}, strings.TrimSpace(got.body)) {
			t.Errorf("next %q: %d %s", next, got.status, got.body)
		}
	}
	code := h.must(t, ask{as: "ada", method: "POST", path: "/login/code"})["code"].(string)
	for what, header := range map[string]http.Header{"no origin": nil, "another origin": {"Origin": {"https://evil.example"}}, "cross-site": with(page, "Sec-Fetch-Site", "cross-site")} {
		h.refused(t, what, func() {
			if got := login(code, "/", header); got.status != 403 || got.header.Get("Set-Cookie") != "" {
				t.Errorf("log in with %s: %d %s", what, got.status, got.body)
			}
		})
	}
	got := login(code, "/sessions", page)
	if got.status != 200 || !strings.Contains(got.body, `"/sessions"`) {
		t.Fatalf("log in: %d %s", got.status, got.body)
	}
	cookie, _, _ := strings.Cut(got.header.Get("Set-Cookie"), ";")
	var again reply
	h.refused(t, "the code again", func() { again = login(code, "/", page) })
	if again.status != 401 || again.header.Get("Set-Cookie") != "" {
		t.Errorf("the code again: %d %s", again.status, again.body)
	}
	h.logged(t, again)
	if got := h.attack(t, ask{method: "GET", path: "/sessions", header: http.Header{"Cookie": {cookie}}}); got.status != 401 {
		t.Errorf("the login of a code that came twice within a second: %d", got.status)
	}
}
