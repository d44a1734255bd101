package rest_test

import (
	"fmt"
	"strings"
	"testing"

	"harness"
	"harness/artifact"
	"harness/protocol/rest"
	"harness/store/memory"
)

// Every documented operation is called, well and badly, and every answer is
// what the description says: its status, its content type and its body.
func TestEveryOperationAnswersAsDescribed(t *testing.T) {
	t.Parallel()
	clock := newClock(t)
	s := serveOn(t, memory.New(), "when ask\nask bash {\"command\":\"ls\"} => ok\nend\nwhen hang\nhang\nend\nwhen steer\nsteer\nend\nsay hello\n", &rest.Options{TryPolicy: tried(nil), Schedules: clock, Webhooks: mailbox{}, Tokens: keys{}})
	s.outbound(clock)
	s.tokens()
	id := s.chat()
	on := "/sessions/" + id
	chat := "/chat/sessions/" + id

	// Good.
	s.must(200, nil, "GET", "/openapi.json", "")
	s.must(200, nil, "GET", "/stream-events", "")
	s.must(200, nil, "GET", "/engines", "")
	s.must(200, nil, "POST", "/policy/test", `{"tool":"bash","input":{"command":"ls"}}`)
	s.must(200, nil, "GET", "/chat/sessions", "")
	s.must(200, nil, "GET", "/sessions?kind=chat&status=idle,running&limit=1", "")
	s.turn(id, "hello")
	s.must(200, nil, "GET", chat, "")
	s.must(200, nil, "GET", on, "")
	s.must(200, nil, "GET", on+"/events?limit=3&tier=default&types=token,turn_end", "")
	s.must(200, nil, "GET", on+"/messages?before=1&limit=1", "")
	s.must(200, nil, "GET", on+"/state?at=now&messages=1", "")
	s.must(200, nil, "GET", on+"/processes", "")
	s.must(200, nil, "PATCH", on, `{"title":"a title","think_level":"low"}`)
	var branch row
	s.must(201, &branch, "POST", chat+"/branch", fmt.Sprintf(`{"from_event_id":"%s.1"}`, id))
	s.must(201, nil, "POST", on+"/resume", fmt.Sprintf(`{"resume_cursor":%q}`, branch.Cursor))
	s.must(200, nil, "POST", on+"/pause", "")
	s.must(200, nil, "POST", on+"/resume", "{}")
	s.say(id, "hang")
	s.must(200, nil, "POST", on+"/cancel", "")
	s.idle(id)
	s.say(id, "steer")
	s.must(200, nil, "POST", on+"/steer", `{"prompt":"left"}`)
	s.idle(id)
	s.say(id, "ask")
	request := s.asks(id)
	s.must(200, nil, "GET", "/approvals", "")
	s.must(200, nil, "GET", on, "")
	s.must(200, nil, "POST", "/approvals/"+request, `{"decision":"allow","scope":"always"}`)
	s.idle(id)
	var left struct {
		Rules []struct {
			ID string `json:"rule_id"`
		}
	}
	s.must(200, &left, "GET", "/rules", "")
	s.must(204, nil, "DELETE", "/rules/"+left.Rules[0].ID, "")
	s.must(201, &branch, "POST", "/sessions", `{"prompt":"hang"}`)
	work := branch.SessionID
	s.must(200, nil, "POST", "/sessions/"+work+"/cancel", "")
	s.idle(work)
	s.refused(409, "not_running", "", "POST", "/sessions/"+work+"/pause", "")
	s.must(201, &branch, "POST", chat+"/branch", "{}")
	archive := s.must(200, nil, "GET", on+"/export", "")
	s.must(204, nil, "DELETE", "/sessions/"+branch.SessionID, "")
	for _, path := range []string{chat, on} {
		r := s.request("GET", path+"/events/stream?after=0", "")
		if r.StatusCode != 200 || r.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("GET %s/events/stream: %d %v", path, r.StatusCode, r.Header)
		}
		s.doc.saw("GET", path+"/events/stream", r.StatusCode)
		r.Body.Close()
	}
	beats := s.request("GET", on+"/health/stream", "")
	if beats.StatusCode != 200 || beats.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("GET %s/health/stream: %d %v", on, beats.StatusCode, beats.Header)
	}
	s.doc.saw("GET", on+"/health/stream", beats.StatusCode)
	lobby := s.request("GET", "/sessions/stream", "")
	if lobby.StatusCode != 200 || lobby.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("GET /sessions/stream: %d %v", lobby.StatusCode, lobby.Header)
	}
	s.doc.saw("GET", "/sessions/stream", lobby.StatusCode)
	lobby.Body.Close()
	beats.Body.Close()
	other := serve(t, "say hi")
	other.must(201, nil, "POST", "/sessions/import", string(archive.body), "Content-Type", "application/jsonl")
	s.doc.seen["importSession 201"] = other.doc.seen["importSession 201"]

	shelf, err := artifact.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	shelved := serveOn(t, memory.New(), "say hi", &rest.Options{Shelf: shelf})
	kept := harness.NewArtifact(harness.SessionID(shelved.chat()), "tool_output", "", []byte("content"))
	if err := shelf.Put(t.Context(), kept.ArtifactID, kept.Content); err != nil {
		t.Fatal(err)
	}
	shelved.must(200, nil, "GET", kept.URI, "")
	s.doc.seen["getArtifact 200"] = shelved.doc.seen["getArtifact 200"]
	s.refused(404, "not_found", "", "GET", kept.URI, "")
	s.refused(406, "not_acceptable", "", "GET", kept.URI, "", "Accept", "image/png")

	// Bad.
	const nobody = "ses_nobody"
	for _, path := range []string{"/chat/sessions/", "/sessions/"} {
		for _, rest := range []string{"", "/events", "/events/stream", "/health/stream", "/messages", "/state", "/export", "/processes"} {
			if path == "/chat/sessions/" && rest != "" && rest != "/events/stream" {
				continue
			}
			s.refused(404, "not_found", "", "GET", path+nobody+rest, "")
			s.refused(400, "invalid", "id", "GET", path+"a%20b"+rest, "")
			s.refused(406, "not_acceptable", "", "GET", path+id+rest, "", "Accept", "image/png")
		}
	}
	for _, path := range []string{"/openapi.json", "/stream-events", "/chat/sessions", "/sessions", "/approvals", "/rules"} {
		s.refused(406, "not_acceptable", "", "GET", path, "", "Accept", "text/html")
	}
	text := `{"prompt":"go"}`
	for _, c := range []struct{ path, body string }{
		{"/chat/sessions/%s/turns", text}, {"/chat/sessions/%s/branch", "{}"}, {"/sessions/%s/steer", text}, {"/sessions/%s/cancel", "{}"}, {"/sessions/%s/pause", ""},
		{"/sessions/%s/resume", "{}"}, {"/sessions/%s/rewind", `{"message_id":"itm_1"}`},
	} {
		s.refused(404, "not_found", "", "POST", fmt.Sprintf(c.path, nobody), c.body)
		s.refused(400, "invalid", "id", "POST", fmt.Sprintf(c.path, ".x"), c.body)
		s.refused(406, "not_acceptable", "", "POST", fmt.Sprintf(c.path, id), c.body, "Accept", "image/png")
		s.refused(400, "invalid", "Idempotency-Key", "POST", fmt.Sprintf(c.path, id), c.body, "Idempotency-Key", strings.Repeat("k", 129))
		if c.body != "" {
			s.refused(415, "unsupported_media_type", "", "POST", fmt.Sprintf(c.path, id), c.body, "Content-Type", "text/plain")
			s.refused(413, "too_large", "", "POST", fmt.Sprintf(c.path, id), `{"x":"`+strings.Repeat("x", 1<<20)+`"}`)
			s.refused(400, "invalid", "body", "POST", fmt.Sprintf(c.path, id), `{"prompt":`)
		}
	}
	s.refused(409, "not_running", "", "POST", on+"/steer", text)
	s.refused(409, "not_running", "", "POST", on+"/cancel", "{}")
	s.refused(409, "not_paused", "", "POST", on+"/resume", "{}")
	s.refused(501, "unsupported", "", "POST", on+"/rewind", `{"message_id":"itm_1"}`)
	s.say(id, "hang")
	s.refused(409, "busy", "", "POST", chat+"/turns", text)
	s.refused(409, "busy", "", "DELETE", on, "")
	s.refused(404, "turn_not_found", "", "POST", on+"/cancel", `{"turn_id":"trn_1"}`)
	for range 64 {
		s.must(200, nil, "POST", on+"/steer", text)
	}
	s.refused(429, "queue_full", "", "POST", on+"/steer", text)
	for i := range 64 {
		s.must(202, nil, "POST", chat+"/turns", fmt.Sprintf(`{"prompt":"%d","on_busy":"queue"}`, i), "Accept", "application/json")
	}
	if a := s.refused(429, "queue_full", "", "POST", chat+"/turns", `{"prompt":"x","on_busy":"queue"}`); a.Header.Get("Retry-After") == "" {
		t.Error("429 without Retry-After")
	}
	s.refused(404, "not_found", "", "DELETE", "/sessions/"+nobody, "")
	s.refused(404, "not_found", "", "DELETE", "/rules/rul_none", "")
	s.refused(404, "not_found", "", "PATCH", "/sessions/"+nobody, `{"title":"x"}`)
	s.refused(400, "invalid", "body", "PATCH", on, `{}`)
	s.refused(404, "approval_not_found", "", "POST", "/approvals/apr_1", `{"decision":"allow"}`)
	s.refused(404, "approval_not_found", "", "POST", "/approvals/apr_ses_x.1", `{"decision":"allow"}`)
	s.refused(404, "approval_not_found", "", "POST", "/approvals/apr_"+id+".1", `{"decision":"allow"}`)
	s.refused(409, "already_resolved", "", "POST", "/approvals/"+request, `{"decision":"deny"}`)
	s.refused(409, "exists", "", "POST", "/sessions/import", string(archive.body), "Content-Type", "application/jsonl")
	s.refused(400, "corrupt", "", "POST", "/sessions/import", "{}\n", "Content-Type", "application/jsonl")
	s.refused(415, "unsupported_media_type", "", "POST", "/sessions/import", "{}\n")

	// What a well-behaved server cannot be made to say on demand is not asked for.
	rare := map[int]bool{500: true, 503: true, 422: true}
	if left := s.doc.missing(func(id string, status int) bool {
		switch {
		case status == 0: // the refusals of what stands before: cmd/harness attacks those
			return false
		case rare[status], id == "rewindSession" && (status == 200 || status == 409), id == "deleteSession" && status == 501:
			return false
		case status == 400 && (id == "getDescription" || id == "listStreamEvents" || id == "listEngines"): // they take nothing
			return false
		case status == 406 && id == "deleteSession": // nothing is answered
			return false
		}
		return status < 300 || status == 404 || status == 409 || status == 429
	}); len(left) > 0 {
		t.Errorf("described, but not seen: %v", left)
	}
	if st := s.until(id, "the state", func(*harness.State) bool { return true }); len(st.Queue) != 64 {
		t.Errorf("refused requests changed the queue: %d", len(st.Queue))
	}
}

