package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// transcriptOf is a transcript that a real program has written.
func transcriptOf(t testing.TB, program string) (path, text string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../archive", program, "testdata/session.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, string(b)
}

// taken takes a transcript in and returns the session's id, and what was said
// about it.
func taken(t testing.TB, program, dir string, more ...string) (id, said string) {
	t.Helper()
	path, _ := transcriptOf(t, program)
	said = mustRun(t, append(append([]string{"sessions", "import", "--data", dir, "--from", program}, more...), path)...)
	id, _, _ = strings.Cut(said, ":")
	return id, said
}

// TestATranscriptBecomesASession that can be read, branched and gone on with by
// another engine, whose model is told what was said before.
func TestATranscriptBecomesASession(t *testing.T) {
	t.Parallel()
	for program, call := range map[string]string{"claude": "cat made.txt", "codex": "cat made.txt"} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			dir, work := filepath.Join(t.TempDir(), "data"), t.TempDir()
			id, said := taken(t, program, dir, "--cwd", work)
			if !strings.HasPrefix(id, "ses_"+program+"-") || !strings.Contains(said, "lost: ") {
				t.Errorf("import says %q", said)
			}
			if _, again := taken(t, program, dir, "--cwd", work); !strings.Contains(again, " 0 new") || strings.Count(mustRun(t, "sessions", "ls", "--data", dir, "--json"), "\n") != 1 {
				t.Errorf("import again says %q", again)
			}
			shown := mustRun(t, "sessions", "show", "--data", dir, id)
			for _, want := range []string{"look around", "I will look.", call, "It says made.", "what is left?", "Nothing is left."} {
				if !strings.Contains(shown, want) {
					t.Errorf("it does not show %q:\n%s", want, shown)
				}
			}
			s := startNative(t, `
when user "go on"
  say Going on.
else
  say Branched.`, "--data", dir)
			var branch struct {
				ID string `json:"session_id"`
			}
			if err := json.Unmarshal(s.post(t, "/chat/sessions/"+id+"/branch", []byte(`{}`)), &branch); err != nil {
				t.Fatal(err)
			}
			for session, prompt := range map[string]string{id: "go on", branch.ID: "and here"} {
				events := s.say(t, session, prompt, "allow")
				if end := only(t, events, "turn_end"); end.id("status") != "completed" {
					t.Errorf("%s ends with %v", session, end.Payload)
				}
				all := s.models.Requests()
				body := string(all[len(all)-1].Body)
				if program == "codex" && !strings.Contains(body, call) || !strings.Contains(body, "Nothing is left.") || !strings.Contains(body, prompt) {
					t.Errorf("the model is told …%s", body[max(0, len(body)-3000):])
				}
			}
			if state := of(s.log(t, id), "session_state"); state[len(state)-1].id("engine") != "native" {
				t.Errorf("it does not say who goes on with it: %v", state)
			}
			s.stop()
			if _, again := taken(t, program, dir, "--cwd", work); !strings.Contains(again, "gone on here") {
				t.Errorf("import after it went on says %q", again)
			}
		})
	}
}

