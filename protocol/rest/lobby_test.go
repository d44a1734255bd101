package rest_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// told is one event of the stream of sessions.
type told struct {
	event string
	row   struct {
		ID       string `json:"session_id"`
		Title    string `json:"title"`
		Status   string `json:"status"`
		Pending  int    `json:"pending_approvals"`
		Activity *struct {
			Doing string         `json:"doing"`
			Tool  string         `json:"tool"`
			Input map[string]any `json:"input"`
		} `json:"activity"`
	}
}

// lobby reads the stream until something is told, and returns it.
func lobby(t *testing.T, in *bufio.Scanner, what string, is func(told) bool) told {
	t.Helper()
	var x told
	for in.Scan() {
		line := in.Text()
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			x = told{event: name}
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			if err := json.Unmarshal([]byte(data), &x.row); err != nil {
				t.Fatal(err)
			}
		}
		if line == "" && is(x) {
			return x
		}
	}
	t.Fatalf("the stream ended before %s: %v", what, in.Err())
	return x
}

func lines(r *http.Response) *bufio.Scanner { return bufio.NewScanner(r.Body) }

func TestTheListOfSessionsIsLive(t *testing.T) {
	t.Parallel()
	s := serve(t, "say one\nask bash {\"command\":\"ls\"} => done\n")
	before := s.chat()
	r := s.request("GET", "/sessions/stream", "")
	defer r.Body.Close()
	in := lines(r)
	if first := lobby(t, in, "a row", func(told) bool { return true }); first.event != "session" || first.row.ID != before || first.row.Status != "idle" {
		t.Errorf("it begins with %+v", first)
	}
	lobby(t, in, "ready", func(x told) bool { return x.event == "ready" })
	id := s.chat()
	lobby(t, in, "the new one", func(x told) bool { return x.event == "session" && x.row.ID == id })
	s.say(id, "go")
	asks := lobby(t, in, "its question", func(x told) bool { return x.row.ID == id && x.row.Pending > 0 })
	if asks.row.Status != "awaiting_approval" || asks.row.Activity == nil || asks.row.Activity.Doing != "asking" || asks.row.Activity.Input["command"] != "ls" {
		t.Errorf("it asks: %+v", asks.row)
	}
	s.answer(s.asks(id), "allow")
	lobby(t, in, "its end", func(x told) bool { return x.row.ID == id && x.row.Status == "idle" })
	s.must(200, nil, "PATCH", "/sessions/"+id, `{"title":"Renamed"}`)
	lobby(t, in, "its name", func(x told) bool { return x.row.Title == "Renamed" })
	s.must(204, nil, "DELETE", "/sessions/"+id, "")
	lobby(t, in, "its removal", func(x told) bool { return x.event == "gone" && x.row.ID == id })
}

func TestAStreamOfSessionsBeginsWithAsManyAsWanted(t *testing.T) {
	t.Parallel()
	s := serve(t, "say one")
	for range 5 {
		s.chat()
	}
	r := s.request("GET", "/sessions/stream?limit=2", "")
	defer r.Body.Close()
	n := 0
	lobby(t, lines(r), "ready", func(x told) bool {
		if x.event == "session" {
			n++
		}
		return x.event == "ready"
	})
	if n != 2 {
		t.Errorf("it begins with %d", n)
	}
	s.refused(400, "invalid", "limit", "GET", "/sessions/stream?limit=0x", "")
	s.refused(406, "not_acceptable", "", "GET", "/sessions/stream", "", "Accept", "application/json")
}
