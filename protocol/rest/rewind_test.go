package rest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"harness"
)

// Only when it is described does a rewind mean what it says; every answer here
// is checked against the description.
func TestARewindTellsWhatItDidOnceUnderItsKey(t *testing.T) {
	t.Parallel()
	s := serve(t, "ask write access=edit\n  gate written\nsay done")
	file := filepath.Join(t.TempDir(), "a")
	var made struct {
		SessionID string `json:"session_id"`
	}
	s.must(201, &made, "POST", "/chat/sessions", fmt.Sprintf(`{"directory":%q,"permission_mode":"full_auto"}`, filepath.Dir(file)))
	id, on := made.SessionID, "/sessions/"+made.SessionID
	said := s.say(id, "go")
	s.until(id, "the mark", func(st *harness.State) bool { return st.Turn != nil && st.Turn.Marked != "" })
	body := fmt.Sprintf(`{"message_id":%q}`, said.ItemID)
	s.refused(409, "busy", "", "POST", on+"/rewind", body)
	if err := os.WriteFile(file, []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.engine.Open("written")
	s.idle(id)
	var first, again struct {
		Seq          harness.Seq
		FilesChanged []string `json:"files_changed"`
		ItemID       string   `json:"item_id"`
		Delete       []struct{ Deletions int }
	}
	s.must(200, &first, "POST", on+"/rewind", body, "Idempotency-Key", "k")
	if _, err := os.Stat(file); !os.IsNotExist(err) || len(first.FilesChanged) != 1 || first.ItemID == "" || first.Delete[0].Deletions != 1 {
		t.Errorf("%+v, %v", first, err)
	}
	s.must(200, &again, "POST", on+"/rewind", body, "Idempotency-Key", "k")
	if again.Seq != first.Seq || again.ItemID != first.ItemID {
		t.Errorf("first %+v, again %+v", first, again)
	}
	s.refused(422, "key_reused", "", "POST", on+"/rewind", fmt.Sprintf(`{"message_id":%q,"dry_run":true}`, said.ItemID), "Idempotency-Key", "k")
	s.refused(400, "invalid", "", "POST", on+"/rewind", `{"message_id":"itm_none"}`)
	s.must(200, nil, "POST", on+"/rewind", fmt.Sprintf(`{"message_id":%q}`, first.ItemID))
	if _, err := os.Stat(file); err != nil {
		t.Errorf("undone: %v", err)
	}
}
