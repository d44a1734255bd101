//go:build linux

package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"harness"
	"harness/sandbox/bwrap"
	"harness/sandbox/landlock"
	nowall "harness/sandbox/local"
	"harness/workspace/task"
)

// snare makes a repository of dir whose configuration, attributes and hooks
// name a program wherever git knows a place for one. What the program writes is
// outside; sprung returns and forgets it.
func snare(t *testing.T, dir string) (sprung func() string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		mustHave(t, err.Error())
	}
	put := func(name, text string, mode fs.FileMode) {
		t.Helper()
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		if err == nil {
			err = os.WriteFile(name, []byte(text), mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	canary := filepath.Join(t.TempDir(), "canary")
	evil := filepath.Join(dir, "evil")
	put(evil, "#!/bin/sh\necho \"$0 $*\" >>"+canary+"\ncat\n", 0o755)
	for _, repo := range []string{dir, filepath.Join(dir, "nested")} {
		put(filepath.Join(repo, "file.txt"), "one\n", 0o644)
		for _, args := range [][]string{{"init", "-q"}, {"add", "file.txt"}, {"commit", "-q", "-m", "first"}} {
			cmd := exec.Command("git", append([]string{"-C", repo, "-c", "user.name=n", "-c", "user.email=e@x"}, args...)...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %q: %v\n%s", args, err, out)
			}
		}
		put(filepath.Join(repo, ".gitattributes"), "* filter=x diff=x merge=x\n", 0o644)
		put(filepath.Join(repo, ".gitmodules"), "[submodule \"m\"]\n\tpath = m\n\turl = ext::"+evil+"\n\tupdate = !"+evil+"\n", 0o644)
		put(filepath.Join(repo, ".git/more"), "[core]\n\tfsmonitor = "+evil+"\n", 0o644)
		put(filepath.Join(repo, ".git/config"), strings.ReplaceAll(`[core]
	repositoryformatversion = 0
	fsmonitor = EVIL
	hooksPath = `+filepath.Join(repo, "hooks")+`
	sshCommand = EVIL
	pager = EVIL
	editor = EVIL
	askPass = EVIL
	gitProxy = EVIL
	alternateRefsCommand = EVIL
[include]
	path = more
[filter "x"]
	clean = EVIL
	smudge = EVIL
	process = EVIL
	required = true
[diff]
	external = EVIL
[diff "x"]
	textconv = EVIL
	command = EVIL
[merge "x"]
	driver = EVIL %A
[credential]
	helper = !EVIL
[gpg]
	program = EVIL
[commit]
	gpgSign = true
[protocol]
	allow = always
[remote "origin"]
	url = ext::EVIL
	uploadpack = EVIL
	fetch = +refs/heads/*:refs/remotes/origin/*
`, "EVIL", evil), 0o644)
		for _, hook := range []string{"post-checkout", "post-index-change", "reference-transaction", "pre-commit", "pre-auto-gc", "fsmonitor-watchman", "post-commit"} {
			for _, place := range []string{"hooks", ".git/hooks"} {
				put(filepath.Join(repo, place, hook), "#!/bin/sh\nexec "+evil+" "+hook+"\n", 0o755)
			}
		}
	}
	return func() string {
		text, _ := os.ReadFile(canary)
		_ = os.Remove(canary)
		return string(text)
	}
}

// TestARepositorysProgramsNeverRunOutsideASandbox is attack 33: whatever the
// server does in a repository that an agent has written, through snapshots,
// rewinds, workspaces of tasks and sandboxes, it runs none of its programs.
func TestARepositorysProgramsNeverRunOutsideASandbox(t *testing.T) {
	attacked.begin(t)
	t.Parallel()
	g := newGarden(t, 2)
	sprung := snare(t, g.dir)
	_ = exec.Command("git", "-C", g.dir, "status").Run()
	if sprung() == "" {
		t.Fatal("the snare does not even catch git status")
	}
	caught := func(t *testing.T) {
		t.Helper()
		if text := sprung(); text != "" {
			t.Errorf("these were run:\n%s", text)
		}
	}
	t.Run("snapshots and rewind", func(t *testing.T) {
		m := g.turn(1, func() {
			g.write("f000", "second")
			g.write("nested/file.txt", "two")
			g.write(".gitattributes", "* filter=x")
		})
		caught(t)
		g.rewind(m, `,"dry_run":true`)
		if r := g.rewind(m, ""); len(r.FilesChanged) != 3 {
			t.Errorf("rewound %+v", r)
		}
		caught(t)
		if all := refusals(t, g.args[1]); len(all) > 0 { // nobody is refused anything: what is there is not run
			t.Errorf("the audit has %q", all)
		}
	})
	t.Run("a task's workspace", func(t *testing.T) {
		tasks, err := task.Open(t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, source := range map[string]string{"whole": g.dir, "part": filepath.Join(g.dir, "hooks"), "nested": filepath.Join(g.dir, "nested")} {
			made, err := tasks.Create(t.Context(), name, source)
			if err != nil {
				t.Fatal(err)
			}
			caught(t)
			t.Logf("%s: a %s, %q", name, made.Kind, made.Notes)
			if err := tasks.Remove(t.Context(), name); err != nil {
				t.Error(err)
			}
			caught(t)
		}
	})
	for name, box := range map[string]harness.Sandbox{
		"local": nowall.New(&nowall.Options{Shim: binary}), "landlock": landlock.New(&landlock.Options{Shim: binary}), "bwrap": bwrap.New(nil),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := box.Probe(t.Context()); err != nil {
				mustHave(t, err.Error())
			}
			w, err := box.Open(t.Context(), harness.WorkspaceSpec{Directory: g.dir, Env: []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent"}})
			if err != nil {
				t.Fatal(err)
			}
			args := []string{"true"}
			if name != "local" { // inside, it may run, and reaches nothing
				args = []string{"git", "status"}
			}
			c, err := w.Start(t.Context(), harness.Process{Args: args})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Wait(); err != nil {
				t.Error(err)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			caught(t)
		})
	}
	t.Run("a run", func(t *testing.T) {
		if o := finish(t, running(t, g.dir, "use tools")); o.code != 0 {
			t.Errorf("%+v", o)
		}
		caught(t)
	})
}

// without are machines on which bubblewrap does not work, made by a script that
// runs as root of a namespace of its own.
var without = map[string]string{
	"bubblewrap is missing":   `for p in /usr/bin /bin /usr/local/bin; do [ ! -e $p/bwrap ] || mount --bind /dev/null $p/bwrap || exit 99; done; exec "$@"`,
	"user namespaces are off": `echo 0 >/proc/sys/user/max_user_namespaces || exit 99; exec "$@"`,
}

// TestARequiredSandboxThatIsMissingRunsNothing is attack 46: the run is refused
// and says why, nothing of it is executed, and it does so only because it was
// required.
func TestARequiredSandboxThatIsMissingRunsNothing(t *testing.T) {
	t.Parallel()
	for name, script := range without {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin := func(dir, fence string) outcome {
				inner := invocation(t, "run", "--cwd", dir, "--engine", "native", "--model", "offline", "--pace", "0s", "--approve", "all", "--sandbox", fence, "run `echo it ran >ran`")
				cmd := exec.Command("/bin/sh", append([]string{"-c", script, "sh"}, inner.Args...)...)
				cmd.Env, cmd.Dir = inner.Env, inner.Dir
				cmd.SysProcAttr = &syscall.SysProcAttr{
					Cloneflags:   syscall.CLONE_NEWUSER,
					Unshareflags: syscall.CLONE_NEWNS,
					UidMappings:  []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
					GidMappings:  []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
				}
				if err := exec.Command("unshare", "-Urm", "true").Run(); err != nil {
					mustHave(t, "no namespaces here: "+err.Error())
				}
				o := finish(t, cmd)
				if o.code == 99 {
					mustHave(t, "cannot make such a machine: "+o.stderr)
				}
				return o
			}
			dir := t.TempDir()
			for _, fence := range []string{"required:bwrap", "required:docker", "required:docker:no-such-image"} {
				o := begin(dir, fence)
				if want := "--sandbox " + fence; o.code == 0 || !strings.Contains(o.stderr, want) || !strings.Contains(o.stderr, "does not work here") {
					t.Errorf("%s: exit code %d, want an error with %q\n%s%s", fence, o.code, want, o.stdout, o.stderr)
				}
				if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
					t.Fatalf("%s: the command was run", fence)
				}
			}
			if o := begin(dir, "bwrap"); o.code != 0 {
				t.Fatalf("not required: exit code %d\n%s%s", o.code, o.stdout, o.stderr)
			}
			if text, err := os.ReadFile(filepath.Join(dir, "ran")); string(text) != "it ran\n" {
				t.Errorf("not required: %q, %v", text, err)
			}
			if notice := noticeIn(t, dir); !strings.Contains(notice, `"requested_backend":"bwrap"`) || !strings.Contains(notice, "bwrap does not work here") || strings.Contains(notice, `"resolved_backend":"bwrap"`) {
				t.Errorf("the notice is %s", notice)
			}
		})
	}
}

// noticeIn returns the line of a directory's log that tells of the sandbox.
func noticeIn(t *testing.T, dir string) (line string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, ".harness"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		for l := range strings.Lines(string(text)) {
			if strings.Contains(l, `"sandbox_notice"`) {
				line = l
			}
		}
		return err
	})
	if err != nil || line == "" {
		t.Fatal(fmt.Errorf("no notice in %s: %v", dir, err))
	}
	return line
}
