package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"harness/gateway"
	"harness/internal/redact"
)

const (
	canary = "canary/9f8e+7d6c 5b4a3\"21"                      // a value that the server is told
	looks  = "sk-ant-api03-CaNaRy0123456789_-AbCdEf0123456789" // a key that nobody told it
)

// spellings are the ways in which a value is looked for, made without the code
// that hides them.
func spellings(v string) []string {
	quoted, _ := json.Marshal(v)
	again, _ := json.Marshal(string(quoted))
	all := []string{v, string(quoted[1 : len(quoted)-1]), string(again[3 : len(again)-3]), url.QueryEscape(v), url.PathEscape(v), hex.EncodeToString([]byte(v))}
	for shift := range 3 {
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			whole := enc.EncodeToString([]byte(strings.Repeat("x", shift) + v))
			all = append(all, whole[4:len(whole)-4]) // what beside it cannot change
		}
	}
	return all
}

// blurt is a script that says secrets in every way it can.
func blurt(known []string, looks string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	for _, s := range append(known, looks) {
		text := "whole " + s
		if s != looks {
			quoted, _ := json.Marshal(s)
			text += fmt.Sprintf(" coded %s %s %s %s %s", base64.StdEncoding.EncodeToString([]byte("user:"+s)), base64.URLEncoding.EncodeToString([]byte(s)), url.QueryEscape(s), hex.EncodeToString([]byte(s)), quoted)
		}
		q := strconv.Quote(text)
		line("say %s", q)
		for i := range len(s) {
			line("say %q", s[i:i+1])
		}
		line("say %q", " half "+s[:len(s)/2])
		line("think %s", q)
		line("say %q", s[len(s)/2:]+" ")
		line("reflect %s", q)
		args, _ := json.Marshal(map[string]any{"command": text, s: []string{s}})
		line("tool bash %s", args)
		line("log %q", "out "+s[:len(s)/3])
		line("log %q", s[len(s)/3:]+"\n")
		line("result %s", q)
		line("outcome error %s", q)
		line("ask bash %s %s => %s", args, q, text)
		artifact, _ := json.Marshal(map[string]any{"artifact_id": "art_1", "artifact_type": "diff", "title": text, "uri": "file:///?k=" + url.QueryEscape(s), "metadata": map[string]string{"k": text}})
		line("emit artifact %s", artifact)
	}
	line("response %s", strconv.Quote("all "+strings.Join(append(known, looks), " ")))
	line("say %q", "the end of the canary")
	line("fail %s", strconv.Quote("failed with "+strings.Join(append(known, looks), " ")))
	return b.String()
}

// collected is everything that was seen, by where.
type collected struct {
	mu  sync.Mutex // guards all
	all map[string]*bytes.Buffer
}

func (c *collected) add(where string, b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all[where] == nil {
		c.all[where] = new(bytes.Buffer)
	}
	c.all[where].Write(b)
}

