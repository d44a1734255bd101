package rest_test

import (
	"testing"

	"harness"
)

// Both can be changed later: one more retry while it runs, and an earlier or
// later end.
func TestRetriesAndExpiryAreChangedByPATCH(t *testing.T) {
	t.Parallel()
	s := serve(t, "when retry\ngate go\nretry one\nsay done\nelse\nhang\nend")
	id := s.starts(`{"prompt":"retry"}`).SessionID
	s.becomes(id, harness.Running)
	var w worker
	if s.must(200, &w, "PATCH", "/sessions/"+id, `{"max_retries":1}`); w.MaxRetries != 1 {
		t.Errorf("changed to %d", w.MaxRetries)
	}
	s.engine.Open("go")
	if w := s.becomes(id, harness.StatusCompleted); w.AttemptCount != 2 {
		t.Errorf("%d attempts", w.AttemptCount)
	}
	var busy []string
	for range 8 {
		busy = append(busy, s.starts(`{"prompt":"hang"}`).SessionID)
	}
	id = s.starts(`{"prompt":"retry","expires_at":"2099-01-02T03:04:05Z"}`).SessionID
	s.becomes(id, harness.Queued)
	s.must(200, nil, "PATCH", "/sessions/"+id, `{"expires_at":"2001-02-03T04:05:06Z"}`)
	if w := s.becomes(id, harness.StatusFailed); w.Reason != "expired" || !w.checkpointed("expired") {
		t.Errorf("%+v", w)
	}
	// It goes on if it gets more time.
	s.must(200, nil, "PATCH", "/sessions/"+id, `{"expires_at":"2099-01-02T03:04:05Z","max_retries":1}`)
	s.must(200, nil, "POST", "/sessions/"+id+"/resume", "{}")
	s.becomes(id, harness.Queued)
	for _, b := range busy {
		s.must(200, nil, "POST", "/sessions/"+b+"/cancel", "")
	}
	s.becomes(id, harness.StatusCompleted)
	s.refused(400, "invalid", "expires_at", "PATCH", "/sessions/"+id, `{"expires_at":"tomorrow"}`)
	s.refused(400, "invalid", "", "PATCH", "/sessions/"+s.chat(), `{"expires_at":"2099-01-02T03:04:05Z"}`)
}
