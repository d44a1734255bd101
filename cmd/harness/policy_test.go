package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const someRules = `addr: 127.0.0.1:7717
policy:
  rules:
    - {deny: bash, commands: ["rm *"], name: no-rm}
    - {allow: bash, commands: ["npm test *"]}
    - {deny: write, place: outside, reason: only here}
    - {allow: fetch, hosts: [example.com]}
    - {deny: bash, commands: [x], kind: background}
`

func write(t testing.TB, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// harness policy test says what is decided, by which rule and why, and its exit
// code says it, too.
func TestPolicyTestSaysWhatIsDecided(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, filepath.Join(t.TempDir(), "harness.yaml"), someRules)
	for _, c := range []struct {
		code  int
		words []string
		args  []string
	}{
		{4, []string{"deny\n", "rule    harness.yaml#no-rm", "rm -rf /"}, []string{"bash npm test && rm -rf /"}},
		{0, []string{"allow\n", "harness.yaml#2"}, []string{"bash npm test"}},
		{0, []string{"allow\n"}, []string{"bash", "npm", "test"}},
		{3, []string{"ask\n", "mode.normal", "no rule is about ls"}, []string{"bash npm test && ls"}},
		{3, []string{"ask\n", "nobody can tell whether the rule harness.yaml#no-rm is about it"}, []string{"bash $X y"}},
		{4, []string{"deny\n", "only here"}, []string{"write /etc/passwd"}},
		{3, []string{"ask\n"}, []string{"write a.txt"}},
		{0, []string{"allow\n", "mode.accept_edits"}, []string{"--mode", "accept_edits", "write a.txt"}},
		{0, []string{"allow\n"}, []string{"fetch https://example.com"}},
		{3, []string{"ask\n"}, []string{"fetch https://example.org"}},
		{4, []string{"deny\n"}, []string{"--kind", "background", "bash x"}},
		{0, []string{"allow\n", "access.read"}, []string{"read a.txt"}},
	} {
		o := invoke(t, append([]string{"policy", "test", "--policy", file, "--cwd", dir}, c.args...)...)
		for _, w := range c.words {
			if o.code != c.code || !strings.Contains(o.stdout, w) || o.stderr != "" {
				t.Errorf("%q: exit code %d, want %d and %q\n%s%s", c.args, o.code, c.code, w, o.stdout, o.stderr)
			}
		}
	}
	var v struct{ Outcome, Rule, Reason, Source string }
	o := invoke(t, "policy", "test", "--json", "--policy", file, "--cwd", dir, "bash rm x")
	if err := json.Unmarshal([]byte(o.stdout), &v); err != nil || o.code != 4 || v.Outcome != "deny" || v.Rule != "harness.yaml#no-rm" || v.Source != "file" || v.Reason == "" {
		t.Errorf("exit code %d, %+v, %v", o.code, v, err)
	}
	mustFail(t, 2, []string{"--mode"}, "policy", "test", "--mode", "yolo", "bash ls")
	mustFail(t, 2, []string{"--kind"}, "policy", "test", "--kind", "odd", "bash ls")
	mustFail(t, 2, []string{"missing: CALL"}, "policy", "test")
	mustFail(t, 1, []string{"write them as JSON"}, "policy", "test", "deploy it")
	mustFail(t, 1, []string{"--policy", "nowhere"}, "policy", "test", "--policy", "nowhere", "bash ls")
}

func TestPolicyCheckNamesTheLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good, bad := write(t, dir+"/a.yaml", someRules), write(t, dir+"/b.yaml", "rules:\n  - allow: bash\n    comand: ls\n")
	if out := mustRun(t, "policy", "check", good); out != good+": 5 rules\n" {
		t.Errorf("it says %q", out)
	}
	mustFail(t, 1, []string{bad + `:3: unknown key "comand"`}, "policy", "check", bad)
	mustFail(t, 1, []string{"is not a file"}, "policy", "check", dir)
	mustFail(t, 1, []string{"--policy: b.yaml:3"}, "serve", "--policy", bad, "--data", dir, "--addr", "127.0.0.1:0")
	mustFail(t, 1, []string{"--policy: b.yaml:3"}, "stdio", "--policy", bad, "--cwd", dir, "--store", "memory")
}

