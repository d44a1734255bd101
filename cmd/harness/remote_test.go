package main

import (
	"strings"
	"testing"
)

// TestARefusalIsToldWithItsReason: what a server says when it refuses is what
// the person reads, over HTTP, WebSocket and JSON-RPC.
func TestARefusalIsToldWithItsReason(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.session(t, "ada", "")
	for _, c := range []struct {
		as, want string
		args     []string
	}{
		{"ada-viewer", "revoke is not for the role viewer", []string{"rules", "rm", "--connect", h.http, "rul_1"}},
		{"ada-pager", "create is not in the credential's scope", []string{"run", "--connect", h.http, "hello"}},
		{"scraper", "watch is not in the credential's scope", []string{"attach", "--connect", h.http, id}},
	} {
		cmd := invocation(t, c.args...)
		cmd.Env = append(cmd.Env, "HARNESS_TOKEN="+h.tokens[c.as])
		if o := finish(t, cmd); o.code == 0 || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%q as %s: exit code %d, want %q\n%s%s", c.args, c.as, o.code, c.want, o.stdout, o.stderr)
		}
	}
}

// TestTokensThatAreNotThereAreNotListed: before a server has made the owner's
// token there is none.
func TestTokensThatAreNotThereAreNotListed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if list := mustRun(t, "token", "ls", "--data", dir); strings.Contains(list, "owner") {
		t.Errorf("the list of nothing is\n%s", list)
	}
	h := newHouse(t)
	if list := mustRun(t, "token", "ls", "--data", h.dir); !strings.Contains(list, "owner") {
		t.Errorf("the list is\n%s", list)
	}
}
