package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// running is an invocation of `harness run` on the script, in a directory.
func running(t testing.TB, dir string, args ...string) *exec.Cmd {
	t.Helper()
	return invocation(t, append(append([]string{"run"}, playingHere(t, dir)...), args...)...)
}

func TestRunInAPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := finish(t, running(t, dir, "use tools"))
	const want = "thinking: hm\n\n✓ read a  0.0s\n  text\n\none\ntwo\n"
	if o.code != 0 || o.stdout != want || o.stderr != "" {
		t.Errorf("exit code %d\n%q\nwant\n%q\n%s", o.code, o.stdout, want, o.stderr)
	}
	list := mustRun(t, "sessions", "ls", "--store", "jsonl:"+dir+"/.harness", "--json")
	var s struct {
		ID string `json:"session_id"`
	}
	if err := json.Unmarshal([]byte(list), &s); err != nil {
		t.Fatalf("%s: %v", list, err)
	}
	cmd := running(t, dir, "--thread", s.ID, "-")
	cmd.Stdin = strings.NewReader("and\nnow")
	if o := finish(t, cmd); o.code != 0 || o.stdout != "You said: and\nnow\n" {
		t.Errorf("exit code %d\n%q\n%s", o.code, o.stdout, o.stderr)
	}
	if again := mustRun(t, "sessions", "ls", "--store", "jsonl:"+dir+"/.harness", "--json"); strings.Count(again, "\n") != 1 {
		t.Errorf("going on made another thread:\n%s", again)
	}
}

// What a new thread may try again is in its log from the beginning.
func TestRunSaysHowOftenATurnIsTriedAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if o := finish(t, running(t, dir, "--retries", "2", "hello")); o.code != 0 {
		t.Fatalf("exit code %d: %s", o.code, o.stderr)
	}
	logs, err := filepath.Glob(filepath.Join(dir, ".harness/threads/*/events.jsonl"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("%q, %v", logs, err)
	}
	text, err := os.ReadFile(logs[0])
	if first, _, _ := strings.Cut(string(text), "\n"); err != nil || !strings.Contains(first, `"max_retries":2`) {
		t.Errorf("the log begins with %s, %v", first, err)
	}
}

func TestTheExitCodeSaysHowTheTurnEnded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		args  []string
		code  int
		words []string
	}{
		{"completed", []string{"hello"}, 0, nil},
		{"several words", []string{"hello", "there"}, 0, nil},
		{"failed", []string{"fail"}, 1, []string{"harness run: failed after", "it broke"}},
		{"no prompt", nil, 2, []string{"an argument is missing", "harness run --help"}},
		{"empty prompt", []string{" "}, 2, []string{"the prompt is empty"}},
		{"wrong word", []string{"--approve", "maybe", "x"}, 2, []string{`--approve "maybe" is not one of ask, never, all`}},
		{"too often", []string{"--retries", "101", "x"}, 2, []string{"--retries 101 is not between 0 and 100"}},
		{"no directory", []string{"--cwd", "nowhere", "x"}, 1, []string{"--cwd", "nowhere"}},
		{"no engine", []string{"--engine", "magic", "x"}, 1, []string{`harness run: --engine magic: unknown kind "magic"`}},
		{"no store", []string{"--store", "magic", "x"}, 1, []string{`unknown kind "magic"`}},
		{"no thread", []string{"--thread", "ses_nobody", "x"}, 1, []string{"no such session"}},
		{"not a thread", []string{"--thread", "../x", "x"}, 1, []string{"threadId"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := finish(t, running(t, t.TempDir(), c.args...))
			if o.code != c.code || c.code != 0 && o.stdout != "" {
				t.Errorf("exit code %d, want %d\n%s%s", o.code, c.code, o.stdout, o.stderr)
			}
			for _, w := range c.words {
				if !strings.Contains(o.stderr, w) {
					t.Errorf("%q is missing from\n%s", w, o.stderr)
				}
			}
			if len(c.words) == 0 && o.stderr != "" {
				t.Errorf("it says %q", o.stderr)
			}
		})
	}
}

func TestApprovalsWithoutATerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		how, stdout, stderr string
	}{
		{"all", "→ allowed\n✓ bash x", ""},
		{"never", "→ rejected\n✗ bash x", ""},
		{"ask", "→ rejected\n✗ bash x", "harness run: rejected bash, because there is no terminal to ask on; see --approve\n"},
	} {
		t.Run(c.how, func(t *testing.T) {
			t.Parallel()
			o := finish(t, running(t, t.TempDir(), "--approve", c.how, "ask"))
			if o.code != 0 || !strings.Contains(o.stdout, c.stdout) || !strings.Contains(o.stdout, "? bash  Run it\n    command: x\n") || o.stderr != c.stderr {
				t.Errorf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
			}
		})
	}
}

