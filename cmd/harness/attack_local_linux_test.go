package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestALogLineCannotBeForged is attack 49: what a client can get into a line is
// one record, without anything that moves a cursor.
func TestALogLineCannotBeForged(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	forged := "\r\n" + `{"level":"INFO","msg":"request","status":200,"caller":"forged"}`
	id := h.session(t, "ada", "hello"+forged)
	h.denied(t, ask{as: "ada", method: "GET", path: "/x%0d%0a%1b%5b2J%e2%80%ae/forged"})
	h.must(t, ask{as: "ada", method: "PATCH", path: "/sessions/" + id, body: fmt.Sprintf(`{"title":%q}`, "t"+forged)})
	h.denied(t, ask{as: "bob", method: "POST", path: "/approvals/apr_" + id + ".1%0aforged", body: `{"decision":"allow"}`})
	h.declines(t, h.speakAs(t, "ada"), "x"+strings.ReplaceAll(forged, `"`, ""), "{}")
	c, err := h.stranger().Dial("tcp", h.host)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	h.refused(t, "/y", func() {
		fmt.Fprintf(c, "GET /y HTTP/1.1\r\nHost: %s\r\nUser-Agent: forged \xc2\x9b2J \xe2\x80\xae\r\nConnection: close\r\n\r\n", h.host)
		io.Copy(io.Discard, c)
	})
	if len(h.lines(t, "access.log", `"path":"/y"`)) != 1 {
		t.Error("the access log lacks a request")
	}
	for _, name := range []string{"access.log", "audit.log"} {
		b, err := os.ReadFile(filepath.Join(h.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			var m map[string]any
			if err := json.Unmarshal([]byte(line), &m); err != nil || m["time"] == nil || m["caller"] == "forged" {
				t.Errorf("%s: %q", name, line)
			}
			if strings.ContainsAny(line, "\x1b\a\r\u202e\u009b") {
				t.Errorf("%s: a control character in %q", name, line)
			}
		}
	}
	if strings.Contains(h.errors(), "forged") {
		t.Errorf("standard error has what a client said:\n%s", h.errors())
	}
}

// listening are the ports that a process listens on.
func listening(t testing.TB, pid int) (ports []string) {
	t.Helper()
	inodes := map[string]bool{}
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil {
			inodes[strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")] = true
		}
	}
	for _, table := range []string{"tcp", "tcp6"} {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) > 9 && f[3] == "0A" && inodes[f[9]] {
				ports = append(ports, f[1])
			}
		}
	}
	return ports
}

// TestOnlyServeListens is attack 52: stdio has no socket, and says nothing but
// JSON-RPC; serve has one, on loopback.
func TestOnlyServeListens(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if ports := listening(t, h.cmd.Process.Pid); len(ports) != 1 || !strings.HasPrefix(ports[0], "0100007F:") {
		t.Errorf("serve listens on %v", ports)
	}
	if l, err := net.Listen("tcp", "127.0.0.2:"+h.port); err != nil {
		t.Errorf("serve has another address as well: %v", err)
	} else {
		l.Close()
	}
	cmd := invocation(t, "stdio", "--cwd", t.TempDir())
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	lines := bufio.NewReader(out)
	for range 2 {
		fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
		text, err := lines.ReadString('\n')
		if err != nil || !json.Valid([]byte(text)) || !strings.HasPrefix(text, `{"jsonrpc":"2.0"`) {
			t.Errorf("stdio says %q, %v", text, err)
		}
	}
	if ports := listening(t, cmd.Process.Pid); len(ports) != 0 {
		t.Errorf("stdio listens on %v", ports)
	}
	in.Close()
	if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
		t.Errorf("at its end stdio says %q, %v", rest, err)
	}
}

