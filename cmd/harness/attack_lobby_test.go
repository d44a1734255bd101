package main

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
)

// TestAListIsLiveForItsUserAlone: the stream of sessions tells nobody of
// another user's, neither that there is one nor that it is gone, and it ends
// with the token that opened it.
func TestAListIsLiveForItsUserAlone(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", h.http+"/sessions/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+h.tokens["bob"])
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	in := bufio.NewScanner(resp.Body)
	until := func(text string) (seen string) {
		t.Helper()
		for in.Scan() {
			if seen += in.Text() + "\n"; strings.Contains(in.Text(), text) {
				return seen
			}
		}
		t.Fatalf("the stream ended before %q: %v", text, in.Err())
		return ""
	}
	until("event: ready")
	hers := h.session(t, "ada", "hello")
	h.send(t, ask{as: "ada", method: "DELETE", path: "/sessions/" + hers})
	his := h.session(t, "bob", "hello")
	if seen := until(his); strings.Contains(seen, hers) {
		t.Errorf("bob is told of ada's session:\n%s", seen)
	}
	mustRun(t, "token", "rm", "--data", h.dir, "bob")
	for in.Scan() { // it ends
	}
	if ctx.Err() != nil {
		t.Error("the stream outlives its token")
	}
	for _, line := range h.audit(t) {
		if strings.Contains(string(line), `"foreign"`) {
			t.Errorf("bob has asked for nothing of ada's: %s", line)
		}
	}
}
