package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// opened is everything that stays open with a credential: when each ends, its
// channel says how.
type opened map[string]chan string

func (h *house) open(t *testing.T, as string) opened {
	t.Helper()
	id := h.session(t, as, "")
	o := opened{}
	ended := func(what, how string) { o[what] <- how }
	for _, what := range []string{"WebSocket", "events", "JSON-RPC", "turn"} {
		o[what] = make(chan string, 1)
	}
	v, _ := h.viewAs(t, as, "?sessionId="+id)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		for {
			if _, _, err := v.ws.Read(ctx); err != nil {
				ended("WebSocket", fmt.Sprint(int(websocket.CloseStatus(err))))
				return
			}
		}
	}()
	stream := func(what string, q ask) {
		r, err := http.NewRequestWithContext(t.Context(), q.method, h.http+q.path, strings.NewReader(q.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+h.tokens[as])
		r.Header.Set("Accept", "text/event-stream")
		r.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(r)
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("%s: %v, %v", what, resp, err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		lines := bufio.NewReader(resp.Body)
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		go func() {
			_, err := io.Copy(io.Discard, lines)
			ended(what, fmt.Sprint(err == nil || errors.Is(err, io.ErrUnexpectedEOF)))
		}()
	}
	stream("events", ask{method: "GET", path: "/sessions/" + id + "/events/stream"})
	busy := h.session(t, as, "")
	stream("turn", ask{method: "POST", path: "/chat/sessions/" + busy + "/turns", body: `{"prompt":"hang"}`})
	s := h.speakAs(t, as)
	if a := s.call("thread.subscribe", fmt.Sprintf(`{"threadId":%q}`, id)); a.Error.Code != 0 {
		t.Fatalf("subscribe: %+v", a)
	}
	go func() {
		_, err := io.Copy(io.Discard, s.r)
		ended("JSON-RPC", fmt.Sprint(err == nil))
	}()
	return o
}

func (o opened) ends(t *testing.T) {
	t.Helper()
	late := time.After(patience)
	for what, how := range o {
		select {
		case got := <-how:
			if what == "WebSocket" && got != "1008" {
				t.Errorf("the WebSocket ended with %s", got)
			}
		case <-late:
			t.Fatalf("%s is still open", what)
		}
	}
}

func (o opened) stays(t *testing.T) {
	t.Helper()
	for what, how := range o {
		select {
		case got := <-how:
			t.Errorf("%s of another token ended: %s", what, got)
		default:
		}
	}
}

func TestARevokedTokenClosesWhatItHasOpened(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.tokens["laptop"] = h.grant(t, "laptop", "ada", "operator")
	h.tokens["phone"] = h.grant(t, "phone", "ada", "operator")
	h.knows(t, "laptop", "phone")
	cookie := h.browser(t, "laptop")
	mine, other := h.open(t, "laptop"), h.open(t, "phone")
	mustRun(t, "token", "rm", "--data", h.dir, "laptop")
	mine.ends(t)
	other.stays(t)
	if got := h.denied(t, ask{as: "laptop", method: "GET", path: "/sessions"}); got.status != 401 {
		t.Errorf("the token still works: %d", got.status)
	}
	if got := h.denied(t, ask{method: "GET", path: "/sessions", header: cookie}); got.status != 401 {
		t.Errorf("the browser that logged in with it is still let in: %d", got.status)
	}
	h.must(t, ask{as: "phone", method: "GET", path: "/sessions"})
}

func TestATokenThatExpiresClosesWhatItHasOpened(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.tokens["brief"] = h.grant(t, "brief", "ada", "operator", "--for", "8s")
	h.knows(t, "brief")
	began := time.Now()
	h.open(t, "brief").ends(t)
	if d := time.Since(began); d > 20*time.Second {
		t.Errorf("it took %s", d)
	}
	if got := h.denied(t, ask{as: "brief", method: "GET", path: "/sessions"}); got.status != 401 {
		t.Errorf("the token still works: %d", got.status)
	}
}

// knows waits until the server has noticed new tokens.
func (h *house) knows(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		until(t, "the server to know "+name, func() bool {
			return h.send(t, ask{as: name, method: "GET", path: "/whoami"}).status == 200
		})
	}
}