// TestNoOtherUserReadsAnything is attack 54.
func TestNoOtherUserReadsAnything(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	h := newHouse(t)
	h.session(t, "ada", "hello")
	h.settled(t)
	if err := filepath.WalkDir(h.dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %s", path, info.Mode())
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	open := h.dir // t.TempDir's own is closed, too: a hole for the test's sake
	for dir := filepath.Dir(open); len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"token", "tokens.json", "server.json", "harness.db", "access.log", "audit.log", "."} {
		cmd := exec.Command("/bin/cat", filepath.Join(h.dir, path))
		if path == "." {
			cmd = exec.Command("/bin/ls", h.dir)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "Permission denied") {
			t.Errorf("nobody reads %s: %v, %.200s", path, err, out)
		}
	}
	for _, name := range []string{"environ", "mem", "maps"} {
		cmd := exec.Command("/bin/cat", fmt.Sprintf("/proc/%d/%s", h.cmd.Process.Pid, name))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "Permission denied") {
			t.Errorf("nobody reads /proc/PID/%s: %v, %.200s", name, err, out)
		}
	}
}

// TestAServerThatOthersReachIsNotStartedOpen is attack 53.
func TestAServerThatOthersReachIsNotStartedOpen(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--addr", "0.0.0.0:0"}, {"--addr", "0.0.0.0:0", "--auth", "off"}, {"--addr", ":0", "--auth", "off"}, {"--addr", "[::]:0", "--auth", "off"},
		{"--addr", "0.0.0.0:0", "--auth", "off", "--behind-proxy"}, {"--addr", "127.0.0.1:0", "--auth", "off", "--behind-proxy"}, {"--addr", "127.0.0.1:0", "--auth", "no"},
	} {
		o := invoke(t, append([]string{"serve", "--data", t.TempDir()}, args...)...)
		if o.code == 0 || o.stderr == "" || o.stdout != "" {
			t.Errorf("%q: exit code %d\n%s%s", args, o.code, o.stdout, o.stderr)
		}
	}
}

// TestAuthOffIsSaidLoudlyAndOnlyForThisMachine: what is left when nobody is
// asked who it is.
func TestAuthOffIsSaidLoudlyAndOnlyForThisMachine(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "--auth", "off")
	if got := h.send(t, ask{method: "GET", path: "/readyz"}); !strings.Contains(got.body, `"auth":"off"`) {
		t.Errorf("/readyz: %s", got.body)
	}
	until(t, "what it prints at its start", func() bool { return strings.Contains(h.output(), "engine") })
	if !strings.Contains(h.output(), "WARNING") || strings.Contains(h.output(), "#code=") {
		t.Errorf("at start: %s", h.output())
	}
	for name, q := range map[string]struct {
		q    ask
		want int
	}{
		"S0's plain connect":  {ask{method: "GET", path: "/ws?userId=abc", header: upgrade()}, 101},
		"another site":        {ask{method: "GET", path: "/ws?userId=abc", header: upgrade("Origin", "https://evil.example")}, 403},
		"rebound":             {ask{method: "GET", path: "/ws?userId=abc", host: "evil.example:" + h.port, header: upgrade("Origin", "http://evil.example:"+h.port)}, 421},
		"a form":              {ask{method: "POST", path: "/chat/sessions", body: `{}`, header: upgrade("Content-Type", "text/plain", "Origin", "https://evil.example")}, 403},
		"a token in a query":  {ask{method: "GET", path: "/sessions?token=x"}, 401},
		"anybody is an admin": {ask{method: "GET", path: "/sessions"}, 200},
	} {
		h.leaves(t, name, q.want/400, func() { // one if it is refused
			if got := h.send(t, q.q); got.status != q.want {
				t.Errorf("%s: %d %s, want %d", name, got.status, got.body, q.want)
			}
		})
	}
	if o := invoke(t, "doctor", "--data", h.dir); o.code != 1 || !strings.Contains(o.stdout, "authentication is off") {
		t.Errorf("doctor: exit code %d\n%s", o.code, o.stdout)
	}
}

// TestTheDoctorFindsWhatIsOpen and is content with what is not.
func TestTheDoctorFindsWhatIsOpen(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if o := invoke(t, "doctor", "--data", h.dir); o.code != 0 || !strings.Contains(o.stdout, "for their owner only") || !strings.Contains(o.stdout, "only programs of this machine") || strings.Contains(o.stdout, h.token) {
		t.Errorf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	if err := os.Chmod(filepath.Join(h.dir, "tokens.json"), 0o644); err != nil {
		t.Fatal(err)
	}
	if o := invoke(t, "doctor", "--data", h.dir); o.code != 1 || !strings.Contains(o.stdout, "chmod go=") {
		t.Errorf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
}
