package policy_test

import (
	"encoding/json"
	"strings"
	"testing"

	"harness"
	"harness/policy"
)

func input(pairs ...string) json.RawMessage {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return b
}

// What an approval leaves behind is about the commands, files or hosts of the
// call that was approved, and about nothing else.
func TestAStandingAllowanceIsBoundToWhatWasApproved(t *testing.T) {
	for _, c := range []struct {
		tool     string
		approved json.RawMessage
		pattern  string // its beginning
		covers   []json.RawMessage
		not      []json.RawMessage
	}{
		{"bash", input("command", "npm test"), "command:npm test",
			[]json.RawMessage{input("command", "npm  'test'"), input("command", "npm test && npm test"), input("command", "npm test", "timeout_seconds", "5")},
			[]json.RawMessage{input("command", "rm -rf /"), input("command", "npm test -- x"), input("command", "npm test && rm -rf /"), input("command", "npm test > x"), input("command", "CI=1 npm test"), input("command", "npm $X"), input("command", "npm test $(rm x)"), input("command", "npm", "x", "test"), input("command", "npm test", "directory", "/tmp"), nil}},
		{"bash", input("command", "cd sub && make all"), "command:cd sub\nmake all",
			[]json.RawMessage{input("command", "make all"), input("command", "cd sub; make all")},
			[]json.RawMessage{input("command", "make"), input("command", "cd .. && make all"), input("command", "make all install")}},
		{"bash", input("command", "echo 'a\nb' \"it's\""), `command:echo 'a'$'\n''b' 'it'\''s'`,
			[]json.RawMessage{input("command", "echo 'a\nb' it\\'s")},
			[]json.RawMessage{input("command", "echo a b"), input("command", "echo a\nb it\\'s")}},
		{"bash", input("command", "curl x | sh"), "exact:",
			[]json.RawMessage{input("command", "curl x | sh")},
			[]json.RawMessage{input("command", "curl x"), input("command", "curl y | sh"), input("command", "sh"), input("command", "curl x | sh", "directory", "sub")}},
		{"bash", input("command", "echo x > a"), "exact:", []json.RawMessage{input("command", "echo x > a")}, []json.RawMessage{input("command", "echo x > b"), input("command", "echo x")}},
		{"bash", input("command", "rm *.o"), "exact:", nil, []json.RawMessage{input("command", "rm *")}},
		{"bash", nil, "exact:", []json.RawMessage{nil}, []json.RawMessage{input("command", "ls")}},
		{"PowerShell", input("command", "ls"), "exact:", []json.RawMessage{input("command", "ls")}, []json.RawMessage{input("command", "rm x")}},
		{"write", input("path", "a/b.go", "content", "x"), "inside:",
			[]json.RawMessage{input("path", "c.go", "content", "y"), input("path", "/w/project/d")},
			[]json.RawMessage{input("path", "/etc/passwd"), input("path", "../x"), input("path", "a/../b"), input("path", "~/x"), input("content", "x"), input("path", "a", "command", "rm x"), []byte(`{"path":"a","path":"/etc/x"}`)}},
		{"Write", input("file_path", "/etc/hosts"), "path:/etc/hosts", []json.RawMessage{input("file_path", "/etc//hosts")}, []json.RawMessage{input("file_path", "/etc/passwd"), input("file_path", "a")}},
		{"fetch", input("url", "https://go.dev/doc"), "host:go.dev", []json.RawMessage{input("url", "https://go.dev/x"), input("url", "http://go.dev")},
			[]json.RawMessage{input("url", "https://evil.dev"), input("url", "https://go.dev:99"), input("url", "https://go.dev@evil.dev"), input("url", "ftp://go.dev"), input("q", "x")}},
		{"fetch", input("url", "http://0x7f.1/"), "exact:", nil, []json.RawMessage{input("url", "http://0x7f.2/")}},
		{"mcp__x__y", input("q", "x"), "", []json.RawMessage{input("q", "z"), nil}, nil},
	} {
		pattern := policy.Bind(directory, c.tool, c.approved)
		if !strings.HasPrefix(pattern, c.pattern) || c.pattern == "" && pattern != "" || strings.HasPrefix(c.pattern, "command:") && pattern != c.pattern {
			t.Errorf("%s %s is bound to %q, want %q", c.tool, c.approved, pattern, c.pattern)
		}
		rules := []harness.Rule{{ID: "rul_1", Directory: directory, Tool: c.tool, Pattern: pattern}}
		grants := []harness.Grant{{Tool: c.tool, Scope: harness.InSession, Pattern: pattern}}
		ctx := policy.Context{Mode: harness.Normal, Directory: directory}
		check := func(in json.RawMessage, want policy.Outcome) {
			t.Helper()
			use := harness.ToolUse{Tool: c.tool, Access: harness.AccessExecute, Input: in}
			if v := policy.Decide(nil, ctx, nil, rules, use); v.Outcome != want {
				t.Errorf("%s %s after %s by a rule: %s", c.tool, in, c.approved, v.Outcome)
			}
			if v := policy.Decide(nil, ctx, grants, nil, use); v.Outcome != want {
				t.Errorf("%s %s after %s by a grant: %s", c.tool, in, c.approved, v.Outcome)
			}
			if _, ok := policy.Covering(nil, ctx, rules, c.tool, in); ok != (want == policy.Allow) {
				t.Errorf("%s %s after %s: covered %t", c.tool, in, c.approved, ok)
			}
			if policy.Covered(nil, ctx, grants, nil, c.tool, in) != (want == policy.Allow) {
				t.Errorf("%s %s after %s: not as the grant says", c.tool, in, c.approved)
			}
		}
		check(c.approved, policy.Allow)
		for _, in := range c.covers {
			check(in, policy.Allow)
		}
		for _, in := range c.not {
			check(in, policy.Ask)
		}
		if v := policy.Decide(nil, ctx, grants, rules, harness.ToolUse{Tool: "other", Input: c.approved}); v.Outcome != policy.Ask {
			t.Errorf("%s allows another tool", c.tool)
		}
	}
}

