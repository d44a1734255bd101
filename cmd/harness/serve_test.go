package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// get asks for a path and returns status and body.
func (p *process) get(path string, header http.Header) (int, string) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), "GET", p.http+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	for name, values := range p.bearer(header) {
		req.Header[name] = values
	}
	if h := header.Get("Host"); h != "" {
		req.Host = h
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatalf("GET %s: %v\n%s", path, err, p.errors())
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return r.StatusCode, string(body)
}

func TestServeAnswersWhereItSaysItListens(t *testing.T) {
	t.Parallel()
	p := start(t, "--store", "memory")
	for _, c := range []struct {
		path string
		code int
		text string
	}{
		{"/healthz", 200, `{"ok":true}`},
		{"/readyz", 200, `{"ok":true,"auth":"on"}`},
		{"/", 200, `/app.js"></script>`},
		{"/nothing", 404, ""},
		{"/ws/more", 404, ""},
		{"/healthz/", 404, ""},
		{"/ws", 426, ""},
		{"/ws?userId=..%2Fx", 400, "userId"},
		{"/ws?sessionId=ses_nobody", 404, "no such session"},
	} {
		if code, body := p.get(c.path, nil); code != c.code || !strings.Contains(body, c.text) {
			t.Errorf("GET %s: %d %q, want %d with %q", c.path, code, body, c.code, c.text)
		}
	}
	for what, header := range map[string]http.Header{"no token": {"Authorization": {""}}, "another": {"Authorization": {"Bearer hk_x"}}} {
		for _, path := range []string{"/", "/ws?userId=ada", "/sessions", "/nothing"} {
			if code, body := p.get(path, header); code != 401 || !strings.Contains(body, "unauthenticated") {
				t.Errorf("GET %s with %s: %d %q", path, what, code, body)
			}
		}
	}
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.errors())
	}
}

func TestServeRefusesMistakesOnItsCommandLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	bad := filepath.Join(dir, "bad.script")
	for path, text := range map[string]string{file: "", bad: "say fine\nsay fine\nfrobnicate now\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args  []string
		code  int
		words []string
	}{
		{[]string{"--nope"}, 2, []string{"unknown flag --nope", "harness serve --help"}},
		{[]string{"--drain", "soon"}, 2, []string{`"soon"`, "--drain"}},
		{[]string{"--addr"}, 2, []string{"--addr"}},
		{[]string{"surplus"}, 2, []string{`unexpected argument "surplus"`}},
		{[]string{"--addr", "0.0.0.0:0"}, 1, []string{"0.0.0.0:0", "others could read along"}},
		{[]string{"--addr", "[::]:0"}, 1, []string{"others could read along"}},
		{[]string{"--addr", ":0"}, 1, []string{"others could read along"}},
		{[]string{"--addr", "example.com:80"}, 1, []string{"others could read along"}},
		{[]string{"--addr", "127.0.0.1"}, 1, []string{"address 127.0.0.1", "missing port"}},
		{[]string{"--cwd", filepath.Join(dir, "missing")}, 1, []string{"--cwd", "missing: no such file"}},
		{[]string{"--cwd", file}, 1, []string{"--cwd", "is not a directory"}},
		{[]string{"--addr", "127.0.0.1:0", "--store", "tape:0"}, 1, []string{"--store tape:0", "memory, postgres, postgresql, sqlite"}},
		{[]string{"--engine", "steam"}, 1, []string{"--engine steam", "script"}},
		{[]string{"--engine", "script:" + filepath.Join(dir, "missing")}, 1, []string{"missing: no such file"}},
		{[]string{"--engine", "script:" + bad}, 1, []string{"bad.script", "line 3", "frobnicate"}},
	} {
		t.Run(strings.Join(c.args, "_"), func(t *testing.T) {
			t.Parallel()
			text := mustFail(t, c.code, c.words, append([]string{"serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(dir, "data")}, c.args...)...)
			if strings.Contains(text, "invalid input") {
				t.Errorf("it says nothing twice: %s", text)
			}
		})
	}
}

func TestServeSaysThatThePortIsTaken(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	mustFail(t, 1, []string{l.Addr().String(), "another program listens there"}, "serve", "--store", "memory", "--addr", l.Addr().String())
}

func TestASecondServerIsToldOfTheFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, "--data", dir)
	addr := strings.TrimPrefix(p.http, "http://")
	mustFail(t, 1, []string{"runs already at " + p.http, "harness login"}, "serve", "--data", dir, "--addr", addr)
}

func TestEveryFlagHasAnEnvironmentTwinAndWins(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := invocation(t, "serve", "--addr", "127.0.0.1:0")
	cmd.Env = append(cmd.Env, "HARNESS_ADDR=0.0.0.0:0", "HARNESS_DATA="+dir, "HARNESS_IDLE_AFTER=20ms", "HARNESS_VERBOSE=true")
	p := launch(t, cmd)
	if _, err := os.Stat(filepath.Join(dir, "harness.db")); err != nil {
		t.Errorf("HARNESS_DATA had no effect: %v", err)
	}
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	cmd = invocation(t, "serve", "--store", "memory")
	cmd.Env = append(cmd.Env, "HARNESS_ADDR=0.0.0.0:0")
	finish(t, cmd).failed(t, 1, "0.0.0.0:0", "others could read along")
	cmd = invocation(t, "serve", "--store", "memory")
	cmd.Env = append(cmd.Env, "HARNESS_DRAIN=soon")
	finish(t, cmd).failed(t, 2, "HARNESS_DRAIN", `"soon"`)
}
