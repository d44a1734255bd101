package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"harness/model/modeltest"
	"harness/sandbox/bwrap"
)

// The reference server from npm, in namespaces, called by the model of a
// `harness run`.
func TestAnMCPServerFromNpmWorksInTheSandbox(t *testing.T) {
	t.Parallel()
	modules, err := filepath.Abs("../../tool/mcp/testdata/node/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if modules, err = filepath.EvalSymlinks(modules); err != nil {
		mustHave(t, "server-everything is not installed: npm ci --prefix tool/mcp/testdata/node")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		mustHave(t, "node is not installed")
	}
	if _, err := bwrap.New(nil).Probe(t.Context()); err != nil {
		mustHave(t, "bubblewrap does not work here: "+err.Error())
	}
	models := modeltest.Serve(t, `
when step 1
  call mcp__everything__get-sum {"a":40,"b":2}
when result "42"
  say The server says 42.
`)
	file := jsonFile(t, map[string]any{"mcpServers": map[string]any{"everything": map[string]any{
		"command": node, "args": []string{filepath.Join(modules, "@modelcontextprotocol/server-everything/dist/index.js"), "stdio"},
	}}})
	o := finish(t, invocation(t, append(append([]string{"run"}, scripted(t, models, "anthropic", "x")...), "--mcp", file, "--cwd", t.TempDir(), "--approve", "all",
		"--sandbox", "required:bwrap", "--sandbox-read", filepath.Dir(modules)+","+filepath.Dir(filepath.Dir(node)), "add 40 and 2")...))
	if o.code != 0 || !strings.Contains(o.stdout, "✓ mcp__everything__get-sum") || !strings.HasSuffix(o.stdout, "The server says 42.\n") {
		t.Errorf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
}

// badServers are programs that take part in the protocol up to a place.
var badServers = map[string]struct{ script, says string }{
	"dies":   {"echo broken >&2; exit 7", ""},
	"floods": {"exec yes", ""},
	"babble": {`exec yes '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}'`, ""},
	// These say hello first.
	"mute":  {strings.Replace(shellServer, `*'"tools/call"'*) echo`, `*'"tools/call"'*) sleep 600; echo`, 1), "no answer within 1s"},
	"falls": {strings.Replace(shellServer, `*'"tools/call"'*) echo`, `*'"tools/call"'*) echo fallen >&2; exit 3; echo`, 1), "fallen"},
	"roars": {strings.Replace(shellServer, `*'"tools/call"'*) echo`, `*'"tools/call"'*) exec yes; echo`, 1), ""},
}

// A server that dies, floods or does not answer costs its own calls and nothing
// else: the session goes on, and its other tools work.
func TestABadMCPServerDoesNotHurtTheSession(t *testing.T) {
	t.Parallel()
	bad := maps.Clone(badServers)
	if os.Getenv("LONG") != "" { // the time that a server has to start
		bad["hangs"] = struct{ script, says string }{"exec sleep 600", ""}
	}
	for name, c := range bad {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			models := modeltest.Serve(t, fmt.Sprintf(`
when user "use it" and step 1 and tool mcp__%[1]s__last
  call mcp__%[1]s__last {}
  call bash {"command":"echo still-here"}
when user "use it" and step 1
  call bash {"command":"echo still-here"}
when result "still-here"
  say I go on.
else
  say Again.
`, name))
			dir := t.TempDir()
			path := filepath.Join(dir, name+".sh")
			if err := os.WriteFile(path, []byte(c.script), 0o755); err != nil {
				t.Fatal(err)
			}
			file := jsonFile(t, map[string]any{"mcpServers": map[string]any{name: map[string]any{"command": "/bin/sh", "args": []string{path}, "timeout": 1000}}})
			s := &nativeServer{models: models, dir: dir}
			s.process = start(t, append(scripted(t, models, "anthropic", "x"), "--mcp", file, "--cwd", dir)...)
			id := s.chat(t, "full_auto")
			all := s.say(t, id, "use it", "")
			if end := only(t, all, "turn_end"); end.id("status") != "completed" || only(t, all, "completed").id("result") != "I go on." {
				t.Errorf("%v %v", end.Payload, of(all, "error"))
			}
			for _, o := range of(all, "tool_outcome") {
				if mine := strings.HasPrefix(o.id("tool_name"), "mcp__"); mine && (o.id("status") == "ok" || !strings.Contains(o.id("error"), c.says)) || !mine && o.id("status") != "ok" {
					t.Errorf("%v", o.Payload)
				}
			}
			if n := len(of(all, "tool_outcome")); c.says != "" && n != 2 {
				t.Errorf("%d calls, want 2: %v", n, all)
			}
			if all := s.say(t, id, "and now?", ""); only(t, all, "turn_end").id("status") != "completed" {
				t.Errorf("the next turn: %v", all)
			}
		})
	}
}

// mustHave skips a test whose real counterpart is missing; in CI that fails.
func mustHave(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}