// Commands of one line may be allowed by a file, a rule and a grant together.
func TestEveryCommandOfALineNeedsAnAllowance(t *testing.T) {
	p := read(t, `rules: [{allow: bash, commands: ["ls *"]}, {ask: bash, commands: ["git push *"]}, {deny: bash, commands: ["rm *"]}]`)
	bind := func(line string) string { return policy.Bind(directory, "bash", input("command", line)) }
	rules := []harness.Rule{{ID: "rul_1", Tool: "bash", Pattern: bind("npm test")}, {ID: "rul_2", Tool: "bash", Pattern: bind("git push")}, {ID: "rul_3", Tool: "bash", Pattern: bind("rm x")}}
	grants := []harness.Grant{{Tool: "bash", Scope: harness.InSession, Pattern: bind("make all")}}
	for text, want := range map[string]string{
		"ls && npm test":           "allow rule.rul_1",
		"ls && npm test; make all": "allow rule.rul_1",
		"make all":                 "allow grant.session",
		"ls && npm test && x":      "ask mode.normal",
		"git push":                 "allow rule.rul_2", // asked about until somebody said always
		"git push origin":          "ask p.yaml#2",
		"rm x":                     "deny p.yaml#3", // whatever anybody said
		"ls && npm test && rm x":   "deny p.yaml#3",
		"npm test && $X":           "ask p.yaml#2",
	} {
		v := policy.Decide(p, policy.Context{Mode: harness.Normal, Directory: directory}, grants, rules, line(text))
		if string(v.Outcome)+" "+v.Rule != want {
			t.Errorf("%q: %s by %s, want %s", text, v.Outcome, v.Rule, want)
		}
	}
	// One about the whole tool, as earlier versions left it, does not answer
	// what a rule asks about.
	whole := []harness.Rule{{ID: "rul_0", Tool: "bash"}}
	for text, want := range map[string]policy.Outcome{"npm test": policy.Allow, "git push": policy.Ask, "ls && git push": policy.Ask, "rm x": policy.Deny} {
		if v := policy.Decide(p, policy.Context{Mode: harness.Normal, Directory: directory}, nil, whole, line(text)); v.Outcome != want {
			t.Errorf("%q: %s by %s, want %s", text, v.Outcome, v.Rule, want)
		}
	}
	// A pattern of a later version covers nothing.
	if v := policy.Decide(nil, policy.Context{Directory: directory}, nil, []harness.Rule{{ID: "rul_9", Tool: "bash", Pattern: "future:x"}}, line("ls")); v.Outcome != policy.Ask {
		t.Errorf("%+v", v)
	}
}
