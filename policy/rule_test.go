package policy_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/policy"
)

// The first rule that fits decides, and its verdict says which it is.
func TestTheFirstRuleThatFitsDecides(t *testing.T) {
	p := read(t, `
rules:
  - {deny: "*", paths: ["**/.env", "**/.env.*", secrets/**], name: no-secrets, reason: they are not for agents}
  - {deny: fetch, hosts: ["*.internal", 169.254.169.254]}
  - {allow: fetch, hosts: [docs.example.com, "*.golang.org", "localhost:8080"]}
  - {allow: [write, edit], paths: [docs/**, "*.md"]}
  - {ask: "*", place: outside}
  - {deny: bash, commands: ["git push *"], kind: background}
  - {ask: bash, commands: ["git push *"]}
  - {allow: bash, commands: ["git *"], mode: [normal, accept_edits]}
  - {allow: "mcp__docs__*"}
  - {deny: deploy, user: "guest-*"}
  - {allow: deploy, engine: native}
`)
	for call, want := range map[string]string{
		"read .env":                                        "deny p.yaml#no-secrets",
		"read a/b/.env.local":                              "deny p.yaml#no-secrets",
		"read a/.ENV":                                      "deny p.yaml#no-secrets",
		"read src/../.env":                                 "deny p.yaml#no-secrets",
		"read /w/project/.env":                             "deny p.yaml#no-secrets",
		"read secrets/a/b":                                 "deny p.yaml#no-secrets",
		"grep secrets":                                     "deny p.yaml#no-secrets",
		"bash cat .env":                                    "deny p.yaml#no-secrets",
		"bash ls && cat < secrets/a":                       "deny p.yaml#no-secrets",
		"bash tool --file=.env":                            "deny p.yaml#no-secrets",
		"read a.go":                                        "allow access.read",
		"read ~/.env":                                      "ask p.yaml#no-secrets",
		`read {"path":".env","path":"x"}`:                  "ask p.yaml#no-secrets",
		`read {"path":7}`:                                  "ask p.yaml#no-secrets",
		`patch {"diff":"--- a/.env\n+++ b/.env\n"}`:        "deny p.yaml#no-secrets",
		`patch {"diff":"nothing"}`:                         "ask p.yaml#no-secrets",
		`patch {"diff":"--- a/x\n+++ b/x\n"}`:              "ask mode.normal",
		"write docs/a/b.txt":                               "allow p.yaml#4",
		"write README.md":                                  "allow p.yaml#4",
		"write src/a/notes.md":                             "allow p.yaml#4",
		"write docs/../src/a.go":                           "ask p.yaml#no-secrets",
		"write docs/../../x.md":                            "ask p.yaml#5",
		"write src/a.go":                                   "ask mode.normal",
		"write /etc/passwd":                                "ask p.yaml#5",
		"write /w/project2/README.md":                      "ask p.yaml#5",
		"read /etc/passwd":                                 "ask p.yaml#5",
		"fetch https://docs.example.com/a":                 "allow p.yaml#3",
		"fetch https://pkg.golang.org":                     "allow p.yaml#3",
		"fetch https://golang.org":                         "ask mode.normal",
		"fetch https://evil-golang.org":                    "ask mode.normal",
		"fetch https://docs.example.com.evil.com":          "ask mode.normal",
		"fetch https://docs.example.com:8443/":             "ask mode.normal",
		"fetch https://docs.example.com@evil.com/":         "ask mode.normal",
		"fetch https://evil.com#docs.example.com":          "ask mode.normal",
		"fetch http://localhost:8080/":                     "allow p.yaml#3",
		"fetch http://localhost:8081/":                     "ask mode.normal",
		"fetch file://docs.example.com/x":                  "ask mode.normal",
		"fetch https://wiki.internal/":                     "deny p.yaml#2",
		"fetch https://WIKI.INTERNAL./":                    "deny p.yaml#2",
		"fetch http://169.254.169.254/latest":              "deny p.yaml#2",
		"fetch http://0xa9fea9fe/latest":                   "ask p.yaml#2",
		"fetch http://2852039166/latest":                   "ask p.yaml#2",
		"fetch http://[::ffff:169.254.169.254]/":           "ask p.yaml#2",
		"fetch http://ｗiki.internal/":                      "deny p.yaml#2",
		"fetch http://wiki。internal/":                      "ask p.yaml#2",
		"fetch http://%zz":                                 "ask p.yaml#2",
		"bash git status":                                  "allow p.yaml#8",
		"bash git push":                                    "ask p.yaml#7",
		"bash git status && git push origin":               "ask p.yaml#7",
		"bash git status && rm x":                          "ask mode.normal",
		`bash {"command":"git status","cmd":"rm x"}`:       "ask p.yaml#7",
		`bash {"command":"git status","Command":"rm"}`:     "ask p.yaml#7",
		`bash {"command":["git","status"]}`:                "allow p.yaml#8",
		`bash {"command":["git","-c","a=b","status"]}`:     "ask mode.normal",
		`bash {"command":["bash","-lc","git status"]}`:     "allow p.yaml#8",
		`bash {"command":["bash","-lc","rm x"]}`:           "ask mode.normal",
		`bash {"command":"git status","directory":"sub"}`:  "allow p.yaml#8",
		`bash {"command":"git status","directory":"/tmp"}`: "ask mode.normal",
		`bash {"command":"git status","directory":"../x"}`: "ask mode.normal",
		`PowerShell {"command":"git status"}`:              "ask mode.normal",
		"Bash git push":                                    "ask p.yaml#7",
		`mcp__docs__search {"q":"x"}`:                      "allow p.yaml#9",
		`mcp__other__search {"q":"x"}`:                     "ask mode.normal",
		`deploy {"to":"prod"}`:                             "ask mode.normal",
	} {
		if v := try(t, p, call); string(v.Outcome)+" "+v.Rule != want {
			t.Errorf("%s: %s by %s (%s), want %s", call, v.Outcome, v.Rule, v.Reason, want)
		}
	}
	for _, c := range []struct {
		ctx  policy.Context
		call string
		want string
	}{
		{policy.Context{Engine: "native"}, `deploy {}`, "allow p.yaml#11"},
		{policy.Context{Engine: "native", User: "guest-7"}, `deploy {}`, "deny p.yaml#10"},
		{policy.Context{Kind: harness.Background}, `bash git push`, "deny p.yaml#6"},
		{policy.Context{Mode: harness.FullAuto}, `bash git push`, "ask p.yaml#7"},
		{policy.Context{Mode: harness.FullAuto}, `bash git status`, "allow mode.full_auto"},
		{policy.Context{Mode: harness.FullAuto}, `bash cat .env`, "deny p.yaml#no-secrets"},
		{policy.Context{Mode: harness.AcceptEdits}, `write .env`, "deny p.yaml#no-secrets"},
		{policy.Context{Mode: harness.AcceptEdits}, `write src/a.go`, "allow mode.accept_edits"},
	} {
		c.ctx.Directory = directory
		if v := tryIn(t, p, c.ctx, c.call); string(v.Outcome)+" "+v.Rule != c.want {
			t.Errorf("%+v %s: %s by %s, want %s", c.ctx, c.call, v.Outcome, v.Rule, c.want)
		}
	}
	if v := try(t, p, "read .env"); v.Reason != "they are not for agents" || v.Source != policy.ByFile {
		t.Errorf("%+v", v)
	}
}

