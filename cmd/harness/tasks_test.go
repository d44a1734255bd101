package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"harness"
)

// An isolated session works in a place of its own: in a worktree of a repository
// on a branch of its own, else in a copy. What it does there, nobody sees in the
// directory. The place is an artifact, and goes with the session.
func TestAnIsolatedSessionWorksInAPlaceOfItsOwn(t *testing.T) {
	t.Parallel()
	for kind, prepare := range map[string]func(dir string) error{
		"copy": func(string) error { return nil },
		"worktree": func(dir string) error {
			for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "first"}} {
				cmd := exec.Command("git", args...)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
				if err := cmd.Run(); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir, rooms := t.TempDir(), filepath.Join(t.TempDir(), "rooms")
			if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := prepare(dir); err != nil {
				mustHave(t, "git: "+err.Error())
			}
			p := start(t, "--engine", "native", "--model", "offline", "--pace", "0", "--cwd", dir, "--tasks", rooms)
			s := &nativeServer{process: p, dir: dir}
			var made struct {
				ID        string `json:"session_id"`
				Directory string
			}
			if err := json.Unmarshal(p.post(t, "/chat/sessions", []byte(`{"permission_mode":"full_auto","isolated":true}`)), &made); err != nil {
				t.Fatal(err)
			}
			var work struct {
				Directory string
				Mode      string `json:"sandbox_mode"`
			}
			if err := json.Unmarshal(p.post(t, "/sessions", []byte(`{"prompt":"say hello"}`)), &work); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(work.Directory, rooms) || work.Mode != "task_workspace" {
				t.Errorf("background work is done in %q, %q", work.Directory, work.Mode)
			}
			s.say(t, made.ID, "replace one with two in a.txt", "")
			there, err := os.ReadFile(filepath.Join(rooms, made.ID, "tree", "a.txt"))
			if here, _ := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(there) != "two\n" || string(here) != "one\n" {
				t.Fatalf("there is %q, here %q, %v: %+v", there, here, err, s.log(t, made.ID))
			}
			if a := of(s.log(t, made.ID), "artifact")[0]; a.id("artifact_type") != harness.WorkspaceArtifact || a.Payload["metadata"].(map[string]any)["kind"] != kind {
				t.Errorf("the artifact is %+v", a)
			} else if status, body := p.get(a.id("uri"), nil); status != 200 || !strings.Contains(body, rooms) {
				t.Errorf("its content is %d %s", status, body)
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, p.http+"/sessions/"+made.ID, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header = p.bearer(nil)
			if res, err := http.DefaultClient.Do(req); err != nil || res.StatusCode/100 != 2 {
				t.Fatalf("%v %v", res, err)
			}
			if _, err := os.Stat(filepath.Join(rooms, made.ID)); !os.IsNotExist(err) {
				t.Errorf("the place is still there: %v", err)
			}
		})
	}
}

// harness run says where an isolated thread works, and leaves our own directory
// out of a copy.
func TestRunIsolatedSaysWhere(t *testing.T) {
	t.Parallel()
	dir, rooms := t.TempDir(), t.TempDir()
	o := finish(t, running(t, dir, "--isolated", "--tasks", rooms, "hello"))
	made, err := filepath.Glob(filepath.Join(rooms, "*", "tree"))
	if err != nil || len(made) != 1 || o.code != 0 || !strings.Contains(o.stderr, "working in "+made[0]) {
		t.Fatalf("exit code %d, %q, %v: %s", o.code, made, err, o.stderr)
	}
	if _, err := os.Stat(filepath.Join(made[0], ".harness")); !os.IsNotExist(err) {
		t.Errorf("the copy has our own directory: %v", err)
	}
}

// A workspace that a crash left half made is gone after the next start, one that
// somebody may have worked in is not.
func TestWorkspacesAreReconciledWithSessions(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	half, whole := filepath.Join(data+"-tasks", "ses_half"), filepath.Join(data+"-tasks", "ses_whole")
	for _, dir := range []string{half, whole} {
		if err := os.MkdirAll(filepath.Join(dir, "tree"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(whole, "task.json"), []byte(`{"name":"ses_whole","kind":"copy"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "--data", data)
	if _, err := os.Stat(half); !os.IsNotExist(err) {
		t.Errorf("the half one is left: %v", err)
	}
	if _, err := os.Stat(whole); err != nil {
		t.Errorf("the whole one: %v", err)
	}
	eventually(t, "a word about the whole one", func() bool { return strings.Contains(p.errors(), "ses_whole") })
}
