package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hostProcess is a real `harness runner`.
func hostProcess(t testing.TB, args ...string) (url string) {
	t.Helper()
	return launch(t, invocation(t, append([]string{"runner", "--addr", "127.0.0.1:0"}, args...)...)).http
}

func TestAServerHasItsTurnsDoneByARunnerAtAURLAndFindsThemAgain(t *testing.T) {
	t.Parallel()
	script, want := longScript()
	dir := t.TempDir()
	file, token := filepath.Join(dir, "long.script"), filepath.Join(dir, "runner.token")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(script, runnerSecret[:5], "x")), 0o600); err != nil {
		t.Fatal(err)
	}
	url := hostProcess(t, "--engine", "script:"+file, "--token-file", token, "--cwd", dir)
	args := []string{"--data", filepath.Join(dir, "data"), "--engine", url, "--runner-token", "file:" + token}
	p := start(t, args...)
	v := p.view("?userId=ada")
	acked(t, v.submit("prompt"))
	v.see("some of it", func(s seen) bool { return strings.Contains(said(s), " 15 ") })
	p.kill()
	p = start(t, args...)
	v = p.view("?userId=ada")
	v.see("the question", pending)
	acked(t, v.do(`"type":"approve","toolCallId":%q`, v.now.PendingApprovals[0].ToolCallID))
	s := v.see("the end", func(s seen) bool { return s.Status == "idle" })
	want = strings.ReplaceAll(want, "[redacted]", "x"+runnerSecret[5:]) // this server does not know the secret
	if said(s) != want {
		t.Errorf("the text is\n%q, want\n%q", said(s), want)
	}

	other := p.view("?userId=bob") // a runner does one thing at a time
	acked(t, v.submit("prompt again"))
	v.see("a run", func(s seen) bool { return s.Status == "running" && strings.Contains(said(s), "end.0 ") })
	acked(t, other.submit("me too"))
	s = other.see("the refusal", func(s seen) bool { return s.Status == "error" })
	if !strings.Contains(s.Error, "the runner does something else") {
		t.Errorf("the error is %q", s.Error)
	}
}

func TestARunnerAsksForItsToken(t *testing.T) {
	t.Parallel()
	token := filepath.Join(t.TempDir(), "token")
	url := hostProcess(t, "--token-file", token)
	b, err := os.ReadFile(token)
	if err != nil {
		t.Fatal(err)
	}
	for bearer, want := range map[string]int{"": 401, "wrong": 401, strings.TrimSpace(string(b)): 200} {
		req, _ := http.NewRequest("GET", url+"/health", nil)
		req.Header.Set("Authorization", "Bearer "+bearer)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != want || want == 200 && !strings.HasPrefix(string(body), `{"ok":true,"busy":false,"hasAnthropicKey":false`) {
			t.Errorf("with %q: %d %s", bearer, res.StatusCode, body)
		}
	}
	res, err := http.Get(hostProcess(t, "--auth", "off") + "/health")
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("with --auth off: %v %v", res, err)
	}
	res.Body.Close()
}

func TestRunnersThatWouldBeUnsafeOrSenselessAreNotStarted(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	short := filepath.Join(data, "short")
	if err := os.WriteFile(short, []byte("abc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		words string
		args  []string
	}{
		{"callers need a token", []string{"runner"}},
		{"can be guessed", []string{"runner", "--token-file", short}},
		{"only a loopback address", []string{"runner", "--auth", "off", "--addr", "0.0.0.0:0"}},
		{"others could read along", []string{"runner", "--token-file", filepath.Join(data, "t"), "--addr", "0.0.0.0:0"}},
		{"does the work itself", []string{"runner", "--auth", "off", "--engine", "http://127.0.0.1:1"}},
		{"does the work itself", []string{"runner", "--auth", "off", "--engine", "runner:script"}},
		{"nothing was handed over", []string{"runner", "--handover", "--socket", filepath.Join(data, "sock")}},
		{"does the work itself", []string{"serve", "--addr", "127.0.0.1:0", "--data", data, "--engine", "runner:runner:script"}},
		{"unknown kind", []string{"serve", "--addr", "127.0.0.1:0", "--data", data, "--engine", "runner:frobnicate"}},
		{"unknown kind", []string{"serve", "--addr", "127.0.0.1:0", "--data", data, "--engine", "file:///etc/passwd"}},
		{"this machine only", []string{"serve", "--addr", "127.0.0.1:0", "--data", data, "--engine", "http://runner.example"}},
		{"no runner can be", []string{"serve", "--addr", "127.0.0.1:0", "--data", data, "--engine", "https://169.254.169.254"}},
		{"no name or password", []string{"serve", "--addr", "127.0.0.1:0", "--data", data, "--engine", "https://a:b@runner.example"}},
	} {
		mustFail(t, 1, []string{c.words}, c.args...)
	}
}

// A server is no runner, and says so to whoever takes it for one, even itself.
func TestAServerThatIsTakenForARunnerEndsTheTurnWithAClearError(t *testing.T) {
	t.Parallel()
	p := start(t, "--engine", start(t).http)
	v := p.view("?userId=ada")
	acked(t, v.submit("go"))
	if s := v.see("the end", func(s seen) bool { return s.Status == "error" }); !strings.Contains(s.Error, "there is no runner for us") {
		t.Errorf("the error is %q", s.Error)
	}
}

// Whoever looks at the machine learns no token, and finds the socket closed to
// others.
func TestALocalRunnerKeepsItsTokenToItself(t *testing.T) {
	t.Parallel()
	dir, begin := lodged(t, "say hello\n")
	p := begin()
	v := p.view("?userId=ada")
	acked(t, v.submit("go"))
	v.see("the answer", saying("hello"))
	e := hosts(t, dir)[0]
	home := filepath.Dir(e.Socket)
	token, err := os.ReadFile(filepath.Join(home, "token"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cmdline", "environ"} {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", e.PID, name))
		if err != nil && !os.IsPermission(err) {
			t.Fatal(err)
		}
		if strings.Contains(string(b), strings.TrimSpace(string(token))) || strings.Contains(string(b), "HARNESS_") {
			t.Errorf("%s says %q", name, b)
		}
	}
	for path, want := range map[string]os.FileMode{home: 0o700, e.Socket: 0o600, filepath.Join(home, "token"): 0o600, filepath.Join(home, "log"): 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, %v; want %v", path, info.Mode().Perm(), err, want)
		}
	}
}

// A runner that was started for a server does not stay when nobody comes back.
func TestALocalRunnerThatNobodyNeedsEndsByItself(t *testing.T) {
	t.Parallel()
	cmd := invocation(t, "runner", "--handover", "--socket", filepath.Join(t.TempDir(), "sock"), "--idle", "50ms")
	cmd.Stdin = strings.NewReader(`{"token":"a-token-of-some-length"}`)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1) // Wait returns once
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		_ = cmd.Process.Kill()
		t.Error("it is still there")
	}
}
