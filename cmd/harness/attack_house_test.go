package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"harness"
	"harness/gateway"
)

// house is a real server with the tokens of two users, and what they own: the
// attacks of these files are made on one.
type house struct {
	*process
	dir    string
	host   string // HOST:PORT
	port   string
	tokens map[string]string // by name: ada and bob are approvers
	n      atomic.Int64
}

// guests are the tokens of a house, by name: user, role and scope.
var guests = map[string][3]string{
	"ada": {"ada", "approver"}, "ada-operator": {"ada", "operator"}, "ada-viewer": {"ada", "viewer"},
	"bob": {"bob", "approver"}, "bob-operator": {"bob", "operator"}, "bob-viewer": {"bob", "viewer"},
	"root": {"", "admin"},

	"ada-reader": {"ada", "approver", "read"}, "ada-bot": {"ada", "approver", "read,submit"}, "ada-pager": {"ada", "approver", "read,approve"},
	"wall": {"", "admin", "read"}, "scraper": {"", "admin", "inspect"}, "page": {"ada", "approver", "session:" + string(harness.DefaultSession("ada"))},
}

func newHouse(t testing.TB, more ...string) *house {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	h := &house{dir: dir, tokens: map[string]string{}}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, g := range guests {
		token, err := gateway.AddToken(dir, gateway.Token{Name: name, User: g[0], Role: harness.CallerRole(g[1]), Scope: parts(g[2])})
		if err != nil {
			t.Fatal(err)
		}
		h.tokens[name] = token
	}
	h.process = start(t, playing(t, dir, more...)...)
	h.tokens["owner"] = h.token
	h.host = strings.TrimPrefix(h.http, "http://")
	h.port = h.host[strings.LastIndexByte(h.host, ':')+1:]
	return h
}

// grant makes a token as a person does.
func (h *house) grant(t testing.TB, name, user, role string, more ...string) string {
	t.Helper()
	args := append([]string{"token", "add", "--data", h.dir, "--role", role}, more...)
	if user != "" {
		args = append(args, "--user", user)
	}
	return strings.TrimSpace(mustRun(t, append(args, name)...))
}

// ask is a request as anybody could write it, and reply what came of it.
type ask struct {
	as                 string // the name of a token; empty: none
	method, path, body string
	host               string
	header             http.Header
}

type reply struct {
	status int
	header http.Header
	body   string
	agent  string // under which the request is in the log
}

// send makes a request on a connection of its own. What is upgraded or streamed
// is closed at once.
func (h *house) send(t testing.TB, q ask) reply {
	t.Helper()
	var body io.Reader
	if q.body != "" {
		body = strings.NewReader(q.body)
	}
	r, err := http.NewRequestWithContext(t.Context(), q.method, h.http+q.path, body)
	if err != nil {
		t.Fatal(err)
	}
	if q.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if q.as != "" {
		r.Header.Set("Authorization", "Bearer "+h.tokens[q.as])
	}
	got := reply{agent: fmt.Sprintf("attack-%d", h.n.Add(1))}
	r.Header.Set("User-Agent", got.agent)
	for name, values := range q.header {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	if q.host != "" {
		r.Host = q.host
	}
	resp, err := (&http.Transport{DisableKeepAlives: true, ExpectContinueTimeout: patience, DialContext: h.stranger().DialContext}).RoundTrip(r)
	if err != nil {
		t.Fatalf("%s %.200s: %v\n%s", q.method, q.path, err, h.errors())
	}
	defer resp.Body.Close()
	got.status, got.header = resp.StatusCode, resp.Header
	if got.status != http.StatusSwitchingProtocols && !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		got.body = string(b)
	}
	return got
}

// stranger dials from an address that nobody has dialled from, where a machine
// has many: who fails too often at one address is answered otherwise.
func (h *house) stranger() *net.Dialer {
	d := &net.Dialer{Timeout: patience}
	if runtime.GOOS == "linux" {
		n := h.n.Add(1)
		d.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 1, byte(n>>8), byte(n))}
	}
	return d
}

// must is send for what must succeed, into a map.
func (h *house) must(t testing.TB, q ask) map[string]any {
	t.Helper()
	got := h.send(t, q)
	var m map[string]any
	if err := json.Unmarshal([]byte(got.body), &m); got.status/100 != 2 || got.body != "" && err != nil {
		t.Fatalf("%s %s as %s: %d %s", q.method, q.path, q.as, got.status, got.body)
	}
	return m
}

// session makes a session of a guest and says something to it, if anything.
func (h *house) session(t testing.TB, as, prompt string) string {
	t.Helper()
	id := h.must(t, ask{as: as, method: "POST", path: "/chat/sessions", body: `{"title":"of ` + as + `"}`})["session_id"].(string)
	if prompt != "" {
		h.must(t, ask{as: as, method: "POST", path: "/chat/sessions/" + id + "/turns", body: fmt.Sprintf(`{"prompt":%q}`, prompt), header: http.Header{"Accept": {"application/json"}}})
	}
	return id
}

