package rest_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"harness"
	"harness/protocol/rest"
	"harness/store/faulty"
	"harness/store/memory"
)

// Every member of the closed set has a status, keeps its code, and tells no
// more than it may.
func TestEveryErrorHasAStatus(t *testing.T) {
	t.Parallel()
	for _, e := range harness.Errors() {
		status, code, text := rest.StatusOf(fmt.Errorf("open /secret/place: %w", e))
		if status < 400 || status > 599 || code != e.Code || http.StatusText(status) == "" {
			t.Errorf("%s: %d %s", e.Code, status, code)
		}
		if told := strings.Contains(text, "secret"); told != strings.Contains(harness.ClientText(fmt.Errorf("secret: %w", e)), "secret") {
			t.Errorf("%s: %s", e.Code, text)
		}
	}
	if status, code, text := rest.StatusOf(errors.New("secret")); status != 500 || code != "internal" || strings.Contains(text, "secret") {
		t.Errorf("any other error: %d %s %s", status, code, text)
	}
	page, err := os.ReadFile(docs + "http.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range harness.Errors() {
		status, _, _ := rest.StatusOf(e)
		if row := fmt.Sprintf("| %d | `%s` |", status, e.Code); !strings.Contains(string(page), row) {
			t.Errorf("docs/protocols/http.md has no row %s", row)
		}
	}
}

func TestAnUnknownPathIsAProblem(t *testing.T) {
	t.Parallel()
	s := serve(t, "")
	for _, path := range []string{"/", "/nothing", "/chat", "/sessions/", "/sessions/x/y", "/chat/sessions/x/turns/y"} {
		s.refused(404, "no_such_path", "", "GET", path, "")
	}
}

func TestAWrongMethodNamesTheRightOnes(t *testing.T) {
	t.Parallel()
	s := serve(t, "")
	for path, allow := range map[string]string{
		"/sessions": "GET, HEAD, POST", "/chat/sessions": "GET, HEAD, POST", "/sessions/x": "DELETE, GET, HEAD, PATCH", "/sessions/import": "POST", "/sessions/x/cancel": "POST", "/approvals/x": "POST",
	} {
		for _, method := range []string{"PUT", "OPTIONS", "TRACE"} {
			if a := s.refused(405, "method_not_allowed", "", method, path, ""); a.Header.Get("Allow") != allow {
				t.Errorf("%s %s: Allow %q, want %q", method, path, a.Header.Get("Allow"), allow)
			}
		}
	}
}

// HEAD is GET without the body.
func TestHeadHasNoBody(t *testing.T) {
	t.Parallel()
	s := serve(t, "")
	id := s.chat()
	for _, path := range []string{"/sessions", "/sessions/" + id, "/openapi.json", "/sessions/" + id + "/export", "/sessions/" + id + "/events/stream"} {
		r := s.request("HEAD", path, "")
		r.Body.Close()
		if r.StatusCode != 200 || r.Header.Get("Content-Type") == "" {
			t.Errorf("HEAD %s: %d %v", path, r.StatusCode, r.Header)
		}
	}
}

func TestTheFormOfAnAnswerIsTheOneTheClientLikesBest(t *testing.T) {
	t.Parallel()
	const events, lines = "text/event-stream", "application/json"
	for accept, want := range map[string]string{
		"":                            events,
		"*/*":                         events,
		"text/*":                      events,
		"application/*":               lines,
		"application/json":            lines,
		"application/json, */*":       events,
		"application/json, */*;q=0.5": lines,
		"text/event-stream;q=0.2, application/json;q=0.1": events,
		"text/event-stream;q=0, */*":                      lines,
		"APPLICATION/JSON; charset=utf8":                  lines,
		"image/png":                                       "not_acceptable",
		"application/json;q=0":                            "not_acceptable",
		";;;":                                             "not_acceptable",
	} {
		if got := rest.Choose(accept, events, lines); got != want {
			t.Errorf("Accept: %s: %s, want %s", accept, got, want)
		}
	}
}

// A store that cannot write is told as 503 with a code and when to try again,
// and nothing of its insides.
func TestAFailingStoreLeaksNothing(t *testing.T) {
	t.Parallel()
	st := faulty.Wrap(memory.New(), func(op faulty.Op) faulty.Fault {
		if op.Method == faulty.Append {
			return faulty.Fault{Before: fmt.Errorf("write /secret/place: %w", harness.ErrStorage)}
		}
		return faulty.Fault{}
	})
	s := serveOn(t, st, "say hi", nil)
	a := s.refused(503, "storage", "", "POST", "/chat/sessions", "{}")
	if a.Header.Get("Retry-After") == "" || strings.Contains(string(a.body), "secret") || !strings.Contains(string(a.body), "urn:harness:err_") {
		t.Errorf("%v %s", a.Header, a.body)
	}
}

// A server that is going down says so, and when to come back.
func TestADrainingServerIsUnavailable(t *testing.T) {
	t.Parallel()
	s := serve(t, "say hi")
	id := s.chat()
	if err := s.k.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a := s.refused(503, "unavailable", "", "POST", "/chat/sessions/"+id+"/turns", `{"prompt":"go"}`); a.Header.Get("Retry-After") == "" {
		t.Error("503 without Retry-After")
	}
	s.must(200, nil, "GET", "/sessions/"+id, "") // reading goes on
}
