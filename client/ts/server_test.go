package ts_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// process is a child that has said where it is.
type process struct {
	url string
	cmd *exec.Cmd
}

// start runs a program until the test ends, and returns when it has said a line
// with an address and these words.
func start(tb testing.TB, words string, name string, args ...string) *process {
	tb.Helper()
	cmd := exec.Command(name, args...)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		tb.Fatal(err)
	}
	p := &process{cmd: cmd}
	tb.Cleanup(p.kill)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), words) {
			p.url = regexp.MustCompile(`http://[\d.:]+`).FindString(lines.Text())
			go io.Copy(io.Discard, out) // ends with the process
			return p
		}
	}
	tb.Fatalf("%s: %v\n%s", name, cmd.Wait(), errors.String())
	return nil
}

func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait() // killed, or ended
}

// server is a real one, with an engine that plays a script.
type server struct {
	*process
	t     testing.TB
	token string
	path  string
	dir   string
}

func serve(t testing.TB, script string) *server {
	t.Helper()
	s := &server{process: &process{url: "http://127.0.0.1:0"}, t: t, path: buildServer(t), dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(s.dir, "play.script"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	s.start()
	token, err := os.ReadFile(filepath.Join(s.dir, "data", "token"))
	if err != nil {
		t.Fatal(err)
	}
	s.token = strings.TrimSpace(string(token))
	return s
}

// start begins it, again at the address that it had if it had one.
func (s *server) start() {
	s.t.Helper()
	s.process = start(s.t, "listens on ", s.path, "serve", "--addr", strings.TrimPrefix(s.url, "http://"), "--data", filepath.Join(s.dir, "data"),
		"--cwd", s.dir, "--snapshots", "off", "--engine", "script:"+filepath.Join(s.dir, "play.script"))
}

// call asks it as its owner.
func (s *server) call(method, path, body string, to any) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err == nil && to != nil {
		err = json.Unmarshal(got, to)
	}
	if err != nil || resp.StatusCode >= 300 {
		s.t.Fatalf("%s %s: %d %v\n%s", method, path, resp.StatusCode, err, got)
	}
}