// A server follows its file and the workspace's: it denies without a question,
// and tells every caller who asks what it would decide.
func TestAServerFollowsItsRules(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, filepath.Join(t.TempDir(), "harness.yaml"), someRules)
	own := write(t, filepath.Join(dir, ".harness", "policy.yaml"), "rules: [{allow: bash, commands: [ls]}, {deny: bash, commands: [x], reason: not in this house}]\n")
	h := newHouse(t, "--cwd", dir, "--policy", file)
	try := func(as, body string) string {
		t.Helper()
		v := h.must(t, ask{as: as, method: "POST", path: "/policy/test", body: body})
		return fmt.Sprint(v["outcome"], " ", v["rule"])
	}
	for _, as := range []string{"ada", "ada-operator", "ada-viewer", "owner"} {
		if got := try(as, `{"tool":"bash","input":{"command":"npm test && rm x"}}`); got != "deny harness.yaml#no-rm" {
			t.Errorf("%s is told %s", as, got)
		}
	}
	if got := try("ada", `{"tool":"bash","input":{"command":"ls"}}`); got != "ask mode.normal" {
		t.Errorf("a workspace allows something: %s", got)
	}
	if got := h.send(t, ask{as: "ada", method: "POST", path: "/policy/test", body: `{"tool":"bash","directory":"/etc"}`}); got.status != 400 {
		t.Errorf("rules of a directory where ada has no sessions: %d %s", got.status, got.body)
	}
	if got := h.send(t, ask{method: "POST", path: "/policy/test", body: `{"tool":"bash"}`}); got.status != 401 {
		t.Errorf("a stranger is told %d %s", got.status, got.body)
	}

	id := h.session(t, "ada", "ask")
	events := h.settledEvents(t, id)
	if !strings.Contains(events, `"policy_path":".harness/policy.yaml#2"`) || !strings.Contains(events, `"not in this house"`) || strings.Contains(events, "approval_required") {
		t.Errorf("the log is %s", events)
	}

	// Rules that cannot be read are no reason to go on without them.
	write(t, own, "rules: [{alow: bash}]\n")
	if got := try("ada", `{"tool":"bash","input":{"command":"npm test"},"mode":"full_auto"}`); got != "ask .harness/policy.yaml#unreadable" {
		t.Errorf("with a broken file: %s", got)
	}
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	asked := h.session(t, "ada", "ask")
	request, _ := h.question(t, asked)
	h.must(t, ask{as: "ada", method: "POST", path: "/approvals/" + request, body: `{"decision":"allow","scope":"always"}`})
	if got := try("ada", `{"tool":"bash","input":{"command":"x"}}`); !strings.HasPrefix(got, "allow rule.rul_") {
		t.Errorf("after always: %s", got)
	}
	if got := try("bob", `{"tool":"bash","input":{"command":"x"}}`); got != "ask mode.normal" {
		t.Errorf("ada's rule holds for bob: %s", got)
	}
	if got := try("ada", `{"tool":"bash","input":{"command":"x; y"}}`); got != "ask mode.normal" {
		t.Errorf("always about x allows y: %s", got)
	}
	rules := h.must(t, ask{as: "ada", method: "GET", path: "/rules"})["rules"].([]any)
	if len(rules) != 1 || rules[0].(map[string]any)["pattern"] != "command:x" {
		t.Errorf("rules %v", rules)
	}
}

// settledEvents is the log of a session whose turn has ended.
func (h *house) settledEvents(t testing.TB, id string) string {
	t.Helper()
	h.settled(t)
	got := h.send(t, ask{as: "owner", method: "GET", path: "/sessions/" + id + "/events"})
	if got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	return got.body
}
