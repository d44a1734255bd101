package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"harness"
	"harness/engine/script"
	"harness/kernel"
	"harness/protocol/rest"
	"harness/store/memory"
)

// Whatever is asked, the answer is one that is described, and never the
// server's own fault.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		"POST /chat/sessions\n{\"title\":\"x\"}", "POST /chat/sessions/ses_1/branch\n{\"from_event_id\":\"ses_1.1\"}", "PATCH /sessions/ses_1\n{\"max_turns\":3}",
		"GET /sessions?limit=3&cursor=1.x\n", "GET /sessions/ses_1/events?after=1&types=token\n", "GET /sessions/ses_1/state?at=1&messages=5\n", "POST /approvals/apr_ses_1.1\n{\"decision\":\"allow\"}",
		"POST /sessions/ses_1/resume\n{\"resume_cursor\":\"event:ses_1:1\"}", "GET /approvals?session_id=ses_1\n", "POST /sessions/import\n{}", "POST /sessions/ses_1/steer\n{\"parts\":[{\"type\":\"text\",\"text\":\"a\"}]}",
		"DELETE /sessions/ses_1\n", "POST /sessions/ses_1/rewind\n{\"message_id\":\"itm_1\"}",
	} {
		f.Add(s)
	}
	parsed, err := script.Parse("say hi")
	if err != nil {
		f.Fatal(err)
	}
	k := kernel.New(memory.New(), map[string]harness.Engine{"script": script.New(parsed, nil)}, &kernel.Options{Engine: "script"})
	api, err := rest.New(k, &rest.Options{MaxImport: 1 << 10})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { api.Shutdown(context.Background()); k.Close() })
	if _, err := k.Create(f.Context(), harness.NewSession{ID: "ses_1"}); err != nil {
		f.Fatal(err)
	}
	doc := described(f)
	f.Fuzz(func(t *testing.T, text string) {
		head, body, _ := strings.Cut(text, "\n")
		method, path, _ := strings.Cut(head, " ")
		req, err := http.NewRequestWithContext(t.Context(), method, "http://x"+path, strings.NewReader(body))
		if err != nil || path == "" || path[0] != '/' || strings.Contains(path, "stream") || strings.Contains(path, "turns") || req.Method == "HEAD" || req.URL.Path != strings.SplitN(path, "?", 2)[0] {
			return // streams take over a real connection; the rest is net/http's
		}
		req.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		api.ServeHTTP(w, req)
		if w.Code >= 500 && w.Code != http.StatusNotImplemented {
			t.Fatalf("%q: %d %s", text, w.Code, w.Body)
		}
		if w.Code >= 300 && w.Code < 400 { // net/http cleans paths
			return
		}
		r := w.Result()
		doc.check(t, req.Method, path, reply{r, w.Body.Bytes()})
	})
}

// The description is complete: every parameter of a path is described, and
// every operation has a name of its own.
func TestTheDescriptionIsComplete(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for path, methods := range described(t).paths {
		for method, op := range methods {
			if op.OperationID == "" || seen[op.OperationID] {
				t.Errorf("%s %s is called %q", method, path, op.OperationID)
			}
			seen[op.OperationID] = true
			named := map[string]bool{}
			for _, p := range op.Parameters {
				if p.In == "path" {
					named["{"+p.Name+"}"] = p.Required
				}
				if len(p.Schema) < 3 {
					t.Errorf("%s: %s is not described", op.OperationID, p.Name)
				}
			}
			for part := range strings.SplitSeq(path, "/") {
				if strings.HasPrefix(part, "{") && !named[part] {
					t.Errorf("%s: %s is not described", op.OperationID, part)
				}
			}
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d operations", len(seen))
	}
}

// A page of large events is cut by its bytes and goes on where it was cut.
func TestAPageOfLargeEventsIsCut(t *testing.T) {
	t.Parallel()
	s := serve(t, "call read {} => x")
	id := s.chat()
	big := strings.Repeat("x", 500<<10)
	for range 12 {
		s.turn(id, big)
	}
	n, pages := 0, 0
	for after := "0"; after != ""; pages++ {
		var page struct {
			Events []json.RawMessage
			Next   string `json:"next_cursor"`
		}
		if a := s.must(200, &page, "GET", fmt.Sprintf("/sessions/%s/events?types=user_message&after=%s", id, after), ""); len(a.body) > 6<<20 {
			t.Errorf("a page of %d bytes", len(a.body))
		}
		n += len(page.Events)
		after = page.Next
	}
	if n != 12 || pages < 2 {
		t.Errorf("%d events on %d pages", n, pages)
	}
}
