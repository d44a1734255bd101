package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"harness/model/modeltest"
)

// native is a real server whose native engine asks a scripted model.
type nativeServer struct {
	*process
	models *modeltest.Server
	dir    string // that sessions work in
}

// scripted are the flags of a native engine that asks a scripted model.
func scripted(t testing.TB, models *modeltest.Server, provider, name string) []string {
	t.Helper()
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(modelKey), 0o600); err != nil {
		t.Fatal(err)
	}
	url := models.URL
	if provider != "anthropic" {
		url += "/v1"
	}
	return []string{"--engine", "native", "--model", provider + "/" + name, "--key", provider + "=file:" + key, "--model-url", provider + "=" + url}
}

func startNative(t testing.TB, script string, args ...string) *nativeServer {
	t.Helper()
	s := &nativeServer{models: modeltest.Serve(t, script), dir: t.TempDir()}
	s.process = start(t, append(append(scripted(t, s.models, "anthropic", "claude-sonnet-4-5"), "--cwd", s.dir), args...)...)
	return s
}

// event is one of the log, as HTTP tells it.
type event struct {
	Seq     uint64
	Type    string
	Turn    string `json:"turn_id"`
	Payload map[string]any
}

// id is which call, question or message an event is about.
func (e event) id(name string) string {
	s, _ := e.Payload[name].(string)
	return s
}

// chat makes a session.
func (s *nativeServer) chat(t *testing.T, mode string) string {
	t.Helper()
	var made struct {
		ID string `json:"session_id"`
	}
	if err := json.Unmarshal(s.post(t, "/chat/sessions", []byte(`{"permission_mode":"`+mode+`"}`)), &made); err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// say runs a turn over HTTP and returns its events as they were streamed. Its
// questions get this answer.
func (s *nativeServer) say(t *testing.T, id, prompt, decision string) (all []event) {
	t.Helper()
	body, err := json.Marshal(map[string]string{"prompt": prompt})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", s.http+"/chat/sessions/"+id+"/turns", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = s.bearer(http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}})
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		t.Fatalf("the turn of %q is answered with %s", prompt, r.Status)
	}
	lines := bufio.NewReader(r.Body)
	for {
		line, err := lines.ReadString('\n')
		if ctx.Err() != nil {
			t.Fatalf("the turn of %q did not end: %v", prompt, all)
		}
		if err != nil {
			return all
		}
		e, ok := streamedEvent(t, line)
		if !ok {
			continue
		}
		all = append(all, e)
		if e.Type == "approval_required" && decision != "" {
			s.post(t, "/approvals/"+e.id("request_id"), fmt.Appendf(nil, `{"decision":%q}`, decision))
		}
	}
}

func streamedEvent(t testing.TB, line string) (e event, ok bool) {
	t.Helper()
	data, ok := strings.CutPrefix(line, "data: ")
	if !ok {
		return e, false
	}
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return e, true
}

// log is what is persisted of a session, page by page.
func (s *nativeServer) log(t *testing.T, id string) (all []event) {
	t.Helper()
	for after := uint64(0); ; {
		status, body := s.get(fmt.Sprintf("/sessions/%s/events?after=%d&limit=500", id, after), nil)
		var page struct{ Events []event }
		if err := json.Unmarshal([]byte(body), &page); err != nil || status != http.StatusOK {
			t.Fatalf("%d %s: %v", status, body, err)
		}
		if len(page.Events) == 0 {
			return all
		}
		all = append(all, page.Events...)
		after = all[len(all)-1].Seq
	}
}

// of are the events of one kind.
func of(all []event, kind string) (some []event) {
	for _, e := range all {
		if e.Type == kind {
			some = append(some, e)
		}
	}
	return some
}

// only is the one event of its kind.
func only(t *testing.T, all []event, kind string) event {
	t.Helper()
	some := of(all, kind)
	if len(some) != 1 {
		t.Fatalf("there are %d events %s, want 1: %v", len(some), kind, all)
	}
	return some[0]
}
