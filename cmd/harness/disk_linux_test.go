package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// small mounts a file system of this size over a new directory. Who may not
// mount cannot run the test, which CI does not accept from root; the one with a
// limit on files needs no rights.
func small(t testing.TB, options string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	err := syscall.Mount("harness-test", dir, "tmpfs", 0, options)
	denied, must := errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES), os.Getenv("CI") == "true" && os.Geteuid() == 0
	if denied && !must {
		t.Skipf("mounting is not allowed here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill sends prompts until one is refused, and returns those that were
// acknowledged.
func fill(t testing.TB, p *process) (taken []string, refused frame) {
	t.Helper()
	v := p.view("?userId=ada")
	for i := range 200 {
		prompt := fmt.Sprintf("%d %s", i, strings.Repeat("x", 60_000))
		f := v.submit(prompt)
		if f.Type != "ack" {
			return taken, f
		}
		taken = append(taken, prompt)
	}
	t.Fatal("the disk did not become full")
	return nil, frame{}
}

// holds fails unless a session has all the prompts, each once.
func holds(t testing.TB, p *process, prompts []string) {
	t.Helper()
	count := map[string]int{}
	for _, m := range p.view("?userId=ada").now.Messages {
		if m.Role == "user" {
			count[m.Content]++
		}
	}
	for _, prompt := range prompts {
		if count[prompt] != 1 {
			t.Errorf("prompt %.5s was acknowledged and is there %d times", prompt, count[prompt])
		}
	}
}

func TestAFullDiskRefusesCommandsAndLosesNothing(t *testing.T) {
	t.Parallel()
	dir := small(t, "size=2m")
	p := start(t, playing(t, dir)...)
	taken, refused := fill(t, p)
	if refused.Code != "storage" {
		t.Errorf("after %d prompts: %s: %s", len(taken), refused.Code, refused.Message)
	}
	if code, _ := p.get("/healthz", nil); code != 200 {
		t.Errorf("/healthz: %d", code)
	}
	holds(t, p, taken)
	if err := syscall.Mount("harness-test", dir, "tmpfs", syscall.MS_REMOUNT, "size=64m"); err != nil {
		t.Fatal(err)
	}
	v := p.view("?userId=ada")
	acked(t, v.submit("with room again"))
	v.see("the answer", func(s seen) bool { return strings.Contains(said(s), "with room again") })
	p.kill()
	p = start(t, playing(t, dir)...)
	holds(t, p, append(taken, "with room again"))
}

func TestAFullDiskFromTheStartIsRefused(t *testing.T) {
	t.Parallel()
	dir := small(t, "size=32k")
	text := mustFail(t, 1, []string{"room"}, append([]string{"serve", "--addr", "127.0.0.1:0"}, playing(t, dir)...)...)
	t.Log(text)
}

// A limit on the size of files is a full disk for those who may not mount.
func TestALimitOnFilesRefusesCommandsAndLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	limited := invocation(t, append([]string{"serve", "--addr", "127.0.0.1:0"}, playing(t, dir)...)...)
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	limited.Path, limited.Args = sh, append([]string{"sh", "-c", `ulimit -f 1000; exec "$@"`, "sh"}, limited.Args...)
	p := launch(t, limited)
	taken, refused := fill(t, p)
	if refused.Code != "storage" {
		t.Errorf("after %d prompts: %s: %s", len(taken), refused.Code, refused.Message)
	}
	if code, _ := p.get("/healthz", nil); code != 200 {
		t.Errorf("/healthz: %d", code)
	}
	holds(t, p, taken)
	if code := p.stop(); code < 0 || strings.Contains(p.errors(), "goroutine ") {
		t.Errorf("exit code %d\n%s", code, p.errors())
	}
	p = start(t, playing(t, dir)...)
	holds(t, p, taken)
	v := p.view("?userId=ada")
	acked(t, v.submit("with room again"))
}

// anybodys is a directory whose parents anybody may enter.
func anybodys(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "harness-test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o755); os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// unprivileged makes a command run as somebody whom permissions bind.
func unprivileged(cmd *exec.Cmd) *exec.Cmd {
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	cmd.Dir = "/"
	return cmd
}

func TestADirectoryThatCannotBeWrittenIsRefused(t *testing.T) {
	t.Parallel()
	dir, closed := anybodys(t), anybodys(t)
	seed(t, dir, map[string]string{"ses_a": "hello"})
	if err := os.Chmod(database(dir), 0o444); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, closed} {
		if err := os.Chmod(d, 0o555); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{dir, closed, filepath.Join(closed, "new")} {
		o := finish(t, unprivileged(invocation(t, "serve", "--addr", "127.0.0.1:0", "--data", d)))
		o.failed(t, 1, d, "permission denied", "writable")
		t.Log(o.stderr)
	}
	o := finish(t, unprivileged(invocation(t, "sessions", "show", "--data", dir, "ses_a")))
	if o.code != 0 || !strings.Contains(o.stdout, "You said: hello") {
		t.Errorf("who may read cannot look: exit code %d\n%s", o.code, o.stderr)
	}
}

func TestAReadOnlyFileSystemIsRefusedToServeAndCanBeLookedAt(t *testing.T) {
	t.Parallel()
	dir := small(t, "size=4m")
	seed(t, dir, map[string]string{"ses_a": "hello"})
	if err := syscall.Mount("harness-test", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	mustFail(t, 1, []string{dir, "read-only file system"}, "serve", "--addr", "127.0.0.1:0", "--data", dir)
	mustFail(t, 1, []string{dir, "read-only file system"}, "sessions", "rm", "--data", dir, "ses_a")
	if text := mustRun(t, "sessions", "ls", "--data", dir); !strings.Contains(text, "ses_a") {
		t.Errorf("the list is\n%s", text)
	}
	if text := mustRun(t, "sessions", "show", "--data", dir, "ses_a"); !strings.Contains(text, "You said: hello") {
		t.Errorf("the session is\n%s", text)
	}
}
