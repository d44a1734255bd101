package main

import (
	"os"
	"strings"
	"testing"
)

// The rules of a running server are listed and removed through it; beside it
// they can only be looked at.
func TestRulesOfARunningServer(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	s := start(t, playing(t, data, "--cwd", dir)...)
	c := openLines(t, invocation(t, "stdio", "--connect", s.http))
	thread := c.do("thread.threadId", "thread.create", "")
	ask := func() { c.do("turnId", "turn.start", `"threadId":%q,"input":[{"type":"text","text":"ask"}]`, thread) }
	ask()
	c.do("ok", "approval.respond", `"requestId":%q,"decision":"always"`, c.until("approval.requested").Params.RequestID)
	c.until("turn.completed")
	list := func(args ...string) string {
		return mustRun(t, append([]string{"rules", "ls", "--json"}, args...)...)
	}
	rule := list("--connect", s.http, "--cwd", dir)
	if strings.Count(rule, "\n") != 1 || rule != list("--connect", s.http, "--all") || rule != list("--data", data, "--all") || rule != list("--store", "sqlite", "--data", data, "--cwd", dir) {
		t.Errorf("the lists differ from\n%s", rule)
	}
	if other := list("--connect", s.http, "--cwd", t.TempDir()); other != "" {
		t.Errorf("another directory has %s", other)
	}
	_, rest, _ := strings.Cut(rule, `"rule_id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	mustFail(t, 1, []string{"another process", "rules can --connect"}, "rules", "rm", "--data", data, id)
	if out := mustRun(t, "rules", "rm", "--connect", s.http, id); out != id+" revoked\n" {
		t.Errorf("rm says %q", out)
	}
	mustFail(t, 1, []string{"there is no rule " + id}, "rules", "rm", "--connect", s.http, id)
	ask()
	c.until("approval.requested")
}

func TestRulesThatAreNotThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustFail(t, 1, []string{"nothing is stored"}, "rules", "rm", "--cwd", dir, "rul_x")
	mustFail(t, 1, []string{`"../x"`}, "rules", "rm", "--cwd", dir, "../x")
	mustFail(t, 1, []string{"--connect http://127.0.0.1:1", "refused"}, "rules", "ls", "--connect", "http://127.0.0.1:1")
	mustFail(t, 1, []string{"--cwd", "nowhere"}, "rules", "ls", "--cwd", "nowhere")
	if made, err := os.ReadDir(dir); err != nil || len(made) != 0 {
		t.Errorf("looking made %v, %v", made, err)
	}
}
