package rest_test

import (
	"fmt"
	"strings"
	"testing"
)

// A state shows no more than it can hold, however large messages are: the
// newest ones, of which one is always there.
func TestAStateIsBounded(t *testing.T) {
	t.Parallel()
	s := serve(t, "call read {} => x")
	id := s.chat()
	big := strings.Repeat("x", 500<<10)
	for i := range 12 {
		s.turn(id, fmt.Sprint(i, big))
	}
	var got row
	a := s.must(200, &got, "GET", "/sessions/"+id+"/state?messages=1000", "")
	n := len(got.Messages)
	if len(a.body) > 5<<20 || n < 8 || got.First+n != got.Count || !strings.HasPrefix(got.Messages[n-2].Content, "11x") {
		t.Errorf("%d bytes, messages %d to %d of %d", len(a.body), got.First, got.First+n, got.Count)
	}
}

// The state of a branch at an event of its parent is the branch's, as it would
// have been then.
func TestTheStateOfABranchBeforeItBegan(t *testing.T) {
	t.Parallel()
	s := serve(t, "echo")
	id := s.chat()
	s.turn(id, "one")
	s.turn(id, "two")
	var branch, then, source row
	s.must(201, &branch, "POST", "/chat/sessions/"+id+"/branch", `{}`)
	for seq := range branch.Seq {
		if seq == 0 {
			continue
		}
		s.must(200, &then, "GET", fmt.Sprintf("/sessions/%s/state?at=%d", branch.SessionID, seq), "")
		if seq > branch.Seq-2 { // its own
			continue
		}
		s.must(200, &source, "GET", fmt.Sprintf("/sessions/%s/state?at=%d", id, seq), "")
		if then.SessionID != branch.SessionID || then.Seq != seq || then.Status != source.Status || fmt.Sprint(then.Messages) != fmt.Sprint(source.Messages) {
			t.Errorf("at %d: %+v, the source %+v", seq, then, source)
		}
	}
}
