package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whoever may do everything makes tokens and ends them; what one is is told
// once, and every change is in the audit with who made it.
func TestTokensAreMadeAndEndedOverHTTP(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	made := h.must(t, ask{as: "root", method: "POST", path: "/tokens", body: `{"name":"ci","role":"operator","user_id":"ada","scope":"read,submit"}`})
	token, _ := made["token"].(string)
	if !strings.HasPrefix(token, "hk_") || made["created_at"] == nil {
		t.Fatalf("%v", made)
	}
	h.tokens["made"] = token
	if got := h.send(t, ask{as: "made", method: "GET", path: "/sessions"}); got.status != 200 {
		t.Errorf("with the token: %d %s", got.status, got.body)
	}
	list := h.send(t, ask{as: "root", method: "GET", path: "/tokens"})
	if list.status != 200 || !strings.Contains(list.body, `"ci"`) || strings.Contains(list.body, token) || strings.Contains(list.body, "sha256") {
		t.Errorf("the list: %d %s", list.status, list.body)
	}
	for body, status := range map[string]int{
		`{"name":"ci","role":"admin"}`: 409, `{"name":"nobody","role":"operator"}`: 400, `{"name":"owner","role":"admin"}`: 400,
		`{"name":"late","role":"admin","expires_at":"2001-01-01T00:00:00Z"}`: 400, `{"name":"there","role":"admin","scope":"dir:here"}`: 400,
	} {
		if got := h.send(t, ask{as: "root", method: "POST", path: "/tokens", body: body}); got.status != status {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	// An admin with a scope could make one without.
	for _, as := range []string{"made", "ada", "ada-operator", "wall", "scraper"} {
		for _, q := range []ask{{method: "GET", path: "/tokens"}, {method: "POST", path: "/tokens", body: `{"name":"more","role":"admin"}`}, {method: "DELETE", path: "/tokens/ada"}} {
			if q.as = as; h.send(t, q).status != 403 {
				t.Errorf("%s: %s %s is not refused", as, q.method, q.path)
			}
		}
	}
	if got := h.send(t, ask{as: "root", method: "DELETE", path: "/tokens/ci"}); got.status != 204 {
		t.Errorf("end: %d %s", got.status, got.body)
	}
	if got := h.send(t, ask{as: "root", method: "DELETE", path: "/tokens/ci"}); got.status != 404 {
		t.Errorf("end it again: %d %s", got.status, got.body)
	}
	if got := h.send(t, ask{as: "made", method: "GET", path: "/sessions"}); got.status != 401 {
		t.Errorf("with the token that was ended: %d", got.status)
	}
	for _, what := range []string{"add ci", "remove ci"} {
		lines := h.lines(t, "audit.log", what)
		if len(lines) == 0 || !strings.Contains(lines[0], "root") || !strings.Contains(lines[0], `grant`) {
			t.Errorf("%s: %q", what, lines)
		}
	}
	if b, err := os.ReadFile(filepath.Join(h.dir, "audit.log")); err != nil || strings.Contains(string(b), token) {
		t.Errorf("the audit has the token, or nothing: %v", err)
	}
}