// Every parameter and every member, of a wrong type, empty, or out of bounds:
// the answer names it, and nothing happens.
func TestABadFieldIsNamed(t *testing.T) {
	t.Parallel()
	s := serve(t, "hang")
	id := s.chat()
	on, chat := "/sessions/"+id, "/chat/sessions/"+id
	long := func(n int) string { return strings.Repeat("x", n+1) }
	for _, c := range []struct{ field, method, path, body string }{
		{"title", "POST", "/chat/sessions", `{"title":1}`},
		{"title", "POST", "/chat/sessions", `{"title":"` + long(1024) + `"}`},
		{"directory", "POST", "/chat/sessions", `{"directory":[]}`},
		{"engine", "POST", "/chat/sessions", `{"engine":{}}`},
		{"user_id", "POST", "/chat/sessions", `{"user_id":"../x"}`},
		{"permission_mode", "POST", "/chat/sessions", `{"permission_mode":"yolo"}`},
		{"think_level", "POST", "/chat/sessions", `{"think_level":"most"}`},
		{"max_turns", "POST", "/chat/sessions", `{"max_turns":-1}`},
		{"max_turns", "POST", "/chat/sessions", `{"max_turns":1.5}`},
		{"system_prompt", "POST", "/chat/sessions", `{"system_prompt":"` + long(512<<10) + `"}`},
		{"body", "POST", "/chat/sessions", `[]`},
		{"body", "POST", "/chat/sessions", `{`},
		{"body", "POST", "/chat/sessions", "{\"title\":\"\xff\"}"},
		{"body", "POST", "/chat/sessions", strings.Repeat("[", 65) + strings.Repeat("]", 65)},
		{"prompt", "POST", chat + "/turns", `{}`},
		{"prompt", "POST", chat + "/turns", `{"prompt":7}`},
		{"prompt", "POST", chat + "/turns", `{"prompt":"` + long(512<<10) + `"}`},
		{"parts", "POST", chat + "/turns", `{"parts":"go"}`},
		{"parts", "POST", chat + "/turns", `{"prompt":"a","parts":[{"type":"text","text":"b"}]}`},
		{"parts[0]", "POST", chat + "/turns", `{"parts":[1]}`},
		{"parts[0].type", "POST", chat + "/turns", `{"parts":[{"type":"sound"}]}`},
		{"parts[0].text", "POST", chat + "/turns", `{"parts":[{"type":"text"}]}`},
		{"parts[1].path", "POST", chat + "/turns", `{"parts":[{"type":"text","text":"a"},{"type":"file"}]}`},
		{"on_busy", "POST", chat + "/turns", `{"prompt":"a","on_busy":"wait"}`},
		{"title", "POST", chat + "/branch", `{"title":false}`},
		{"from_event_id", "POST", chat + "/branch", `{"from_event_id":1}`},
		{"turn_id", "POST", on + "/cancel", `{"turn_id":1}`},
		{"prompt", "POST", on + "/steer", `{}`},
		{"message_id", "POST", on + "/rewind", `{}`},
		{"dry_run", "POST", on + "/rewind", `{"message_id":"m","dry_run":"no"}`},
		{"decision", "POST", "/approvals/apr_" + id + ".1", `{}`},
		{"decision", "POST", "/approvals/apr_" + id + ".1", `{"decision":"maybe"}`},
		{"scope", "POST", "/approvals/apr_" + id + ".1", `{"decision":"allow","scope":"forever"}`},
		{"model", "PATCH", on, `{"model":"` + long(128) + `"}`},
		{"title", "PATCH", on, `{"title":null}`},
		{"limit", "GET", "/sessions?limit=0", ""},
		{"limit", "GET", "/sessions?limit=1001", ""},
		{"limit", "GET", "/sessions?limit=many", ""},
		{"limit", "GET", "/sessions?limit=", ""},
		{"cursor", "GET", "/sessions?cursor=x", ""},
		{"cursor", "GET", "/approvals?cursor=1../x", ""},
		{"status", "GET", "/sessions?status=idle,lazy", ""},
		{"kind", "GET", "/sessions?kind=other", ""},
		{"after", "GET", on + "/events?after=99", ""},
		{"after", "GET", on + "/events?after=-1", ""},
		{"types", "GET", on + "/events?types=tokens", ""},
		{"tier", "GET", on + "/events?tier=all", ""},
		{"after", "GET", on + "/events/stream?after=ses_other.1", ""},
		{"query", "GET", on + "/events/stream?after=%zz", ""},
		{"query", "GET", "/sessions?limit=1;kind=chat", ""},
		{"types", "GET", on + "/events/stream?types=tokens", ""},
		{"until", "GET", on + "/events/stream?until=bored", ""},
		{"before", "GET", on + "/messages?before=-1", ""},
		{"limit", "GET", on + "/messages?limit=1001", ""},
		{"at", "GET", on + "/state?at=0", ""},
		{"at", "GET", on + "/state?at=2", ""},
		{"at", "GET", on + "/state?at=then", ""},
		{"messages", "GET", on + "/state?messages=1001", ""},
	} {
		s.refused(400, "invalid", c.field, c.method, c.path, c.body)
	}
	if st := s.until(id, "the state", func(*harness.State) bool { return true }); st.Seq != 1 {
		t.Errorf("refused requests left %d events", st.Seq-1)
	}
	var page struct{ Sessions []row }
	if s.must(200, &page, "GET", "/sessions", ""); len(page.Sessions) != 1 {
		t.Errorf("refused requests left %d sessions", len(page.Sessions)-1)
	}
}

