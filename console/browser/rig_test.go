package browser

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const patience = 30 * time.Second

var binary string // of the server; go run keeps what it links

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "harness-browser")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "harness")
	if out, err := exec.Command("go", "run", "-exec", "cp", "harness/cmd/harness", binary).CombinedOutput(); err != nil {
		os.Stderr.Write(out)
		os.Exit(1)
	}
	code := m.Run()
	chromium.Close()
	os.RemoveAll(dir)
	os.Exit(code)
}

// house is a server with its own data and a workspace.
type house struct {
	t     testing.TB
	url   string
	data  string
	work  string
	args  []string
	token string

	printed string // a link that was printed and not used yet

	mu  sync.Mutex // guards cmd
	cmd *exec.Cmd
}

// newHouse starts the server with the offline model, or with what args say.
func newHouse(t testing.TB, args ...string) *house {
	t.Helper()
	dir := t.TempDir()
	h := &house{t: t, data: filepath.Join(dir, "data"), work: filepath.Join(dir, "work"), args: args}
	if err := os.MkdirAll(h.work, 0o755); err != nil {
		t.Fatal(err)
	}
	h.start("127.0.0.1:0")
	t.Cleanup(func() { h.stop(syscall.SIGTERM) })
	token, err := os.ReadFile(filepath.Join(h.data, "token"))
	if err != nil {
		t.Fatal(err)
	}
	h.token = strings.TrimSpace(string(token))
	return h
}

var listens = regexp.MustCompile(`listens on (http://\S+)`)

// start returns when the server listens.
func (h *house) start(addr string) {
	h.t.Helper()
	cmd := exec.Command(binary, append([]string{"serve", "--addr", addr, "--data", h.data, "--cwd", h.work, "--drain", "1s"}, h.args...)...)
	cmd.Env = append(cmd.Environ(), "HOME="+h.data)
	var logged bytes.Buffer
	cmd.Stderr = &logged
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := listens.FindStringSubmatch(lines.Text()); m != nil {
			h.url = m[1]
			break
		}
	}
	if h.url == "" {
		h.t.Fatalf("the server does not listen: %v\n%s", cmd.Wait(), logged.String())
	}
	go io.Copy(io.Discard, out) // ends with the process
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cmd = cmd
}

func (h *house) stop(s syscall.Signal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cmd != nil {
		h.cmd.Process.Signal(s)
		h.cmd.Wait() // killed, or ended
		h.cmd = nil
	}
}

// restart kills the server and starts it again at the same address.
func (h *house) restart() {
	h.t.Helper()
	h.stop(syscall.SIGKILL)
	h.start(strings.TrimPrefix(h.url, "http://"))
}

// loginURL is the one that was printed, or a new one.
func (h *house) loginURL() string {
	h.t.Helper()
	if u := h.printed; u != "" {
		h.printed = ""
		return u
	}
	cmd := exec.Command(binary, "login")
	cmd.Env = append(cmd.Environ(), "HOME="+h.data, "HARNESS_DATA="+h.data)
	out, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Fatalf("login: %v\n%s", err, out)
	}
	return regexp.MustCompile(`http://\S+/login#code=\S+`).FindString(string(out))
}

// call asks the server as its owner.
func (h *house) call(method, path string, body, to any) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var text io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			h.t.Fatal(err)
		}
		text = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, h.url+path, text)
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+h.token)
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		h.t.Fatalf("%s %s: %d %v\n%s", method, path, resp.StatusCode, err, got)
	}
	if to != nil {
		if err := json.Unmarshal(got, to); err != nil {
			h.t.Fatal(err)
		}
	}
}

type fields = map[string]any

// session makes one and says something to it, unless that is empty.
func (h *house) session(title, prompt string, more fields) string {
	h.t.Helper()
	body := fields{"title": title}
	for k, v := range more {
		body[k] = v
	}
	var made struct {
		ID string `json:"session_id"`
	}
	h.call("POST", "/chat/sessions", body, &made)
	if prompt != "" {
		h.call("POST", "/chat/sessions/"+made.ID+"/turns", fields{"prompt": prompt}, nil)
	}
	return made.ID
}

type row struct {
	Status  string `json:"status"`
	Seq     int    `json:"seq"`
	Pending int    `json:"pending_approvals"`
}

// pollEvery leaves the machine to what is waited for.
const pollEvery = 10 * time.Millisecond

// until waits until a session is as f wants it.
func (h *house) until(id, what string, f func(row) bool) row {
	h.t.Helper()
	var r row
	for end := time.Now().Add(patience); time.Now().Before(end); <-time.After(pollEvery) {
		h.call("GET", "/sessions/"+id, nil, &r)
		if f(r) {
			return r
		}
	}
	h.t.Fatalf("session %s never has %s: %+v", id, what, r)
	return r
}

func idle(r row) bool { return r.Status == "idle" }
func asks(r row) bool { return r.Pending > 0 }

type logged struct {
	Seq     int            `json:"seq"`
	Type    string         `json:"type"`
	Payload map[string]any `json:"payload"`
}

// events is a session's whole log.
func (h *house) events(id string) (all []logged) {
	h.t.Helper()
	for after := "0"; ; {
		var page struct {
			Events []logged `json:"events"`
			Next   string   `json:"next_cursor"`
		}
		h.call("GET", fmt.Sprintf("/sessions/%s/events?limit=1000&after=%s", id, after), nil, &page)
		all = append(all, page.Events...)
		if page.Next == "" {
			return all
		}
		after = page.Next
	}
}

// inFull leaves a flow to CI and LONG=1: all of them together take longer than
// one wants to wait for a change elsewhere.
func inFull(t *testing.T) {
	t.Helper()
	if os.Getenv("LONG")+os.Getenv("CI") == "" {
		t.Skip("CI and LONG=1 play it")
	}
}
