package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"harness/custody"
	"harness/engine/agenttest"
	"harness/model/modeltest"
	protocol "harness/protocol/runner"
)

// halves is an answer that stops in the middle until it may go on.
const halves = `when step 1
  say First half,
  pause middle
  say  second half.
else
  say Nothing.
`

// The server is killed while an agent below a runner speaks. The agent does not
// notice, and what it says meanwhile and later is there, once. Its key came from
// the server's environment, and neither the runner nor the sandbox has it in
// theirs.
func TestKill9OfTheServerLosesNothingOfAnAgentsTurn(t *testing.T) {
	t.Parallel()
	for name, engine := range map[string]string{"native": "native", "claude": "claude"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "claude" {
				engine += ":" + agenttest.Installed(t, agenttest.Claude)
			}
			models := modeltest.Serve(t, halves)
			dir, cwd := t.TempDir(), t.TempDir()
			t.Cleanup(func() {
				if _, err := book(t, dir).Reconcile(context.Background(), func(custody.Entry) bool { return false }); err != nil {
					t.Error(err)
				}
			})
			begin := func() *process {
				cmd := invocation(t, "serve", "--addr", "127.0.0.1:0", "--data", dir, "--cwd", cwd, "--engine", "runner:"+engine, "--model", "anthropic",
					"--model-url", "anthropic="+models.URL)
				cmd.Env = append(cmd.Env, "ANTHROPIC_API_KEY="+modelKey)
				return launch(t, cmd)
			}
			p := begin()
			v := p.view("?userId=ada")
			acked(t, v.submit("Speak."))
			v.see("the first half", func(s seen) bool { return strings.Contains(said(s), "First half,") || s.Status == "error" })
			before := runnerOf(t, dir)
			keyless(t, dir)
			p.kill()
			models.Open("middle")
			until(t, "the run to be over without a server", func() bool { return rested(t, dir) })
			p = begin()
			v = p.view("?userId=ada")
			s := v.see("the end", func(s seen) bool { return s.Status != "running" })
			if got := said(s); s.Status != "idle" || got != "First half, second half." {
				t.Errorf("the session is %s (%s) and said %q\n%s", s.Status, s.Error, got, p.errors())
			}
			acked(t, v.submit("Again.")) // the same runner
			v.see("another turn", func(s seen) bool {
				return s.Status == "error" || s.Status == "idle" && strings.Count(said(s), "second half.") == 2
			})
			if now := runnerOf(t, dir); now.PID != before.PID {
				t.Errorf("the runner was %+v and is %+v", before, now)
			}
			keyed := false
			for _, r := range models.All() {
				keyed = keyed || r.Header.Get("X-Api-Key") == modelKey
			}
			if !keyed {
				t.Error("the model server did not get the key")
			}
		})
	}
}

// runnerOf is the one runner of a data directory.
func runnerOf(t *testing.T, dir string) custody.Entry {
	t.Helper()
	all := hosts(t, dir)
	i := slices.IndexFunc(all, func(e custody.Entry) bool { return e.Role == custody.Runner })
	if i < 0 {
		t.Fatalf("there is no runner among %+v", all)
	}
	return all[i]
}

// rested reports whether the runner of a data directory has nothing to do.
func rested(t *testing.T, dir string) bool {
	t.Helper()
	e := runnerOf(t, dir)
	token, err := os.ReadFile(filepath.Join(filepath.Dir(e.Socket), "token"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := protocol.NewSocketClient(e.Socket, strings.TrimSpace(string(token))).Health(t.Context())
	return err == nil && !h.Busy
}

// keyless checks that no process in the book has the key where others can look.
func keyless(t *testing.T, dir string) {
	t.Helper()
	looked := 0
	for _, e := range hosts(t, dir) {
		for _, name := range []string{"cmdline", "environ"} {
			b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", e.PID, name))
			if err != nil && !os.IsPermission(err) && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			if looked += len(b); strings.Contains(string(b), modelKey) {
				t.Errorf("the key is in the %s of the %s", name, e.Role)
			}
		}
	}
	if looked == 0 {
		t.Error("nothing could be looked at")
	}
	_ = filepath.WalkDir(filepath.Join(dir, "runners"), func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), modelKey) {
				t.Errorf("the key is in %s", path)
			}
		}
		return nil
	})
}

// An agent below a runner looks everywhere it can for the key that its model is
// asked with, and does not find it.
func TestTheKeyStaysOutOfTheSandboxBelowARunner(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ engine, tool string }{
		"native": {"native", "bash"}, "claude": {"claude", "Bash"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "claude" {
				c.engine += ":" + agenttest.Installed(t, agenttest.Claude)
			}
			models := modeltest.Serve(t, strings.ReplaceAll(scene, "%TOOL%", c.tool))
			dir, cwd := t.TempDir(), t.TempDir()
			cmd := invocation(t, "serve", "--addr", "127.0.0.1:0", "--data", dir, "--cwd", cwd, "--engine", "runner:"+c.engine, "--model", "anthropic",
				"--model-url", "anthropic="+models.URL)
			cmd.Env = append(cmd.Env, "ANTHROPIC_API_KEY="+modelKey)
			p := launch(t, cmd)
			events := p.turns(t, "Look for the key.", "full_auto")
			if end := events["turn_end"]; len(end) != 1 || end[0]["status"] != "completed" {
				t.Fatalf("%v %v\n%s", end, events["error"], p.errors())
			}
			if text, err := os.ReadFile(filepath.Join(cwd, "seen.txt")); err != nil || string(text) != "0\n" {
				t.Errorf("the command counted %q, %v: %v", text, err, events["tool_outcome"])
			}
			keyless(t, dir)
			if !slices.ContainsFunc(models.All(), func(r *modeltest.Request) bool { return r.Header.Get("X-Api-Key") == modelKey }) {
				t.Error("the model server did not get the key")
			}
			if code := p.stop(); code != 0 {
				t.Errorf("exit code %d\n%s", code, p.errors())
			}
			until(t, "everything to be gone with the server", func() bool { return len(hosts(t, dir)) == 0 })
		})
	}
}
