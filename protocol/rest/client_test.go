package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/archive"
	"harness/engine/script"
	"harness/kernel"
	"harness/protocol/rest"
	"harness/store/memory"
	"harness/workspace"
)

const patience = 20 * time.Second

// server is the real thing on loopback: kernel, store, script engine. Every
// JSON answer that goes through do is checked against the description.
type server struct {
	t      testing.TB
	url    string
	k      *kernel.Kernel
	store  harness.Store
	engine *script.Engine
	client *http.Client
	doc    *description
}

func serve(t testing.TB, src string) *server {
	t.Helper()
	return serveOn(t, memory.New(), src, nil)
}

func serveOn(t testing.TB, st harness.Store, src string, opts *rest.Options) *server {
	t.Helper()
	parsed, err := script.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	return serveWith(t, st, script.New(parsed, nil), opts)
}

func serveWith(t testing.TB, st harness.Store, e *script.Engine, opts *rest.Options) *server {
	t.Helper()
	s := &server{t: t, store: st, engine: e, client: &http.Client{Transport: &http.Transport{}}, doc: described(t)}
	s.k = kernel.New(st, map[string]harness.Engine{"script": s.engine}, &kernel.Options{
		Engine: "script", Directory: "/workspace", Window: -1, Backoff: time.Millisecond, Files: workspace.NewTrees(t.TempDir(), nil).Of, // of directories that exist
	})
	if opts == nil {
		opts = &rest.Options{}
	}
	opts.Engines, opts.Engine = map[string]harness.Engine{"script": s.engine}, "script"
	opts.Import = func(ctx context.Context, events []harness.Event) (archive.Imported, error) {
		return archive.Import(ctx, st, events)
	}
	api, err := rest.New(s.k, opts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.k.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(api)
	s.url = h.URL
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := api.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		h.Close()
		s.k.Close()
	})
	return s
}

// reply is an answer, read whole.
type reply struct {
	*http.Response
	body []byte
}

// request sends a request and returns the open answer. Headers are pairs.
func (s *server) request(method, path, body string, headers ...string) *http.Response {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	s.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	r, err := s.client.Do(req)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return r
}

// do sends a request, reads the whole answer and checks it against the
// description.
func (s *server) do(method, path, body string, headers ...string) reply {
	s.t.Helper()
	r := s.request(method, path, body, headers...)
	defer r.Body.Close()
	got, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	a := reply{r, got}
	s.doc.check(s.t, method, path, a)
	return a
}

// must is do for an answer of this status, decoded into v.
func (s *server) must(status int, v any, method, path, body string, headers ...string) reply {
	s.t.Helper()
	a := s.do(method, path, body, headers...)
	if a.StatusCode != status {
		s.t.Fatalf("%s %s %s: %d, want %d\n%s", method, path, body, a.StatusCode, status, a.body)
	}
	if v != nil {
		if err := json.Unmarshal(a.body, v); err != nil {
			s.t.Fatalf("%s %s: %v\n%s", method, path, err, a.body)
		}
	}
	return a
}

// refused checks that a request is answered with a problem.
func (s *server) refused(status int, code, field, method, path, body string, headers ...string) reply {
	s.t.Helper()
	a := s.do(method, path, body, headers...)
	var p struct {
		Type, Title, Detail, Code, Field string
		Status                           int
	}
	if err := json.Unmarshal(a.body, &p); err != nil {
		s.t.Errorf("%s %s: %d %s", method, path, a.StatusCode, a.body)
		return a
	}
	media, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if a.StatusCode != status || p.Status != status || p.Code != code || p.Field != field || media != "application/problem+json" || p.Title == "" {
		s.t.Errorf("%s %s %.80s: %d %s, want %d %s of %q", method, path, body, a.StatusCode, a.body, status, code, field)
	}
	return a
}