// files takes in every file below a directory.
func (c *collected) files(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || path == filepath.Join(dir, "token") { // that is where the token lives
			return err
		}
		b, err := os.ReadFile(path)
		c.add("file "+d.Name(), b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// check looks for the secrets, and for the marks in places where they were.
func (c *collected) check(t *testing.T, secrets []string, marked ...string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for where, b := range c.all {
		for _, s := range secrets {
			for _, form := range spellings(s) {
				if at := bytes.Index(b.Bytes(), []byte(form)); at >= 0 {
					t.Errorf("%s has %q: …%q…", where, form, b.Bytes()[max(0, at-80):min(b.Len(), at+80)])
				}
			}
		}
	}
	for _, where := range []string{"file access.log", "file audit.log"} { // lines are cut: not even the beginning is there
		for _, s := range secrets {
			if b := c.all[where]; b != nil && bytes.Contains(b.Bytes(), []byte(s[:14])) {
				t.Errorf("%s has the beginning of %q", where, s)
			}
		}
	}
	for _, where := range marked {
		if b := c.all[where]; b == nil || !bytes.Contains(b.Bytes(), []byte(redact.Mark)) {
			t.Errorf("nothing was redacted in %s: %v", where, b)
		}
	}
}

// TestCanary: an engine that blurts secrets out, clients of every protocol, and
// then a search of everything that was stored, logged and sent.
func TestCanary(t *testing.T) {
	t.Parallel()
	data, elsewhere := t.TempDir(), t.TempDir()
	token, _, err := gateway.FirstToken(data)
	if err != nil {
		t.Fatal(err)
	}
	known := []string{canary, token}
	secrets := append(known, looks)
	file := filepath.Join(elsewhere, "blurt.script")
	if err := os.WriteFile(file, []byte(blurt(known, looks)), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := invocation(t, "serve", "--addr", "127.0.0.1:0", "--data", data, "--engine", "script:"+file, "--secret", "env:CANARY", "--verbose")
	cmd.Env = append(cmd.Env, "CANARY="+canary, "HARNESS_TOKEN="+token)
	p := launch(t, cmd)
	seen := &collected{all: map[string]*bytes.Buffer{}}

	// Somebody pastes the values into everything one can write.
	title, _ := json.Marshal(map[string]string{"title": "about " + canary})
	say, _ := json.Marshal(map[string]string{"prompt": "use " + canary + " and " + token})
	var session struct {
		Session string `json:"session_id"`
	}
	created := p.post(t, "/chat/sessions", title)
	if err := json.Unmarshal(created, &session); err != nil || session.Session == "" {
		t.Fatalf("%s: %v", created, err)
	}
	seen.add("created", created)
	id := session.Session

	// Two who watch, and one who answers.
	var watching sync.WaitGroup
	t.Cleanup(watching.Wait)
	ws, _, err := websocket.Dial(t.Context(), p.ws+"?userId=me&sessionId="+id, &websocket.DialOptions{HTTPHeader: p.bearer(nil)})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	ws.SetReadLimit(64 << 20)
	watching.Go(func() {
		for {
			_, b, err := ws.Read(t.Context())
			if err != nil {
				return
			}
			seen.add("WebSocket", b)
		}
	})
	stream := p.open(t, "/sessions/"+id+"/events/stream")
	done := make(chan struct{})
	watching.Go(func() {
		defer stream.Close()
		lines := bufio.NewScanner(stream)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			seen.add("SSE", append(lines.Bytes(), '\n'))
			var e struct {
				Type    string
				Payload struct {
					Request string `json:"request_id"`
				}
			}
			text, _ := strings.CutPrefix(lines.Text(), "data: ")
			if json.Unmarshal([]byte(text), &e) != nil {
				continue
			}
			switch e.Type {
			case "approval_required":
				answer, _ := json.Marshal(map[string]string{"decision": "allow", "reason": "because of " + canary})
				seen.add("approval", p.post(t, "/approvals/"+e.Payload.Request, answer))
			case "turn_end":
				close(done)
			}
		}
	})
	seen.add("turn", p.post(t, "/chat/sessions/"+id+"/turns", say))
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("the turn did not end\n%s", p.errors())
	}
	for _, path := range []string{"/sessions/" + id, "/sessions/" + id + "/state?at=now", "/sessions/" + id + "/events", "/sessions/" + id + "/export", "/chat/sessions", "/approvals", "/metrics", "/healthz", "/readyz"} {
		_, body := p.get(path, nil)
		seen.add("GET "+path, []byte(body))
	}
	p.get("/sessions?token="+url.QueryEscape(token)+"&k="+url.QueryEscape(canary), http.Header{"User-Agent": {"curl " + token}})
	p.get("/sessions/"+url.PathEscape(looks), http.Header{"Authorization": {"Bearer " + looks}})
	p.blurt(t, secrets)

	// Another session over JSON-RPC, and what people at a terminal see.
	o := finish(t, invocation(t, "run", "--connect", p.http, "--approve", "all", "--json", "use "+canary))
	seen.add("JSON-RPC", []byte(o.stdout+o.stderr))
	o = finish(t, invocation(t, "run", "--connect", p.http, "--approve", "all", "go"))
	seen.add("terminal", []byte(o.stdout+o.stderr))
	seen.files(t, data) // with a log that is not folded into the database yet
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	seen.add("stdout", []byte(p.output()))
	seen.add("stderr", []byte(p.errors()))
	seen.files(t, data)
	for _, args := range [][]string{{"sessions", "export", "--data", data, id}, {"sessions", "show", "--data", data, id}, {"sessions", "ls", "--data", data}, {"replay", "--data", data, id}} {
		o := invoke(t, args...)
		seen.add(strings.Join(args[:2], " "), []byte(o.stdout+o.stderr))
	}
	seen.check(t, secrets, "created", "SSE", "WebSocket", "JSON-RPC", "terminal", "file access.log", "file audit.log", "GET /sessions/"+id, "GET /sessions/"+id+"/export", "sessions export", "sessions show")
}

// blurt says secrets in whatever is refused, also where a line of a log is cut.
func (p *process) blurt(t *testing.T, secrets []string) {
	t.Helper()
	ws, _, err := websocket.Dial(t.Context(), p.ws+"?userId=other", &websocket.DialOptions{HTTPHeader: p.bearer(nil)})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	rpc, err := dialRPC(t.Context(), remote{p.http, p.token})
	if err != nil {
		t.Fatal(err)
	}
	defer rpc.Close()
	answers := bufio.NewReader(rpc)
	for _, s := range secrets {
		quoted, _ := json.Marshal(s)
		for _, before := range []string{"", strings.Repeat("a", 239) + "/"} { // a field of a line has 256
			p.get("/"+before+url.PathEscape(s), nil)
			p.get("/sessions", http.Header{"User-Agent": {before + s}, "Origin": {"http://" + before + url.PathEscape(s)}})
			req, err := http.NewRequestWithContext(t.Context(), "POST", p.http+"/chat/sessions", strings.NewReader(`{`+strings.Replace(string(quoted), `"`, `"`+before, 1)+`:1}`))
			if err != nil {
				t.Fatal(err)
			}
			req.Header = p.bearer(http.Header{"Content-Type": {"application/json"}})
			r, err := http.DefaultClient.Do(req)
			if err != nil || r.StatusCode != http.StatusBadRequest {
				t.Fatalf("%v, %v", r, err)
			}
			r.Body.Close()
			word := strings.Replace(string(quoted), `"`, `"`+before, 1)
			if err := ws.Write(t.Context(), websocket.MessageText, []byte(`{"type":"commands","commands":[{"type":`+word+`}]}`)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(rpc, `{"jsonrpc":"2.0","id":1,"method":`+word+`}`+"\n"); err != nil {
				t.Fatal(err)
			}
			if _, err := answers.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := io.WriteString(rpc, `{"jsonrpc":"2.0","id":1,"method":"the end"}`+"\n"); err != nil { // behind it all is written
		t.Fatal(err)
	}
	if _, err := answers.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
}

// TestCanaryOfALocalThread: the same without a server, where threads are files.
func TestCanaryOfALocalThread(t *testing.T) {
	t.Parallel()
	elsewhere := t.TempDir()
	file, key := filepath.Join(elsewhere, "blurt.script"), filepath.Join(elsewhere, "key")
	if err := os.WriteFile(file, []byte(blurt([]string{canary}, looks)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(key, []byte(canary+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := invocation(t, "run", "--engine", "script:"+file, "--approve", "all", "--json", "use "+canary)
	cmd.Env = append(cmd.Env, "HARNESS_SECRET=file:"+key)
	o := finish(t, cmd)
	if o.code != 1 || !strings.Contains(o.stdout, "the end of the canary") {
		t.Fatalf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	seen := &collected{all: map[string]*bytes.Buffer{}}
	seen.add("output", []byte(o.stdout+o.stderr))
	seen.files(t, cmd.Dir)
	seen.check(t, []string{canary, looks}, "output", "file events.jsonl")
}

// post sends JSON and returns the answer, which must be one of success.
func (p *process) post(t testing.TB, path string, body []byte) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", p.http+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = p.bearer(http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}})
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode >= 300 {
		t.Errorf("POST %s: %s: %s, %v", path, r.Status, b, err)
	}
	return b
}

// open is a stream of events.
func (p *process) open(t testing.TB, path string) io.ReadCloser {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", p.http+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = p.bearer(http.Header{"Accept": {"text/event-stream"}})
	r, err := http.DefaultClient.Do(req)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %v, %v", path, r, err)
	}
	return r.Body
}
