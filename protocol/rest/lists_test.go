package rest_test

import (
	"fmt"
	"slices"
	"testing"
)

// A list is read page by page, newest update first, each session once.
func TestSessionsAreListedPageByPage(t *testing.T) {
	t.Parallel()
	s := serve(t, "say hi")
	want := map[string]bool{}
	for i := range 25 {
		var r row
		s.must(201, &r, "POST", "/chat/sessions", fmt.Sprintf(`{"user_id":"u%d"}`, i%2))
		want[r.SessionID] = true
	}
	for _, query := range []string{"/chat/sessions?limit=4", "/sessions?limit=7&kind=chat", "/sessions?limit=5&status=idle", "/sessions?user_id=u0&limit=3"} {
		seen, cursor := map[string]bool{}, ""
		for pages := 0; pages == 0 || cursor != "" && pages < 50; pages++ {
			var page struct {
				Sessions []row
				Next     string `json:"next_cursor"`
			}
			s.must(200, &page, "GET", query+"&cursor="+cursor, "")
			for _, r := range page.Sessions {
				if seen[r.SessionID] || !want[r.SessionID] {
					t.Errorf("%s: %s again, or from nowhere", query, r.SessionID)
				}
				seen[r.SessionID] = true
			}
			cursor = page.Next
		}
		if n := len(seen); n != 25 && n != 13 {
			t.Errorf("%s: %d sessions", query, n)
		}
	}
	var page struct{ Sessions []row }
	if s.must(200, &page, "GET", "/sessions?status=running,failed", ""); len(page.Sessions) != 0 {
		t.Errorf("%d sessions run", len(page.Sessions))
	}
	if s.must(200, &page, "GET", "/sessions?kind=background", ""); len(page.Sessions) != 0 {
		t.Errorf("%d background sessions", len(page.Sessions))
	}
}

// While a list is read sessions change and go: those that do not are there
// once, none is there twice, and one that changed is at the front of the list
// as it is then.
func TestAListThatChangesWhileItIsRead(t *testing.T) {
	t.Parallel()
	s := serve(t, "say hi")
	var ids []string // oldest first
	for range 12 {
		ids = append(ids, s.chat())
	}
	type list struct {
		Sessions []row
		Next     string `json:"next_cursor"`
	}
	seen := map[string]int{}
	read := func(cursor string) (page list) {
		t.Helper()
		s.must(200, &page, "GET", "/sessions?limit=4&cursor="+cursor, "")
		for _, r := range page.Sessions {
			seen[r.SessionID]++
		}
		return page
	}
	page := read("")
	listed, last := page.Sessions[0].SessionID, page.Sessions[3].SessionID
	var gone, moved string
	for _, id := range ids {
		switch {
		case seen[id] > 0:
		case gone == "":
			gone = id
		default:
			moved = id
		}
	}
	s.must(204, nil, "DELETE", "/sessions/"+gone, "")
	s.must(204, nil, "DELETE", "/sessions/"+last, "") // the cursor's own row
	s.must(200, nil, "PATCH", "/sessions/"+listed, `{"title":"x"}`)
	s.must(200, nil, "PATCH", "/sessions/"+moved, `{"title":"y"}`)
	s.chat()
	for page.Next != "" {
		page = read(page.Next)
	}
	for _, id := range ids {
		if still := id != gone && id != moved; seen[id] > 1 || still && seen[id] == 0 {
			t.Errorf("%s is listed %d times", id, seen[id])
		}
	}
	seen = map[string]int{}
	if read(""); seen[moved] != 1 || seen[listed] != 1 {
		t.Error("what changed is not at the front")
	}
}

// The inbox has every open question of every session, page by page; an answer
// takes it out. The first answer wins, the same again is fine.
func TestTheInboxHasEveryOpenQuestion(t *testing.T) {
	t.Parallel()
	s := serve(t, "ask bash {\"command\":\"ls\"} reason=\"because\" \"List files\" => ok")
	want := map[string]string{}
	for range 7 {
		id := s.chat()
		s.say(id, "go")
		want[s.asks(id)] = id
	}
	type inbox struct {
		Approvals []struct {
			RequestID  string `json:"request_id"`
			SessionID  string `json:"session_id"`
			ToolName   string `json:"tool_name"`
			ToolCallID string `json:"tool_call_id"`
			TurnID     string `json:"turn_id"`
			Input      map[string]any
		}
		Next string `json:"next_cursor"`
	}
	read := func(query string) (ids []string) {
		t.Helper()
		for cursor, n := "", 0; n == 0 || cursor != "" && n < 20; n++ {
			var page inbox
			s.must(200, &page, "GET", "/approvals?limit=2&cursor="+cursor+query, "")
			for _, a := range page.Approvals {
				if want[a.RequestID] != a.SessionID || a.ToolName != "bash" || a.ToolCallID == "" || a.TurnID == "" || a.Input["command"] != "ls" {
					t.Errorf("%+v", a)
				}
				ids = append(ids, a.RequestID)
			}
			cursor = page.Next
		}
		return ids
	}
	ids := read("")
	slices.Sort(ids)
	if len(slices.Compact(ids)) != 7 {
		t.Fatalf("%d of 7 questions", len(ids))
	}
	if one := read("&session_id=" + want[ids[0]]); len(one) != 1 || one[0] != ids[0] {
		t.Errorf("of one session: %v", one)
	}
	path := "/approvals/" + ids[0]
	first := s.must(200, nil, "POST", path, `{"decision":"deny","scope":"once","reason":"no"}`)
	again := s.must(200, nil, "POST", path, `{"decision":"deny"}`)
	if string(first.body) != string(again.body) {
		t.Errorf("first %s then %s", first.body, again.body)
	}
	s.refused(409, "already_resolved", "", "POST", path, `{"decision":"allow"}`)
	s.idle(want[ids[0]])
	if left := read(""); len(left) != 6 || slices.Contains(left, ids[0]) {
		t.Errorf("%d questions are left", len(left))
	}
}

// A session of another kind is not a chat session.
func TestABackgroundSessionIsNoChat(t *testing.T) {
	t.Parallel()
	s := serve(t, "say hi")
	id := s.background()
	s.refused(404, "not_found", "", "GET", "/chat/sessions/"+id, "")
	s.refused(404, "not_found", "", "POST", "/chat/sessions/"+id+"/turns", `{"prompt":"x"}`)
	s.refused(404, "not_found", "", "POST", "/chat/sessions/"+id+"/branch", `{}`)
	s.refused(404, "not_found", "", "GET", "/chat/sessions/"+id+"/events/stream", ``)
	s.must(200, nil, "GET", "/sessions/"+id, "")
	var branch row
	s.must(201, &branch, "POST", "/sessions/"+id+"/resume", fmt.Sprintf(`{"from_event_id":"%s.1"}`, id))
	if branch.Kind != "background" || branch.Parent != id || branch.Source != id+".1" {
		t.Errorf("its branch: %+v", branch)
	}
}
