package rest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// talk is as much of a page of messages as these tests look at.
type talk struct {
	Seq      int               `json:"seq"`
	Count    int               `json:"message_count"`
	First    int               `json:"first_message"`
	Messages []json.RawMessage `json:"messages"`
	Next     string            `json:"next_cursor"`
}

// The pages of a conversation, put together, are the conversation, wherever
// they are cut: in what the store keeps, in what a turn still writes, between.
func TestPagesOfMessagesAreTheConversation(t *testing.T) {
	t.Parallel()
	s := serve(t, "echo")
	id := s.chat()
	for i := range 12 {
		s.turn(id, fmt.Sprint("turn ", i))
	}
	var whole struct{ Messages []json.RawMessage }
	s.must(200, &whole, "GET", "/sessions/"+id+"/state?messages=1000", "")
	for _, limit := range []int{1, 5, 7, 24, 1000} {
		var got []json.RawMessage
		for next := ""; ; {
			var page talk
			s.must(200, &page, "GET", fmt.Sprintf("/sessions/%s/messages?limit=%d%s", id, limit, next), "")
			got = append(page.Messages, got...)
			if page.Count != 24 || page.First+len(got) != 24 || len(page.Messages) > limit {
				t.Fatalf("limit %d: %d messages from %d on of %d", limit, len(page.Messages), page.First, page.Count)
			}
			if page.Next == "" {
				break
			}
			next = "&before=" + page.Next
		}
		if fmt.Sprintf("%s", got) != fmt.Sprintf("%s", whole.Messages) {
			t.Errorf("limit %d: %s\nwant %s", limit, got, whole.Messages)
		}
	}
	var none talk
	s.must(200, &none, "GET", "/sessions/"+id+"/messages?before=0", "")
	if none.First != 0 || len(none.Messages) != 0 || none.Next != "" {
		t.Errorf("before the beginning: %+v", none)
	}
	s.must(200, &none, "GET", "/sessions/"+id+"/messages?before=1000000000000&limit=2", "")
	if none.First != 22 || len(none.Messages) != 2 {
		t.Errorf("behind the end: %+v", none)
	}
}

// A page has no more text than a state, and gets on nevertheless.
func TestAPageOfMessagesIsBounded(t *testing.T) {
	t.Parallel()
	s := serve(t, "call read {} => x")
	id := s.chat()
	for i := range 12 {
		s.turn(id, fmt.Sprint(i, strings.Repeat("x", 500<<10)))
	}
	var page talk
	a := s.must(200, &page, "GET", "/sessions/"+id+"/messages?limit=1000", "")
	if len(a.body) > 5<<20 || len(page.Messages) < 8 || page.Next == "" || page.First+len(page.Messages) != page.Count {
		t.Fatalf("%d bytes, %d messages from %d on of %d", len(a.body), len(page.Messages), page.First, page.Count)
	}
	var older talk
	s.must(200, &older, "GET", "/sessions/"+id+"/messages?limit=1000&before="+page.Next, "")
	if older.First != 0 || older.Next != "" || len(older.Messages) != page.First {
		t.Errorf("the second page has %d messages from %d on, the first begins at %d", len(older.Messages), older.First, page.First)
	}
}
