package task_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"harness"
	"harness/workspace/task"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t testing.TB, dir string, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(files[i+1]), 0o755))
	}
}

func read(t testing.TB, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	must(t, err)
	return string(b)
}

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func repo(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, "f.txt", "committed", "sub/g.txt", "committed")
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "one")
	return dir
}

func open(t testing.TB, opts *task.Options) *task.Tasks {
	t.Helper()
	tasks, err := task.Open(t.TempDir(), opts)
	must(t, err)
	return tasks
}

func create(t testing.TB, tasks *task.Tasks, name, source string) task.Task {
	t.Helper()
	w, err := tasks.Create(t.Context(), name, source)
	must(t, err)
	return w
}

func TestARepositoryGetsAWorktreeOnABranchOfItsOwn(t *testing.T) {
	t.Parallel()
	dir, tasks := repo(t), open(t, nil)
	put(t, dir, "f.txt", "not committed")
	w := create(t, tasks, "one", filepath.Join(dir, "sub"))
	if w.Kind != task.Worktree || w.Branch != "harness/one" || w.Notes != nil {
		t.Fatalf("%+v", w)
	}
	if read(t, w.Directory, "g.txt") != "committed" || read(t, w.Root, "f.txt") != "committed" || read(t, dir, "f.txt") != "not committed" {
		t.Error("the worktree is not what was committed, or the source changed")
	}
	create(t, tasks, "two", dir)
	put(t, w.Directory, "g.txt", "by the agent")
	git(t, w.Root, "commit", "-qam", "two")

	list, err := tasks.List()
	must(t, err)
	if len(list) != 2 || list[0].Name != "one" || list[1].Name != "two" {
		t.Errorf("%+v", list)
	}
	must(t, tasks.Remove(t.Context(), "one"))
	must(t, tasks.Remove(t.Context(), "two"))
	if got := git(t, dir, "branch", "--format=%(refname:short)"); got != "harness/one\nmain" {
		t.Errorf("branches are %q: one has a commit and should stay, two has none", got)
	}
	if got := git(t, dir, "worktree", "list"); strings.Contains(got, "harness") {
		t.Errorf("worktrees are %s", got)
	}
	if _, err := os.Stat(w.Root); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := tasks.Get("one"); !errors.Is(err, harness.ErrNotFound) {
		t.Error(err)
	}
}

// TestNothingThatARepositoryNamesIsRun plants a program wherever git would run
// one: in the repository before, and in the worktree before it is removed.
func TestNothingThatARepositoryNamesIsRun(t *testing.T) {
	t.Parallel()
	dir, tasks := repo(t), open(t, nil)
	proof := filepath.Join(t.TempDir(), "proof")
	evil := filepath.Join(t.TempDir(), "evil")
	put(t, filepath.Dir(evil), "evil", "#!/bin/sh\necho ran $0 $@ >> "+proof+"\ncat\n")
	put(t, dir, ".gitattributes", "* filter=x diff=x merge=x\n")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "attributes")
	for _, key := range []string{"core.fsmonitor", "filter.x.smudge", "filter.x.clean", "filter.x.process", "filter.a.b.smudge", "core.pager", "core.editor", "core.sshCommand",
		"diff.external", "diff.x.textconv", "core.alternateRefsCommand", "credential.helper"} {
		git(t, dir, "config", key, evil)
	}
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc"} {
		put(t, dir, ".git/hooks/"+hook, read(t, evil))
	}
	w := create(t, tasks, "one", dir)
	if w.Kind != task.Worktree || read(t, w.Root, "f.txt") != "committed" || len(w.Notes) != 1 {
		t.Errorf("%+v", w)
	}
	put(t, w.Root, ".gitattributes", "* filter=x\n", "nested/.git/config", "[core]\n\tfsmonitor = "+evil+"\n", "nested/.git/HEAD", "ref: refs/heads/x\n", "f.txt", "changed")
	must(t, os.Chmod(filepath.Join(w.Root, "nested"), 0o500))
	must(t, tasks.Remove(t.Context(), "one"))
	if b, err := os.ReadFile(proof); err == nil {
		t.Errorf("it ran:\n%s", b)
	}
	git(t, dir, "config", "includeIf.gitdir:**.path", "/dev/null")
	if w := create(t, tasks, "two", dir); w.Kind != task.Copy || len(w.Notes) != 1 {
		t.Errorf("with a configuration that differs by directory: %+v", w)
	}
	if b, err := os.ReadFile(proof); err == nil {
		t.Errorf("it ran:\n%s", b)
	}
}

func TestAnythingElseIsCopied(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	git(t, empty, "init", "-q") // nothing is committed
	for name, source := range map[string]string{"plain": t.TempDir(), "empty-repository": empty} {
		tasks := open(t, nil)
		put(t, source, "a/b.txt", "b", "nested/.git", "gitdir: /elsewhere\n", "nested/x", "x")
		must(t, os.Chmod(filepath.Join(source, "a"), 0o555))
		defer os.Chmod(filepath.Join(source, "a"), 0o755)
		must(t, os.Symlink("/", filepath.Join(source, "out")))
		must(t, os.Symlink(".", filepath.Join(source, "loop")))
		w := create(t, tasks, name, source)
		if w.Kind != task.Copy || w.Directory != w.Root {
			t.Errorf("%+v", w)
		}
		info, err := os.Stat(filepath.Join(w.Root, "a"))
		must(t, err)
		if to, _ := os.Readlink(filepath.Join(w.Root, "out")); to != "/" || read(t, w.Root, "a/b.txt") != "b" || info.Mode().Perm() != 0o555 {
			t.Errorf("%s: link %q, mode %v", name, to, info.Mode())
		}
		if _, err := os.Stat(filepath.Join(w.Root, "nested/.git")); err == nil {
			t.Error("the copy reaches a repository elsewhere")
		}
		must(t, tasks.Remove(t.Context(), name))
		if read(t, source, "a/b.txt") != "b" {
			t.Error("removing the copy removed the source")
		}
	}
}

func TestTasksRefuse(t *testing.T) {
	t.Parallel()
	tasks := open(t, &task.Options{MaxFiles: 3})
	source := t.TempDir()
	put(t, source, "a", "1")
	create(t, tasks, "one", source)
	if _, err := tasks.Create(t.Context(), "one", source); !errors.Is(err, harness.ErrExists) {
		t.Errorf("a name that is taken: %v", err)
	}
	for _, name := range []string{"", "..", "a/b", ".x"} {
		if _, err := tasks.Create(t.Context(), name, source); !errors.Is(err, harness.ErrInvalid) {
			t.Errorf("name %q: %v", name, err)
		}
		if err := tasks.Remove(t.Context(), name); !errors.Is(err, harness.ErrInvalid) {
			t.Errorf("name %q: %v", name, err)
		}
	}
	put(t, source, "b", "1", "c", "1", "d", "1")
	if _, err := tasks.Create(t.Context(), "two", source); !errors.Is(err, harness.ErrTooLarge) {
		t.Errorf("more files than allowed: %v", err)
	}
	if list, _ := tasks.List(); len(list) != 1 {
		t.Errorf("a task that failed is listed: %+v", list)
	}
}
