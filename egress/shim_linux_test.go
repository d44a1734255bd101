package egress_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"harness/egress"
)

// start runs an agent behind the shim on this machine.
func start(t *testing.T, agent ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	self := program(t)
	args := egress.Wrap(self, egress.AnyPort, "/nowhere", append([]string{self}, agent...)...)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, bufio.NewScanner(out)
}

func TestTheShimHandsSignalsAndCodesOn(t *testing.T) {
	t.Parallel()
	cmd, lines := start(t, "agent-wait")
	lines.Scan()
	for _, s := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGHUP, syscall.SIGTERM} {
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		if lines.Scan(); lines.Text() != s.String() {
			t.Errorf("the agent got %q, want %q", lines.Text(), s)
		}
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 5 {
		t.Errorf("it ended with %v, want 5", err)
	}
}

// TestTheAgentDiesWithItsShim and the shim with whoever started it.
func TestTheAgentDiesWithItsShim(t *testing.T) {
	t.Parallel()
	cmd, lines := start(t, "agent-wait")
	lines.Scan()
	var agent, shim int
	if _, err := fmt.Sscan(strings.TrimPrefix(lines.Text(), "up "), &agent, &shim); err != nil || shim != cmd.Process.Pid {
		t.Fatalf("%q, %v", lines.Text(), err)
	}
	_ = cmd.Process.Kill()
	for lines.Scan() { // its output ends with it
	}
	until(t, "the agent's end", func() bool { return gone(agent) })
}

func gone(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || bytes.Contains(b, []byte(") Z "))
}

func TestTheShimDiesWithItsParent(t *testing.T) {
	t.Parallel()
	self := program(t)
	args := egress.Wrap(self, egress.AnyPort, "/nowhere", self, "agent-wait")
	// A shell that starts the shim and is killed.
	cmd := exec.Command("/bin/sh", append([]string{"-c", `"$@" & wait`, "sh"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	var agent, shim int
	if _, err := fmt.Sscan(strings.TrimPrefix(lines.Text(), "up "), &agent, &shim); err != nil {
		t.Fatalf("%q, %v", lines.Text(), err)
	}
	_ = cmd.Process.Kill()
	until(t, "the end of both", func() bool { return gone(agent) && gone(shim) })
	_ = cmd.Wait()
}

func TestTheShimSaysWhatItCannotRun(t *testing.T) {
	t.Parallel()
	self := program(t)
	for _, tc := range []struct {
		args []string
		code int
	}{
		{egress.Wrap(self, egress.AnyPort, "/nowhere", "no-such-program"), 127},
		{egress.Wrap(self, egress.AnyPort, "/nowhere", "/no/such/program"), 127},
		{egress.Wrap(self, egress.AnyPort, "/nowhere", "/etc/passwd"), 126},
		{[]string{self, "egress-init"}, 2},
		{[]string{self, "egress-init", "x", "/nowhere", "--", "true"}, 2},
		{[]string{self, "egress-init", "65536", "/nowhere", "--", "true"}, 2},
		{[]string{self, "egress-init", "0", "/nowhere", "true", "x"}, 2},
		{egress.Wrap(self, egress.AnyPort, "/nowhere", "sh", "-c", "kill -SEGV $$"), 139},
		{egress.Wrap(self, egress.AnyPort, "/nowhere", "sh", "-c", "exit 7"), 7},
	} {
		cmd := exec.Command(tc.args[0], tc.args[1:]...)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != tc.code || tc.code < 130 && tc.code != 7 && !strings.HasPrefix(string(out), "egress: ") {
			t.Errorf("%q: %d %s, want %d", tc.args[1:], cmd.ProcessState.ExitCode(), out, tc.code)
		}
	}
	if _, mine := egress.Shim([]string{"harness", "serve"}, nil); mine {
		t.Error("another command is taken for the shim")
	}
}

func TestAFreePortIsFilledIn(t *testing.T) {
	t.Parallel()
	self := program(t)
	args := egress.Wrap(self, egress.AnyPort, "/nowhere", "sh", "-c", "echo $0 $A $B", "http://127.0.0.1:0/x")
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "A=http://127.0.0.1:0", "B=127.0.0.1:080")
	out, err := cmd.CombinedOutput()
	var port int
	if _, scan := fmt.Sscanf(string(out), "http://127.0.0.1:%d/x", &port); err != nil || scan != nil || port == 0 {
		t.Fatalf("%v, %s", err, out)
	}
	if want := fmt.Sprintf("http://127.0.0.1:%d/x http://127.0.0.1:%d 127.0.0.1:080\n", port, port); string(out) != want {
		t.Errorf("got %s, want %s", out, want)
	}
}
