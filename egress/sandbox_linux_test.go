package egress_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"harness"
	"harness/egress"
	"harness/sandbox/bwrap"
	"harness/sandbox/sandboxtest"
)

// cell is a sandbox without a network in which agents run behind the shim.
type cell struct {
	workspace harness.Workspace
	program   string
	socket    string
}

func newCell(t testing.TB, h *house, change ...func(*harness.WorkspaceSpec)) *cell {
	t.Helper()
	s := bwrap.New(nil)
	if _, err := s.Probe(t.Context()); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skipf("no sandbox here: %v", err)
	}
	self := program(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	spec := harness.WorkspaceSpec{
		Session: "ses_test", Directory: dir, ReadOnly: []string{self}, Sockets: []string{h.socket}, Env: []string{"PATH=/usr/bin:/bin"},
	}
	for _, c := range change {
		c(&spec)
	}
	w, err := s.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return &cell{w, self, h.socket}
}

// program is this program, at a place that its user can reach.
func program(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile("/proc/self/exe")
	name := filepath.Join(dir, "harness")
	if err == nil {
		syscall.ForkLock.RLock() // a child that is started meanwhile would have it open for writing: "text file busy"
		err = os.WriteFile(name, b, 0o755)
		syscall.ForkLock.RUnlock()
	}
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// run runs an agent behind the shim, with an environment.
func (c *cell) run(t testing.TB, port int, env []string, agent ...string) (code int, out string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var buf bytes.Buffer
	if _, own := agents[agent[0]]; own {
		agent = append([]string{c.program}, agent...)
	}
	args := egress.Wrap(c.program, port, c.socket, agent...)
	child, err := c.workspace.Start(ctx, harness.Process{Args: args, Env: env, Stdout: &buf, Stderr: &buf})
	if err != nil {
		t.Fatal(err)
	}
	exit, err := child.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return exit.Code, buf.String()
}

// TestAnAgentWithoutANetworkAsksAModelWithoutAKey is the whole chain: agent,
// loopback of an empty network, relay, socket, proxy, provider.
func TestAnAgentWithoutANetworkAsksAModelWithoutAKey(t *testing.T) {
	t.Parallel()
	up := scripted(t)
	h := build(t, up.URL, egress.Options{})
	c := newCell(t, h)
	for _, port := range []int{8080, egress.AnyPort} {
		before := len(up.Requests())
		token := h.grant(t, egress.Grant{Provider: "anthropic"})
		env, err := h.Env("anthropic", "http://"+egress.Host(port), token)
		if err != nil {
			t.Fatal(err)
		}
		code, out := c.run(t, port, env, "agent-ask", forms[0].body+`,"stream":true}`)
		if code != 0 || !strings.HasPrefix(out, "200 OK") || !strings.Contains(out, "message_stop") {
			t.Fatalf("code %d, %s", code, out)
		}
		if got := up.Requests()[before:]; len(got) != 1 || got[0].Header.Get("X-Api-Key") != canary {
			t.Errorf("the provider got %+v", got)
		}
		for _, needle := range [][2]string{{canary[:8], canary[8:]}, {token[:8], token[8:]}} {
			code, out := c.run(t, port, env, "agent-look", needle[0], needle[1])
			found := strings.Contains(out, "found in /proc/")
			if wanted := needle[0] == token[:8]; code != 0 || !strings.Contains(out, "looked into") || found != wanted || !wanted && strings.Contains(out, "found") {
				t.Errorf("a look for %s… ended with %d: %s", needle[0], code, out)
			}
		}
	}
	if code, out := c.run(t, 8080, nil, "agent-dial", strings.TrimPrefix(up.URL, "http://")); code == 0 {
		t.Errorf("the provider was reached directly: %s", out)
	}
	if code, _ := c.run(t, 8080, nil, "agent-exit", "42"); code != 42 {
		t.Errorf("code %d, want 42", code)
	}
}

func TestAnOrdinaryUserHasTheSameWayOut(t *testing.T) {
	sandboxtest.AsNobody(t, "TestAnAgentWithoutANetworkAsksAModelWithoutAKey")
}
