package rest_test

import (
	"fmt"
	"sync"
	"testing"

	"harness"
)

// The same request under the same key has one effect and one answer, whatever
// came in between.
func TestAKeyedRequestHasOneEffect(t *testing.T) {
	t.Parallel()
	s := serve(t, "when steer\nsteer\nsteer\nend\nwhen hang\nhang\nend\nsay hello")
	id := s.chat()
	on, chat := "/sessions/"+id, "/chat/sessions/"+id
	json := []string{"Accept", "application/json"}
	again := func(status int, path, body, key string) (first receipt) {
		t.Helper()
		s.must(status, &first, "POST", path, body, append(json, "Idempotency-Key", key)...)
		var second receipt
		if s.must(status, &second, "POST", path, body, append(json, "Idempotency-Key", key)...); first != second {
			t.Errorf("POST %s: first %+v, then %+v", path, first, second)
		}
		return first
	}
	again(202, chat+"/turns", `{"prompt":"go"}`, "turn")
	if st := s.idle(id); st.Turns != 1 {
		t.Errorf("one key started %d turns", st.Turns)
	}
	s.say(id, "steer")
	again(200, on+"/steer", `{"prompt":"left"}`, "steer")
	if st := s.until(id, "the steer", func(st *harness.State) bool { return st.Turn != nil && st.Turn.Steers > 0 }); st.Turn.Steers != 1 {
		t.Errorf("one key steered %d times", st.Turn.Steers)
	}
	first := again(200, on+"/cancel", `{}`, "cancel")
	s.idle(id)
	again(200, on+"/pause", ``, "pause")
	again(200, on+"/resume", `{}`, "resume")
	// The next turn is not the one that was cancelled, paused or resumed.
	running := s.say(id, "hang")
	if got := again(200, on+"/cancel", `{}`, "cancel"); got != first {
		t.Errorf("got %+v, want %+v", got, first)
	}
	again(200, on+"/pause", ``, "pause")
	again(200, on+"/resume", `{}`, "resume")
	if st := s.until(id, "the state", func(*harness.State) bool { return true }); st.Turn == nil || string(st.Turn.ID) != running.TurnID || st.Turn.Cancelling || st.Pausing {
		t.Errorf("old keys reached a new turn: %+v", st.Turn)
	}
}

// A key that was used for something else is refused, and nothing happens.
func TestAKeyOfAnotherRequestIsRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, "when hang\nhang\nend\nsay hello")
	id := s.chat()
	on, chat := "/sessions/"+id, "/chat/sessions/"+id
	key := []string{"Idempotency-Key", "k", "Accept", "application/json"}
	s.must(202, nil, "POST", chat+"/turns", `{"prompt":"hang"}`, key...)
	s.refused(422, "key_reused", "", "POST", chat+"/turns", `{"prompt":"other"}`, key...)
	s.refused(422, "key_reused", "", "POST", chat+"/turns", `{"parts":[{"type":"file","path":"hang"}]}`, key...)
	s.refused(422, "key_reused", "", "POST", on+"/steer", `{"prompt":"hang"}`, key...)
	s.refused(422, "key_reused", "", "POST", on+"/cancel", `{}`, key...)
	s.refused(422, "key_reused", "", "POST", on+"/pause", ``, key...)
	s.refused(422, "key_reused", "", "POST", on+"/resume", `{}`, key...)
	if st := s.until(id, "the state", func(*harness.State) bool { return true }); st.Turn == nil || st.Turn.Cancelling || st.Pausing {
		t.Errorf("%+v", st.Turn)
	}
	s.must(201, nil, "POST", "/chat/sessions", `{"title":"a"}`, key...)
	s.refused(422, "key_reused", "", "POST", "/chat/sessions", `{"title":"b"}`, key...)
	s.refused(422, "key_reused", "", "POST", "/chat/sessions", `{"title":"a","model":"m"}`, key...)
	s.must(201, nil, "POST", chat+"/branch", fmt.Sprintf(`{"from_event_id":"%s.1"}`, id), key...)
	s.refused(422, "key_reused", "", "POST", chat+"/branch", fmt.Sprintf(`{"from_event_id":"%s.2"}`, id), key...)
}

// A session that is made under a key is made once: one after the other, at
// once, and under the same key of another user.
func TestAKeyedSessionIsMadeOnce(t *testing.T) {
	t.Parallel()
	s := serve(t, "say hi")
	made := map[string]bool{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			var r row
			s.must(201, &r, "POST", "/chat/sessions", `{"title":"mine","user_id":"ada"}`, "Idempotency-Key", "k")
			mu.Lock()
			defer mu.Unlock()
			made[r.SessionID] = true
		})
	}
	wg.Wait()
	var other, branch, again row
	s.must(201, &other, "POST", "/chat/sessions", `{"title":"mine","user_id":"eve"}`, "Idempotency-Key", "k")
	if len(made) != 1 || made[other.SessionID] {
		t.Errorf("%d sessions, and %s of another user", len(made), other.SessionID)
	}
	s.must(201, &branch, "POST", "/chat/sessions/"+other.SessionID+"/branch", `{}`, "Idempotency-Key", "k")
	s.turn(other.SessionID, "go on")
	if s.must(201, &again, "POST", "/chat/sessions/"+other.SessionID+"/branch", `{}`, "Idempotency-Key", "k"); again.SessionID != branch.SessionID || again.Source != branch.Source {
		t.Errorf("branched as %+v, then as %+v", branch, again)
	}
	var page struct{ Sessions []row }
	if s.must(200, &page, "GET", "/sessions", ""); len(page.Sessions) != 3 {
		t.Errorf("%d sessions", len(page.Sessions))
	}
}