// question is the approval that a session waits for, when it does.
func (h *house) question(t testing.TB, id string) (request, call string) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C {
		list := h.must(t, ask{as: "owner", method: "GET", path: "/approvals?session_id=" + id})["approvals"].([]any)
		if len(list) > 0 {
			a := list[0].(map[string]any)
			return a["request_id"].(string), a["tool_call_id"].(string)
		}
	}
	t.Fatalf("%s asks nothing", id)
	return "", ""
}

// state is everything that the server knows, for its owner: a change of any log
// changes a row's seq.
func (h *house) state(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	for _, path := range []string{"/sessions?limit=1000", "/approvals?limit=200", "/rules"} {
		b.WriteString(h.send(t, ask{as: "owner", method: "GET", path: path}).body)
	}
	return b.String()
}

// settled is the state when no turn runs any more.
func (h *house) settled(t testing.TB) string {
	t.Helper()
	var s string
	until(t, "the end of all turns", func() bool {
		s = h.state(t)
		return !strings.Contains(s, `"status":"running"`) && !strings.Contains(s, `"status":"queued"`)
	})
	return s
}

// unchanged fails if f changes anything that the server knows.
func (h *house) unchanged(t testing.TB, f func()) {
	t.Helper()
	before := h.settled(t)
	f()
	if after := h.state(t); after != before {
		t.Errorf("something was done:\n before %s\n after  %s", before, after)
	}
	attacked.saw(t, sawState)
}

// lines are the lines of a log that have a text in them, when there are any.
func (h *house) lines(t testing.TB, log, text string) (found []string) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); len(found) == 0 && time.Now().Before(end); <-tick.C { // a line is written behind the answer
		b, err := os.ReadFile(filepath.Join(h.dir, log))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(b) {
			if bytes.Contains(line, []byte(text)) {
				found = append(found, string(line))
			}
		}
	}
	if log == "audit.log" && len(found) > 0 {
		attacked.saw(t, sawLine)
	}
	return found
}

// logged fails unless a request has one line in the access log, with its status
// and without a secret.
func (h *house) logged(t testing.TB, got reply) {
	t.Helper()
	all := h.lines(t, "access.log", `"agent":"`+got.agent+`"`)
	var line struct {
		Status int
		Remote string
	}
	if len(all) != 1 || json.Unmarshal([]byte(all[0]), &line) != nil || line.Status != got.status || !strings.HasPrefix(line.Remote, "127.") {
		t.Errorf("the access log has %q for an answer of %d", all, got.status)
	}
	for name, token := range h.tokens {
		if slices.ContainsFunc(all, func(l string) bool { return strings.Contains(l, token[8:20]) }) {
			t.Errorf("the token %s is in the log: %q", name, all)
		}
	}
}

// upgrade are the headers of a WebSocket, and more.
func upgrade(more ...string) http.Header {
	h := http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="}}
	return with(h, more...)
}

// with is h with more headers, name by value.
func with(h http.Header, more ...string) http.Header {
	if h = h.Clone(); h == nil {
		h = http.Header{}
	}
	for i := 0; i < len(more); i += 2 {
		h.Add(more[i], more[i+1])
	}
	return h
}

// viewAs is a WebSocket client with a token.
func (h *house) viewAs(t testing.TB, as, query string) (*viewer, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ws, resp, err := websocket.Dial(ctx, h.ws+query, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + h.tokens[as]}}})
	if err != nil {
		if resp == nil {
			t.Fatal(err)
			return nil, 0
		}
		return nil, resp.StatusCode
	}
	ws.SetReadLimit(64 << 20)
	t.Cleanup(func() { ws.CloseNow() })
	v := &viewer{conn: &conn{t: t, ws: ws}}
	v.see("the first state", func(seen) bool { return true })
	return v, 101
}

// speaker is a JSON-RPC client on /rpc with a token.
type speaker struct {
	t    testing.TB
	conn net.Conn
	r    *bufio.Reader
	n    int
}

func (h *house) speakAs(t testing.TB, as string) *speaker {
	t.Helper()
	c, err := dialRPC(t.Context(), remote{h.http, h.tokens[as]})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &speaker{t: t, conn: c, r: bufio.NewReader(c)}
}

// answered is an answer of JSON-RPC.
type answered struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  struct {
		Code    int
		Message string
		Data    struct{ Code string }
	}
}

// line sends one line and returns the next that is an answer.
func (s *speaker) line(text string) answered {
	s.t.Helper()
	s.conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(s.conn, text+"\n"); err != nil {
		s.t.Fatal(err)
	}
	for {
		b, err := s.r.ReadBytes('\n')
		if err != nil {
			s.t.Fatalf("no answer to %.200s: %v", text, err)
		}
		var a answered
		if err := json.Unmarshal(b, &a); err != nil {
			s.t.Fatalf("%s: %v", b, err)
		}
		if a.ID != nil {
			return a
		}
	}
}

// call carries out a method.
func (s *speaker) call(method, params string) answered {
	s.t.Helper()
	s.n++
	return s.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, s.n, method, params))
}