// TestATranscriptCanBeSent over HTTP, by those who may import.
func TestATranscriptCanBeSent(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	send := func(as, query, text string) reply {
		return h.send(t, ask{as: as, method: "POST", path: "/sessions/import?" + query, body: text, header: http.Header{"Content-Type": {"application/jsonl"}}})
	}
	for _, program := range []string{"claude", "codex"} {
		_, text := transcriptOf(t, program)
		if got := send("ada", "from="+program, text); got.status != http.StatusForbidden {
			t.Errorf("a user may: %d %s", got.status, got.body)
		}
		got := send("owner", "from="+program+"&user_id=ada", text)
		var made struct {
			ID   string `json:"session_id"`
			User string `json:"user_id"`
			Lost []struct {
				Kind  string
				Count int
			}
		}
		if err := json.Unmarshal([]byte(got.body), &made); err != nil || got.status != http.StatusCreated || made.User != "ada" || len(made.Lost) == 0 || made.Lost[0].Count == 0 {
			t.Fatalf("%d %s, %v", got.status, got.body, err)
		}
		if again := send("owner", "from="+program+"&user_id=ada", text); again.status != http.StatusConflict {
			t.Errorf("again: %d %s", again.status, again.body)
		}
		if got := h.send(t, ask{as: "ada", method: "GET", path: "/sessions/" + made.ID + "/state"}); !strings.Contains(got.body, "Nothing is left.") {
			t.Errorf("it is shown as %d %s", got.status, got.body)
		}
		h.unchanged(t, func() {
			if got := send("owner", "from="+program, text[:len(text)/2]+"}\n"+text); got.status != http.StatusBadRequest || !strings.Contains(got.body, "line ") {
				t.Errorf("a damaged one: %d %s", got.status, got.body)
			}
			if got := send("owner", "from=gemini", "{}"); got.status != http.StatusBadRequest {
				t.Errorf("another program: %d %s", got.status, got.body)
			}
			if got := send("owner", "user_id=ada", "{}"); got.status != http.StatusBadRequest {
				t.Errorf("an archive of somebody: %d %s", got.status, got.body)
			}
		})
	}
}

// TestAllTranscriptsOfAUserAreFound where their programs keep them. One that is
// damaged does not keep the rest out, and none of it is written.
func TestAllTranscriptsOfAUserAreFound(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	put := func(path, text string) {
		t.Helper()
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, claude := transcriptOf(t, "claude")
	_, codex := transcriptOf(t, "codex")
	put(".claude/projects/-home-ada/a.jsonl", claude)
	put(".claude/projects/-home-ada/b.jsonl", `{"type":"summary"}`+"\n")
	put(".claude/projects/-home-ada/a/subagents/agent-1.jsonl", "not to be read")
	put(".claude/projects/-home-ada/notes.txt", "not to be read")
	put(".codex/sessions/2026/01/02/rollout-1.jsonl", codex)
	put(".codex/sessions/2026/01/02/rollout-2.jsonl", codex[:1000]+"\n"+codex)
	run := func(from, data string, more ...string) outcome {
		cmd := invocation(t, append([]string{"sessions", "import", "--data", data, "--from", from}, more...)...)
		cmd.Env = append(cmd.Env, "HOME="+home)
		return finish(t, cmd)
	}
	data := filepath.Join(t.TempDir(), "data")
	if o := run("claude", data, "--all"); o.code != 0 || !strings.HasPrefix(o.stdout, "ses_claude-") || strings.Count(o.stdout, "\n") != 1 || !strings.Contains(o.stderr, "b.jsonl: passed over") {
		t.Errorf("%d\n%s\n%s", o.code, o.stdout, o.stderr)
	}
	if o := run("codex", data, "--all"); o.code != 1 || !strings.HasPrefix(o.stdout, "ses_codex-") || !strings.Contains(o.stderr, "rollout-2.jsonl: line 2") || !strings.Contains(o.stderr, "1 of 2 transcripts") {
		t.Errorf("%d\n%s\n%s", o.code, o.stdout, o.stderr)
	}
	if got := mustRun(t, "sessions", "ls", "--data", data, "--json"); strings.Count(got, "\n") != 2 {
		t.Errorf("there are\n%s", got)
	}
	other := filepath.Join(t.TempDir(), "none")
	run("codex", other, filepath.Join(home, ".codex/sessions/2026/01/02/rollout-2.jsonl")).failed(t, 1, "line 2")
	run("claude", other, filepath.Join(home, ".codex/sessions/2026/01/02/rollout-1.jsonl")).failed(t, 1, "no conversation")
	run("claude", other, filepath.Join(home, "missing")).failed(t, 1, "no such file")
	if _, err := os.Stat(other); !os.IsNotExist(err) {
		t.Errorf("something was written: %v", err)
	}
	run("gemini", other, "x").failed(t, 2, "claude, codex")
	run("claude", other).failed(t, 2, "which file")
	run("claude", other, "--all", "x").failed(t, 2, "which file")
	mustFail(t, 2, []string{"need --from"}, "sessions", "import", "--all")
}
