package bwrap_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"harness"
	"harness/sandbox/bwrap"
)

// working returns the sandbox, if it works here. Under CI it must.
func working(t *testing.T) *bwrap.Sandbox {
	t.Helper()
	s := bwrap.New(nil)
	if _, err := s.Probe(t.Context()); err != nil {
		if os.Getenv("CI") == "" {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	return s
}

// git runs git outside, in a repository that is still the user's own.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@x", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// inside runs a script in a workspace of dir.
func inside(t *testing.T, dir, script string) (int, string) {
	t.Helper()
	w, err := working(t).Open(t.Context(), harness.WorkspaceSpec{
		Directory: dir,
		Env:       []string{"PATH=/usr/bin:/bin", "HOME=/home/agent", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@x"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var out bytes.Buffer
	c, err := w.Start(t.Context(), harness.Process{Args: []string{"/bin/sh", "-ec", script}, Stdout: &out, Stderr: &out})
	if err != nil {
		t.Fatalf("start: %v\n%s", err, out.String())
	}
	exit, err := c.Wait()
	if err != nil {
		t.Fatalf("wait: %v\n%s", err, out.String())
	}
	return exit.Code, out.String()
}

func real(t *testing.T, dir string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestGitWorksInARepositoryThatIsPinned(t *testing.T) {
	dir := real(t, t.TempDir())
	git(t, dir, "init", "-q")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "first")
	code, out := inside(t, dir, "echo a >a; git add a; git commit -q -m second; git checkout -q -b topic; git log --format=%s; git status --short")
	if code != 0 || out != "second\nfirst\n" {
		t.Errorf("code %d:\n%s", code, out)
	}
	if code, out := inside(t, dir, "git config core.fsmonitor ./evil"); code == 0 {
		t.Errorf("the configuration was changed:\n%s", out)
	}
}

func TestGitWorksInAWorktreeWhoseRepositoryIsElsewhere(t *testing.T) {
	base := real(t, t.TempDir())
	main, tree := filepath.Join(base, "main"), filepath.Join(base, "tree")
	if err := os.Mkdir(main, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, main, "init", "-q")
	git(t, main, "commit", "-q", "--allow-empty", "-m", "first")
	git(t, main, "worktree", "add", "-q", tree)
	if code, out := inside(t, tree, "echo a >a; git add a; git commit -q -m second; git log --format=%s"); code != 0 || out != "second\nfirst\n" {
		t.Errorf("code %d:\n%s", code, out)
	}
	hook := filepath.Join(main, ".git/hooks/pre-commit")
	if code, out := inside(t, tree, "echo evil >"+hook); code == 0 {
		t.Errorf("a hook of the repository was written:\n%s", out)
	}
	if _, err := os.Stat(hook); err == nil {
		t.Error("the hook is there")
	}
}

// A .git file that the agent has rewritten must not open a directory of the host.
func TestAForgedWorktreeOpensNothing(t *testing.T) {
	base := real(t, t.TempDir())
	tree, secret := filepath.Join(base, "tree"), filepath.Join(base, "secret")
	for _, dir := range []string{tree, filepath.Join(secret, "worktrees/x")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		filepath.Join(tree, ".git"): "gitdir: " + secret + "/worktrees/x\n", filepath.Join(secret, "HEAD"): "x", filepath.Join(secret, "key"): "canary",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if code, out := inside(t, tree, "cat "+secret+"/key"); code == 0 || strings.Contains(out, "canary") {
		t.Errorf("code %d: %s", code, out)
	}
}

func TestARepositoryBehindALinkIsSaidNotToBeHeld(t *testing.T) {
	dir := real(t, t.TempDir())
	if err := os.Symlink("elsewhere", filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	w, err := working(t).Open(t.Context(), harness.WorkspaceSpec{Directory: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	is := w.Isolation()
	for _, g := range is.Enforces {
		if g == harness.GuardGit {
			t.Errorf("it claims to enforce %s", g)
		}
	}
	if !strings.Contains(is.Reason, "is a link") {
		t.Errorf("reason: %s", is.Reason)
	}
}