func TestRunAsJSONIsTheNotifications(t *testing.T) {
	t.Parallel()
	o := finish(t, running(t, t.TempDir(), "--json", "--approve", "all", "ask"))
	if o.code != 0 || o.stderr != "" {
		t.Errorf("exit code %d\n%s", o.code, o.stderr)
	}
	var methods []string
	for line := range strings.Lines(o.stdout) {
		var n struct {
			JSONRPC, Method string
			ID              json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &n); err != nil || n.JSONRPC != "2.0" || n.Method == "" || n.ID != nil {
			t.Errorf("%s: %v", line, err)
		}
		methods = append(methods, n.Method)
	}
	all := strings.Join(methods, " ")
	if !strings.HasPrefix(all, "thread.created turn.started item.started") || !strings.Contains(all, "approval.requested") || !strings.HasSuffix(all, "turn.completed") {
		t.Errorf("the notifications are %s", all)
	}
	if o := finish(t, running(t, t.TempDir(), "--json", "fail")); o.code != 1 || !strings.Contains(o.stdout, `"turn.error"`) {
		t.Errorf("exit code %d\n%s", o.code, o.stdout)
	}
}

// underWay starts a command and waits until it says something.
func underWay(t testing.TB, cmd *exec.Cmd, word string) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	late := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer late.Stop()
	r := bufio.NewReader(out)
	for said := ""; !strings.Contains(said, word); {
		c, _, err := r.ReadRune()
		if err != nil {
			t.Fatalf("it said only %q: %v", said, err)
		}
		said += string(c)
	}
}

// ended waits for a command.
func ended(t testing.TB, cmd *exec.Cmd) int {
	t.Helper()
	late := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	cmd.Wait()
	if !late.Stop() {
		t.Fatal("it did not end")
	}
	return cmd.ProcessState.ExitCode()
}

// child finds the `harness stdio` of a `harness run`.
func child(t testing.TB, cmd *exec.Cmd) int {
	t.Helper()
	list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid))
	if err != nil {
		t.Skipf("children cannot be found here: %v", err)
	}
	pids := strings.Fields(string(list))
	for _, task := range tasks(cmd.Process.Pid) {
		more, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", cmd.Process.Pid, task))
		pids = append(pids, strings.Fields(string(more))...)
	}
	if len(pids) == 0 {
		t.Fatal("it has no child")
	}
	pid, err := strconv.Atoi(pids[0])
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func tasks(pid int) (names []string) {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestAnInterruptCancelsTheTurn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := running(t, dir, "hang")
	underWay(t, cmd, "hanging")
	cmd.Process.Signal(os.Interrupt)
	if code := ended(t, cmd); code != 130 {
		t.Errorf("exit code %d", code)
	}
	if list := mustRun(t, "sessions", "ls", "--store", "jsonl:"+dir+"/.harness"); !strings.Contains(list, "cancelled") && !strings.Contains(list, "idle") {
		t.Errorf("the thread was not left at rest:\n%s", list)
	}
}

func TestASecondInterruptQuitsAtOnce(t *testing.T) {
	t.Parallel()
	cmd := running(t, t.TempDir(), "hang")
	underWay(t, cmd, "hanging")
	pid := child(t, cmd)
	syscall.Kill(pid, syscall.SIGSTOP) // it will not answer
	cmd.Process.Signal(os.Interrupt)
	cmd.Process.Signal(syscall.SIGTERM) // distinct, so that the kernel does not make one of two
	if code := ended(t, cmd); code != 130 {
		t.Errorf("exit code %d", code)
	}
	disappears(t, pid)
}

// disappears waits for the end of a process that is not ours to wait for.
func disappears(t testing.TB, pid int) {
	t.Helper()
	until(t, fmt.Sprintf("process %d to end", pid), func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(stat), ") Z ")
	})
}

func TestAChildThatDiesIsAClearError(t *testing.T) {
	t.Parallel()
	cmd := running(t, t.TempDir(), "hang")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	underWay(t, cmd, "hanging")
	syscall.Kill(child(t, cmd), syscall.SIGKILL)
	if code := ended(t, cmd); code != 1 || stderr.String() != "harness run: harness stdio ended in the middle: signal: killed\n" {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
}

func TestTheChildEndsWithItsParent(t *testing.T) {
	t.Parallel()
	cmd := running(t, t.TempDir(), "hang")
	underWay(t, cmd, "hanging")
	pid := child(t, cmd)
	cmd.Process.Kill()
	cmd.Wait()
	disappears(t, pid)
}

func TestASecondRunInADirectorySaysWhoHasIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := running(t, dir, "hang")
	underWay(t, cmd, "hanging")
	o := finish(t, running(t, dir, "hello"))
	if o.code != 1 || !strings.HasPrefix(o.stderr, "harness run: ") || !strings.Contains(o.stderr, "another process uses this data") {
		t.Errorf("exit code %d\n%s", o.code, o.stderr)
	}
	cmd.Process.Signal(os.Interrupt)
	ended(t, cmd)
}

func TestASecondRunInADirectoryIsToldWhatToDo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	openLines(t, invocation(t, append([]string{"stdio"}, playingHere(t, dir)...)...)).do("version", "initialize", "")
	o := finish(t, running(t, dir, "x"))
	o.failed(t, 1, "another process", "harness serve", "--connect")
	if strings.Contains(o.stderr, "--data") {
		t.Errorf("run has no --data: %s", o.stderr)
	}
}
