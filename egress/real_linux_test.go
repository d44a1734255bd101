package egress_test

import (
	"strings"
	"testing"

	"harness"
	"harness/egress"
	"harness/engine/agenttest"
)

// TestClaudeCodeWorksBehindIt runs the real program in a sandbox without a
// network.
func TestClaudeCodeWorksBehindIt(t *testing.T) {
	t.Parallel()
	claude := agenttest.Installed(t, agenttest.Claude)
	up := scripted(t)
	h := build(t, up.URL, egress.Options{})
	c := newCell(t, h, func(s *harness.WorkspaceSpec) { s.ReadOnly = append(s.ReadOnly, claude) })
	token := h.grant(t, egress.Grant{Provider: "anthropic", MaxTokens: 100_000})
	env, err := h.Env("anthropic", "http://"+egress.AnyHost, token)
	if err != nil {
		t.Fatal(err)
	}
	env = append(env, "HOME=/tmp", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1")
	code, out := c.run(t, egress.AnyPort, env, claude, "-p", "Say hello.", "--model", "claude-sonnet-4-5")
	if code != 0 || !strings.Contains(out, "Hello there.") {
		t.Fatalf("code %d: %s\n%+v", code, out, h.all())
	}
	for _, r := range up.All() {
		if r.Header.Get("X-Api-Key") != canary || r.Header.Get("Authorization") != "" || strings.Contains(r.Path, token) {
			t.Errorf("sent %s %s %v", r.Method, r.Path, r.Header)
		}
	}
	if used := h.used(); len(used) == 0 || used[0].Estimated || used[0].Total() != 152 {
		t.Errorf("used %+v", used)
	}
}