// A field of a body that nobody knows is refused by its name, at any depth: a
// budget that is misspelt must not count as none. What stands in a query is
// ignored.
func TestUnknownFieldsOfABodyAreRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, "say hi")
	var r row
	s.must(201, &r, "POST", "/chat/sessions?colour=red", `{"title":"x"}`)
	if r.Title != "x" {
		t.Errorf("%+v", r)
	}
	on := "/sessions/" + string(r.SessionID)
	for _, c := range []struct{ method, path, body, field string }{
		{"POST", "/chat/sessions", `{"title":"x","colour":{"deep":[1,null]}}`, "colour"},
		{"POST", "/chat/sessions", `{"Title":"x"}`, "Title"},
		{"POST", "/chat/sessions/" + string(r.SessionID) + "/turns", `{"prompt":"x","parts":[{"type":"text","text":"x","txt":1}]}`, "parts[0].txt"},
		{"PATCH", on, `{"policy":{"health":{"total_token":1}}}`, "policy.health.total_token"},
		{"POST", on + "/rewind", `{"message_id":"itm_1","dryRun":true}`, "dryRun"},
		{"POST", "/approvals/apr_x.1", `{"decision":"allow","` + strings.Repeat("s", 100) + `":1}`, "… (100 bytes)"},
	} {
		s.refused(400, "invalid", c.field, c.method, c.path, c.body)
	}
}
