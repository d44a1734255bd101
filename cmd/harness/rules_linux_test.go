package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// "a" at the terminal is not asked in the next run in the directory, is asked
// in another directory, and is asked again once the rule is removed.
func TestAlwaysHoldsForTheNextRunUntilItIsRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if o := invoke(t, "rules", "ls", "--cwd", dir); o.code != 0 || o.stdout != "" || o.stderr != "no rules\n" {
		t.Errorf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	p := onTerminal(t, running(t, dir, "ask"))
	p.expect(" reject")
	p.press("a")
	if code := p.exit(); code != 0 || !strings.Contains(p.shows(), "→ allowed from now on\n✓ bash x") {
		t.Fatalf("exit code %d\n%s", code, p.shows())
	}
	isAsked := func(dir string) bool {
		t.Helper()
		o := finish(t, running(t, dir, "ask"))
		ran, refused := strings.Contains(o.stdout, "✓ bash x"), strings.Contains(o.stderr, "rejected bash, because there is no terminal")
		if o.code != 0 || ran == refused {
			t.Fatalf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
		}
		return refused
	}
	if isAsked(dir) || !isAsked(t.TempDir()) {
		t.Error("asked in the directory, or not asked in another")
	}
	if out := mustRun(t, "rules", "ls", "--cwd", dir); !strings.HasPrefix(out, "RULE") || strings.Count(out, "\n") != 2 || !strings.Contains(out, "bash") || !strings.Contains(out, dir) {
		t.Errorf("the list is\n%s", out)
	}
	var r struct {
		ID string `json:"rule_id"`
	}
	if out := mustRun(t, "rules", "ls", "--cwd", dir, "--json"); json.Unmarshal([]byte(out), &r) != nil || r.ID == "" {
		t.Fatalf("the list is\n%s", out)
	}
	if out := mustRun(t, "rules", "ls", "--store", "jsonl:"+dir+"/.harness", "--all", "--json"); !strings.Contains(out, r.ID) {
		t.Errorf("the list of all directories is\n%s", out)
	}
	if out := mustRun(t, "rules", "rm", "--cwd", dir, r.ID); out != r.ID+" revoked\n" {
		t.Errorf("rm says %q", out)
	}
	mustFail(t, 1, []string{"harness rules rm: there is no rule " + r.ID}, "rules", "rm", "--cwd", dir, r.ID)
	if !isAsked(dir) {
		t.Error("not asked after the rule was removed")
	}
}
