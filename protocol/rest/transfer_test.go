package rest_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"harness"
	"harness/protocol/rest"
	"harness/store/memory"
	"harness/store/sqlite"
)

func lite(t testing.TB) harness.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "harness.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

var jsonl = []string{"Content-Type", "application/jsonl"}

// What is exported, imported elsewhere and exported again is the same bytes, a
// branch with its parent's history too, and the session can go on.
func TestAnImportGivesTheSameBytesBack(t *testing.T) {
	t.Parallel()
	s := serve(t, "say hello\ncall read {\"path\":\"a\"} => text")
	id := s.chat()
	s.turn(id, "one")
	var branch row
	s.must(201, &branch, "POST", "/chat/sessions/"+id+"/branch", `{}`)
	s.turn(branch.SessionID, "two")
	s.turn(id, "three")
	for name, st := range map[string]harness.Store{"memory": memory.New(), "sqlite": lite(t)} {
		t.Run(name, func(t *testing.T) {
			other := serveOn(t, st, "say more", nil)
			for _, from := range []string{branch.SessionID, id} {
				text := s.must(200, nil, "GET", "/sessions/"+from+"/export", "").body
				var got row
				other.must(201, &got, "POST", "/sessions/import", string(text), jsonl...)
				if got.SessionID != from {
					t.Errorf("it is %s", got.SessionID)
				}
				if back := other.must(200, nil, "GET", "/sessions/"+from+"/export", "").body; string(back) != string(text) {
					t.Errorf("%s differs", from)
				}
				other.refused(409, "exists", "", "POST", "/sessions/import", string(text), jsonl...)
				var again row
				if other.must(201, &again, "POST", "/sessions/import", string(text), append(jsonl, "Idempotency-Key", "k")...); again.Seq != got.Seq {
					t.Errorf("again: %+v, first %+v", again, got)
				}
			}
			other.turn(branch.SessionID, "and on")
			text := s.must(200, nil, "GET", "/sessions/"+branch.SessionID+"/export", "").body
			other.refused(409, "exists", "", "POST", "/sessions/import", string(text), append(jsonl, "Idempotency-Key", "k")...)
		})
	}
}

// A damaged archive is refused with what is wrong, and nothing is written.
func TestADamagedArchiveIsRefusedAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	s := serve(t, "say hello")
	id := s.chat()
	s.turn(id, "go")
	whole := string(s.must(200, nil, "GET", "/sessions/"+id+"/export", "").body)
	lines := strings.SplitAfter(strings.TrimSuffix(whole, "\n"), "\n")
	other := serveOn(t, memory.New(), "", &rest.Options{MaxImport: 8 << 10})
	for name, text := range map[string]string{
		"empty": "", "cut": whole[:len(whole)/2], "without seal": strings.Join(lines[:len(lines)-1], ""), "changed": strings.Replace(whole, "hello", "hallo", 1),
		"another id": strings.ReplaceAll(whole, id, "ses_other"), "a line less": strings.Join(append(lines[:2:2], lines[3:]...), ""), "only the seal": lines[len(lines)-1],
		"not JSON": "hello\n", "behind the seal": whole + lines[0],
	} {
		a := other.do("POST", "/sessions/import", text, jsonl...)
		if a.StatusCode != 400 {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.body)
		}
	}
	other.refused(413, "too_large", "", "POST", "/sessions/import", strings.Repeat("x", 9<<10), jsonl...)
	var page struct{ Sessions []row }
	if other.must(200, &page, "GET", "/sessions", ""); len(page.Sessions) != 0 {
		t.Errorf("%d sessions were written", len(page.Sessions))
	}
}

// A branch has its parent's history, its lineage on its row, and leaves the
// parent alone; a parent with branches stays.
func TestABranchGoesItsOwnWay(t *testing.T) {
	t.Parallel()
	for name, st := range map[string]harness.Store{"memory": memory.New(), "sqlite": lite(t)} {
		t.Run(name, func(t *testing.T) {
			s := serveOn(t, st, "echo", nil)
			id := s.chat()
			s.turn(id, "one")
			s.turn(id, "two")
			var parent struct {
				row
				Points []struct {
					Cursor string `json:"cursor"`
				} `json:"resume_points"`
			}
			s.must(200, &parent, "GET", "/chat/sessions/"+id, "")
			if len(parent.Points) != 2 {
				t.Fatalf("%d resume points", len(parent.Points))
			}
			first := parent.Points[len(parent.Points)-1].Cursor
			var branch, state row
			s.must(201, &branch, "POST", "/chat/sessions/"+id+"/branch", fmt.Sprintf(`{"resume_cursor":%q,"title":"another way"}`, first))
			if branch.Parent != id || branch.Cursor != first || branch.Source == "" || branch.Title != "another way" {
				t.Errorf("%+v", branch)
			}
			s.turn(branch.SessionID, "three")
			s.must(200, &state, "GET", "/sessions/"+branch.SessionID+"/state", "")
			if n := len(state.Messages); n != 4 || state.Messages[0].Content != "one" || state.Messages[2].Content != "three" {
				t.Errorf("%+v", state.Messages)
			}
			s.refused(400, "invalid", "", "POST", "/chat/sessions/"+id+"/branch", `{"from_event_id":"ses_other.1"}`)
			s.refused(400, "invalid", "", "POST", "/chat/sessions/"+id+"/branch", fmt.Sprintf(`{"from_event_id":"%s.999"}`, id))
			s.refused(400, "invalid", "", "POST", "/sessions/"+id+"/resume", `{"resume_cursor":"nonsense"}`)
			s.refused(409, "has_branches", "", "DELETE", "/sessions/"+id, "")
			s.must(204, nil, "DELETE", "/sessions/"+branch.SessionID, "")
			s.refused(404, "not_found", "", "GET", "/sessions/"+branch.SessionID, "")
			s.must(204, nil, "DELETE", "/sessions/"+id, "")
			s.refused(404, "not_found", "", "POST", "/chat/sessions/"+id+"/turns", `{"prompt":"x"}`)
		})
	}
}

// What is configured is what the session says of itself from then on.
func TestAChangeShowsInTheSession(t *testing.T) {
	t.Parallel()
	s := serve(t, "say hi")
	id := s.chat()
	var changed, got row
	s.must(200, &changed, "PATCH", "/sessions/"+id, `{"title":"t","permission_mode":"full_auto","model":"m","think_level":"max"}`)
	s.must(200, &got, "GET", "/sessions/"+id, "")
	if got.Config != changed.Config || got.Config.ApprovalMode != "never" || got.Config.Model != "m" || got.Title != "t" || changed.Title != "t" {
		t.Errorf("changed %+v, got %+v", changed, got)
	}
	s.must(200, &changed, "PATCH", "/sessions/"+id, `{"title":""}`)
	if changed.Title != "" || changed.Config.Model != "m" {
		t.Errorf("%+v", changed)
	}
}
