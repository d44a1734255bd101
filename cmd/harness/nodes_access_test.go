package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// status sends a request, as JSON if it has a body, and returns its status, its
// answer and the header of that.
func (p *process) status(method, path, body string, h http.Header) (int, string, http.Header) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, p.http+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	if req.Header = h.Clone(); body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp.StatusCode, string(text), resp.Header
}

// TestTokensAndLoginsAreThoseOfAllNodes makes a token beside three nodes, opens
// streams with it and with a login that one node began and another finished, and
// ends both: everywhere, also what is open.
func TestTokensAndLoginsAreThoseOfAllNodes(t *testing.T) {
	t.Parallel()
	url := schema(t)
	nodes := startNodes(t, url, "echo", 3)
	a, b, c := nodes[0], nodes[1], nodes[2]
	token := strings.TrimSpace(mustRun(t, "token", "add", "--store", url, "--user", "ada", "laptop"))
	bearer := http.Header{"Authorization": {"Bearer " + token}}
	for _, n := range nodes {
		if status, text, _ := n.status("GET", "/whoami", "", bearer); status != http.StatusOK || !strings.Contains(text, `"user":"ada"`) {
			t.Fatalf("whoami: %d %s", status, text)
		}
		if status, text, _ := n.status("GET", "/whoami", "", a.bearer(nil)); status != http.StatusOK || !strings.Contains(text, `"role":"admin"`) {
			t.Fatalf("the owner of another node: %d %s", status, text)
		}
	}
	if list := mustRun(t, "token", "ls", "--store", url); strings.Count(list, "owner@") != 3 || !strings.Contains(list, "laptop") || strings.Contains(list, token) {
		t.Errorf("the list is\n%s", list)
	}
	_, text, _ := a.status("POST", "/login/code", "", bearer)
	var minted struct{ Code string }
	if err := json.Unmarshal([]byte(text), &minted); err != nil || minted.Code == "" {
		t.Fatalf("a code: %s", text)
	}
	status, text, header := b.status("POST", "/login", fmt.Sprintf(`{"code":%q,"next":"/"}`, minted.Code), http.Header{"Origin": {b.http}})
	if status != http.StatusOK {
		t.Fatalf("the code on another node: %d %s", status, text)
	}
	value, _, _ := strings.Cut(header.Get("Set-Cookie"), ";")
	cookie := http.Header{"Cookie": {value}}
	for _, n := range nodes {
		if status, text, _ := n.status("GET", "/whoami", "", cookie); status != http.StatusOK || !strings.Contains(text, `"name":"laptop"`) {
			t.Fatalf("the cookie: %d %s", status, text)
		}
	}
	created := http.Header{"Authorization": {"Bearer " + token}}
	_, text, _ = c.status("POST", "/chat/sessions", "{}", created)
	_, id, _ := strings.Cut(text, `"session_id":"`)
	id, _, _ = strings.Cut(id, `"`)
	open := func(n *process, h http.Header) <-chan error {
		req, err := http.NewRequestWithContext(t.Context(), "GET", n.http+"/sessions/"+id+"/events/stream", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header = h.Clone()
		req.Header.Set("Accept", "text/event-stream")
		resp, err := http.DefaultClient.Do(req)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("a stream: %v, %v", resp, err)
		}
		ended := make(chan error, 1)
		go func() {
			defer resp.Body.Close()
			_, err := io.Copy(io.Discard, resp.Body)
			ended <- err
		}()
		return ended
	}
	streams := []<-chan error{open(a, bearer), open(c, cookie), open(a, cookie)}
	if status, text, _ := b.status("POST", "/logout", "", with(cookie, "Origin", b.http)); status != http.StatusOK {
		t.Fatalf("logout: %d %s", status, text)
	}
	ends := func(stream <-chan error, what string) {
		t.Helper()
		select {
		case <-stream:
		case <-time.After(patience):
			t.Fatalf("%s is open", what)
		}
	}
	ends(streams[1], "a stream of the login on a third node")
	ends(streams[2], "a stream of the login on the first node")
	eventually(t, "the login's end on every node", func() bool {
		status, _, _ := c.status("GET", "/whoami", "", cookie)
		return status == http.StatusUnauthorized
	})
	select {
	case <-streams[0]:
		t.Error("what the token has open was closed as well")
	default:
	}
	mustRun(t, "token", "rm", "--store", url, "laptop")
	ends(streams[0], "the stream of the token")
	for _, n := range nodes {
		eventually(t, "the token's end on every node", func() bool {
			status, _, _ := n.status("GET", "/whoami", "", bearer)
			return status == http.StatusUnauthorized
		})
	}
}

// TestSchedulesAndWebhooksAreThoseOfAllNodes makes both on one node, sees them
// on another and ends them on a third.
func TestSchedulesAndWebhooksAreThoseOfAllNodes(t *testing.T) {
	t.Parallel()
	nodes := startNodes(t, schema(t), "echo", 3, "--webhook-private")
	a, b, c := nodes[0], nodes[1], nodes[2]
	owner := a.bearer(nil)
	for path, body := range map[string]string{
		"/schedules": `{"name":"nightly","when":"0 3 * * *","prompt":"hello"}`,
		"/webhooks":  `{"name":"nightly","url":"http://127.0.0.1:9/hook"}`,
	} {
		status, text, _ := a.status("POST", path, body, owner)
		if status/100 != 2 {
			t.Fatalf("POST %s: %d %s", path, status, text)
		}
		name := "nightly"
		if path == "/schedules" {
			_, name, _ = strings.Cut(text, `"schedule_id":"`)
			name, _, _ = strings.Cut(name, `"`)
		}
		seen := func(n *process, want bool) {
			t.Helper()
			eventually(t, path+" of another node", func() bool {
				status, text, _ := n.status("GET", path, "", n.bearer(nil))
				return status == http.StatusOK && strings.Contains(text, "nightly") == want
			})
		}
		seen(b, true)
		seen(c, true)
		if status, text, _ := c.status("DELETE", path+"/"+name, "", owner); status/100 != 2 {
			t.Fatalf("DELETE %s/%s: %d %s", path, name, status, text)
		}
		seen(a, false)
		seen(b, false)
	}
}