// row is as much of a session as tests look at.
type row struct {
	SessionID string `json:"session_id"`
	Kind      string
	Status    string
	Title     string
	UserID    string `json:"user_id"`
	Parent    string `json:"parent_session_id"`
	Source    string `json:"branch_source_event_id"`
	Cursor    string `json:"branch_resume_cursor"`
	Seq       uint64
	Pending   int `json:"pending_approvals"`
	Count     int `json:"message_count"`
	Config    struct {
		PermissionMode string `json:"permission_mode"`
		ApprovalMode   string `json:"approval_mode"`
		Model          string
		ThinkLevel     string `json:"think_level"`
	}
	Approvals []struct {
		RequestID string `json:"request_id"`
		ToolName  string `json:"tool_name"`
		SessionID string `json:"session_id"`
	}
	First    int `json:"first_message"`
	Messages []struct {
		Role, Content, Status string
		ToolCalls             []map[string]any `json:"tool_calls"`
	}
	Turn *struct {
		TurnID string `json:"turn_id"`
	}
	Queue []map[string]any
}

type receipt struct {
	SessionID string `json:"session_id"`
	Seq       uint64
	TurnID    string `json:"turn_id"`
	ItemID    string `json:"item_id"`
}

func (s *server) chat() string {
	s.t.Helper()
	var r row
	s.must(201, &r, "POST", "/chat/sessions", `{}`)
	return r.SessionID
}

// say starts a turn and returns its receipt.
func (s *server) say(id, prompt string, headers ...string) receipt {
	s.t.Helper()
	var r receipt
	s.must(202, &r, "POST", "/chat/sessions/"+id+"/turns", fmt.Sprintf(`{"prompt":%q}`, prompt), append([]string{"Accept", "application/json"}, headers...)...)
	return r
}

// turn plays a whole turn and returns its events.
func (s *server) turn(id, prompt string) []sseEvent {
	s.t.Helper()
	r := s.request("POST", "/chat/sessions/"+id+"/turns", fmt.Sprintf(`{"prompt":%q}`, prompt))
	defer r.Body.Close()
	if r.StatusCode != 200 || r.Header.Get("Content-Type") != "text/event-stream" {
		s.t.Fatalf("a turn: %d %v", r.StatusCode, r.Header)
	}
	s.doc.saw("POST", "/chat/sessions/"+id+"/turns", 200)
	text, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return parseSSE(s.t, text)
}

// sseEvent is one event of a stream.
type sseEvent struct{ id, event, data string }

// parseSSE is the events of a stream, without the session event, which nothing
// may come before.
func parseSSE(t testing.TB, text []byte) []sseEvent {
	t.Helper()
	var list []sseEvent
	for block := range bytes.SplitSeq(text, []byte("\n\n")) {
		var e sseEvent
		for line := range strings.SplitSeq(string(block), "\n") {
			switch name, value, _ := strings.Cut(line, ": "); name {
			case "id":
				e.id = value
			case "event":
				e.event = value
			case "data":
				e.data = value
			}
		}
		if e.data != "" {
			list = append(list, e)
		}
	}
	if len(list) == 0 || list[0].event != "session" || list[0].id != "" {
		t.Fatalf("the stream does not begin with a session event: %.300s", text)
	}
	return list[1:]
}

// until waits for the session to satisfy a condition.
func (s *server) until(id, what string, cond func(*harness.State) bool) *harness.State {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	st, err := s.k.At(ctx, harness.SessionID(id), 0)
	if err != nil {
		s.t.Fatal(err)
	}
	if cond(st) {
		return st
	}
	for up, err := range s.k.Watch(ctx, harness.SessionID(id), 0) {
		if err != nil {
			s.t.Fatalf("waiting for %s: %v", what, err)
		}
		if up.State != nil {
			st = up.State
		}
		for _, e := range up.Events {
			st.Apply(e)
		}
		if cond(st) {
			return st
		}
	}
	s.t.Fatalf("waiting for %s: the watch ended", what)
	return nil
}

func (s *server) idle(id string) *harness.State {
	s.t.Helper()
	return s.until(id, "the end of the turn", func(st *harness.State) bool { return st.Turn == nil && len(st.Queue) == 0 })
}

// asks waits for a question and returns its id.
func (s *server) asks(id string) string {
	s.t.Helper()
	st := s.until(id, "a question", func(st *harness.State) bool { return len(st.Pending) > 0 })
	return string(st.Pending[0].ID)
}

// background makes a background session; there is no request for it yet.
func (s *server) background() string {
	s.t.Helper()
	id, err := s.k.Create(s.t.Context(), harness.NewSession{Kind: harness.Background})
	if err != nil {
		s.t.Fatal(err)
	}
	return string(id)
}
