package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// status is the answer to a request without a body.
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
	<-streams[1]
	<-streams[2]
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
	<-streams[0]
	for _, n := range nodes {
		eventually(t, "the token's end on every node", func() bool {
			status, _, _ := n.status("GET", "/whoami", "", bearer)
			return status == http.StatusUnauthorized
		})
	}
}