// TestTheRulesOfAUserAreTheSameOnEveryProtocol, whichever of its tokens made
// them.
func TestTheRulesOfAUserAreTheSameOnEveryProtocol(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.tokens["laptop"] = h.grant(t, "laptop", "ada", "approver")
	h.knows(t, "laptop")
	request, _ := h.question(t, h.session(t, "laptop", "ask"))
	h.must(t, ask{as: "laptop", method: "POST", path: "/approvals/" + request, body: `{"decision":"allow","scope":"always"}`})
	rule := h.must(t, ask{as: "ada", method: "GET", path: "/rules"})["rules"].([]any)[0].(map[string]any)["rule_id"].(string)
	for _, as := range []string{"ada", "laptop", "root"} {
		if a := h.speakAs(t, as).call("rule.list", "{}"); !strings.Contains(string(a.Result), rule) {
			t.Errorf("rule.list as %s: %s", as, a.Result)
		}
	}
	if a := h.declines(t, h.speakAs(t, "bob"), "rule.revoke", fmt.Sprintf(`{"ruleId":%q}`, rule)); a.Error.Code != -32602 {
		t.Errorf("revoked by bob: %+v", a)
	}
	if a := h.speakAs(t, "ada").call("rule.revoke", fmt.Sprintf(`{"ruleId":%q}`, rule)); a.Error.Code != 0 {
		t.Errorf("rule.revoke: %+v", a)
	}
	if lines := h.lines(t, "audit.log", `"action":"revoke"`); len(lines) != 2 || !strings.Contains(lines[0], "not_found") || !strings.Contains(lines[1], rule) {
		t.Errorf("the audit has %q", lines)
	}
}

// TestABodyThatComesAfterTheEndOfItsTokenDoesNothing: who sent the head was
// somebody, and is nobody when there is something to decide.
func TestABodyThatComesAfterTheEndOfItsTokenDoesNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.tokens["laptop"] = h.grant(t, "laptop", "ada", "operator")
	h.knows(t, "laptop")
	id := h.session(t, "laptop", "hello")
	type late struct {
		body string
		conn net.Conn
		r    *bufio.Reader
	}
	var all []late
	for _, q := range []ask{
		{as: "root", path: "/tokens", body: `{"name":"mine","role":"admin"}`},
		{as: "laptop", path: "/chat/sessions/" + id + "/turns", body: `{"prompt":"hello"}`},
	} {
		conn, err := h.stranger().Dial("tcp", h.host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(patience))
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nAccept: text/event-stream, application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", q.path, h.host, h.tokens[q.as], len(q.body))
		r := bufio.NewReader(conn)
		if resp, err := http.ReadResponse(r, nil); err != nil || resp.StatusCode != 100 { // it waits for the body
			t.Fatalf("%s: %v, %v", q.path, resp, err)
		}
		all = append(all, late{q.body, conn, r})
	}
	h.unchanged(t, func() {
		for _, name := range []string{"root", "laptop"} {
			mustRun(t, "token", "rm", "--data", h.dir, name)
			until(t, "the end of "+name, func() bool { return h.send(t, ask{as: name, method: "GET", path: "/whoami"}).status == 401 })
		}
		for _, l := range all {
			h.refused(t, l.body, func() {
				io.WriteString(l.conn, l.body)
				resp, err := http.ReadResponse(l.r, nil)
				if err != nil || resp.StatusCode != 401 {
					t.Errorf("%s: %v, %v", l.body, resp, err)
				}
			})
		}
	})
	if list := mustRun(t, "token", "ls", "--data", h.dir); strings.Contains(list, "mine") {
		t.Errorf("there is a token that nobody could make:\n%s", list)
	}
}