// Nobody is asked in a session that nobody sits at, if the file says so, and
// questions there do not wait for ever.
func TestUnattendedSessions(t *testing.T) {
	p := read(t, "unattended: {default: deny, deadline: 10m}\nrules: [{ask: bash, commands: [ls]}]")
	for _, call := range []string{"bash ls", "bash pwd"} {
		v := tryIn(t, p, policy.Context{Mode: harness.Normal, Kind: harness.Background, Directory: directory}, call)
		if v.Outcome != policy.Deny || v.Rule != "p.yaml#unattended" {
			t.Errorf("%s: %+v", call, v)
		}
		if v := tryIn(t, p, policy.Context{Mode: harness.Normal, Kind: harness.Chat, Directory: directory}, call); v.Outcome != policy.Ask || v.Wait != 0 {
			t.Errorf("%s in a chat: %+v", call, v)
		}
	}
	p = read(t, "unattended: {deadline: 10m}")
	if v := tryIn(t, p, policy.Context{Mode: harness.Normal, Kind: harness.Background, Directory: directory}, "bash ls"); v.Outcome != policy.Ask || v.Wait != 10*time.Minute {
		t.Errorf("%+v", v)
	}
}

// A file says exactly what is wrong with it, and where.
func TestMistakesInAFileAreNamedWithTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		"rules:\n  - allow: bash\n    comands: [ls]":                      `p.yaml:3: unknown key "comands"`,
		"rules:\n  - allow: bash\n    allow: sh":                          `p.yaml:3: the key "allow" is there twice`,
		"rules:\n  - allow: bash\n    deny: sh":                           "p.yaml:3: a rule has one of allow, ask and deny",
		"rules:\n  - commands: [ls]":                                      "p.yaml:2: a rule begins with allow, ask or deny",
		"rules:\n  - allow: bash\n    commands: ['ls && rm']":             `p.yaml:3: "ls && rm" is not one plain command`,
		"rules:\n  - allow: bash\n    commands: ['* x']":                  "p.yaml:3: \"* x\": a pattern begins with a program",
		"rules:\n  - allow: bash\n    commands: ['ls $X']":                "is not one plain command",
		"rules:\n  - allow: bash\n    commands: ['ls > x']":               "is not one plain command",
		"rules:\n  - allow: bash\n    commands: []":                       "p.yaml:3: the list is empty",
		"rules:\n  - allow: write\n    paths: ['../x']":                   "write it without ..",
		"rules:\n  - allow: write\n    paths: ['~/x']":                    "relative to the workspace",
		"rules:\n  - allow: write\n    paths: ['[ab]']":                   "classes of characters",
		"rules:\n  - allow: write\n    paths: ['a**']":                    "** stands alone",
		"rules:\n  - allow: fetch\n    hosts: ['https://a.b']":            "is not a host",
		"rules:\n  - allow: fetch\n    hosts: ['*']":                      "is not a host",
		"rules:\n  - allow: bash\n    commands: [curl]\n    hosts: [a.b]": "an allow has commands or hosts",
		"rules:\n  - deny: bash\n    commands: [curl]\n    env: [A]":      "env is for commands that are allowed",
		"rules:\n  - allow: bash\n    mode: [yolo]":                       `"yolo" is none of`,
		"rules:\n  - allow: bash\n    kind: daemon":                       `"daemon" is none of`,
		"rules:\n  - allow: bash\n    place: here":                        "place is inside or outside",
		"rules:\n  - allow: bash\n    name: 'a b'":                        "a name is one word",
		"rules: allow":                 "p.yaml:1: a list of rules",
		"rules:\n  - allow: ":          "p.yaml:2: one value is expected",
		"unattended: {default: allow}": "default is ask or deny",
		"unattended: {deadline: -1s}":  "deadline is a time",
		"trust: [src]":                 "a trusted directory is an absolute path",
		"policy:\n  rule: []":          `p.yaml:2: unknown key "rule"`,
		"other: 1":                     `unknown key "other"`,
		"rules: [":                     "p.yaml: line 1",
		"rules: []\n---\nrules: []":    "a second document",
		"[]":                           "keys and values are expected",
		"x: &a [*a]":                   "p.yaml",
	} {
		_, err := policy.Parse("p.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || harness.AsError(err) != harness.ErrInvalid {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{"", "# nothing\n", "policy:\n", "addr: 127.0.0.1:1\npolicy: {rules: [{allow: bash}]}\n", "rules: []"} {
		if _, err := policy.Parse("p.yaml", []byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The rules of a workspace can refuse and ask. They allow nothing, unless the
// server trusts the directory, and then nothing that the server refuses.
func TestAWorkspaceCanOnlyBeStricter(t *testing.T) {
	server := "rules: [{deny: bash, commands: ['git push *']}, {allow: bash, commands: ['go test *', 'ls *']}]\n"
	workspace := read(t, "rules: [{allow: bash, commands: ['ls src', 'make *', 'git *']}, {deny: bash, commands: ['make *', 'go test -race *']}, {ask: bash, commands: ['ls *']}]\nunattended: {default: deny}")
	for _, c := range []struct{ call, untrusted, trusted string }{
		{"bash git push", "deny p.yaml#1", "deny p.yaml#1"},
		{"bash make all", "ask mode.normal", "allow p.yaml#1"}, // its own exception from its own deny
		{"bash go test -race ./...", "deny p.yaml#2", "allow p.yaml#2"},
		{"bash go test ./...", "allow p.yaml#2", "allow p.yaml#2"},
		{"bash ls src", "allow p.yaml#2", "allow p.yaml#2"},
		{"bash ls docs", "ask p.yaml#3", "allow p.yaml#2"},
		{"bash git status", "ask mode.normal", "allow p.yaml#1"},
		{"write .harness/policy.yaml", "ask builtin#rules", "ask builtin#rules"},
		{"write .harness/rules.jsonl", "ask builtin#rules", "ask builtin#rules"},
		{"bash cp x .harness/policy.yaml", "ask builtin#rules", "ask builtin#rules"},
		{"bash echo x > .harness/policy.yaml", "ask builtin#rules", "ask builtin#rules"},
		{"read .harness/policy.yaml", "allow access.read", "allow access.read"},
	} {
		for trust, want := range map[string]string{"": c.untrusted, "trust: [/w/*]\n": c.trusted, "trust: [/w]\n": c.untrusted} {
			p := policy.Join(read(t, trust+server), workspace, directory)
			if v := try(t, p, c.call); string(v.Outcome)+" "+v.Rule != want {
				t.Errorf("%s with %q: %s by %s, want %s", c.call, trust, v.Outcome, v.Rule, want)
			}
		}
	}
	for _, server := range []*policy.Policy{nil, {}} {
		p := policy.Join(server, workspace, directory)
		if v := tryIn(t, p, policy.Context{Kind: harness.Background, Directory: directory}, "bash x"); v.Outcome != policy.Deny {
			t.Errorf("%+v", v)
		}
		full := policy.Context{Mode: harness.FullAuto, Directory: directory}
		if v := tryIn(t, p, full, "write .harness/policy.yaml"); v.Outcome != policy.Ask {
			t.Errorf("full auto changes the rules: %+v", v)
		}
		if v := tryIn(t, policy.Join(server, nil, directory), full, "write a"); v.Outcome != policy.Allow {
			t.Errorf("%+v", v)
		}
		broken := policy.Join(server, policy.Unreadable(policy.WorkspaceFile, harness.ErrCorrupt), directory)
		if v := tryIn(t, broken, full, "write a"); v.Outcome != policy.Ask || v.Source != policy.ByWorkspace {
			t.Errorf("with rules that cannot be read: %+v", v)
		}
	}
}

// The sample and the page about policy have files that can be read, and do what
// they say.
func TestTheFilesOfTheDocumentationCanBeRead(t *testing.T) {
	sample, err := os.ReadFile("../docs/harness.yaml")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	inPage, _, _ := strings.Cut(rest, "```")
	for name, text := range map[string]string{"sample": string(sample), "page": inPage} {
		p := read(t, text)
		for call, want := range map[string]policy.Outcome{
			"read .env": policy.Deny, "bash git push origin": policy.Ask, "bash git push --force": policy.Deny, "bash go test ./...": policy.Allow, "bash CI=1 npm test": policy.Allow, "bash npm test && rm -rf /": map[string]policy.Outcome{"sample": policy.Ask, "page": policy.Deny}[name],
			"fetch https://pkg.go.dev/x": policy.Allow, "fetch https://example.com": policy.Ask, "bash ls && cd src && git status": policy.Allow,
		} {
			if v := try(t, p, call); v.Outcome != want {
				t.Errorf("%s: %s: %s by %s, want %s", name, call, v.Outcome, v.Rule, want)
			}
		}
	}
}
