package rest_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"

	"harness"
)

// leaves sends a prompt for a stream, hears as much as it is told to, and is
// gone in the middle.
func (s *server) leaves(id, body string, hears func(line string) bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", s.url+"/chat/sessions/"+id+"/turns", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	r, err := s.client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	for lines := bufio.NewScanner(r.Body); lines.Scan(); {
		if hears(lines.Text()) {
			return
		}
	}
	s.t.Fatal("the stream ended")
}

// A client that leaves in the middle of its turn does not touch it, and finds
// all of it when it comes back.
func TestATurnGoesOnWithoutItsClient(t *testing.T) {
	t.Parallel()
	s := serve(t, "say one\ngate on\nsay two\n")
	id := s.chat()
	s.leaves(id, `{"prompt":"go"}`, func(line string) bool { return line == "event: token" })
	s.engine.Open("on")
	if st := s.idle(id); st.Messages[1].Content.String() != "onetwo" || st.Messages[1].Status != harness.MessageComplete {
		t.Errorf("the answer is %q, %s", st.Messages[1].Content.String(), st.Messages[1].Status)
	}
}

// A prompt that waits runs in its turn, though its client did not wait.
func TestAQueuedPromptRunsWithoutItsClient(t *testing.T) {
	t.Parallel()
	s := serve(t, "gate first\nsay first\n===\necho")
	id := s.chat()
	s.say(id, "one")
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", s.url+"/chat/sessions/"+id+"/turns", strings.NewReader(`{"prompt":"two","on_busy":"queue"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	gone := make(chan error, 1)
	go func() {
		r, err := s.client.Do(req)
		if err == nil {
			r.Body.Close()
		}
		gone <- err
	}()
	s.until(id, "it waits", func(st *harness.State) bool { return len(st.Queue) == 1 })
	leave()
	if err := <-gone; err == nil {
		t.Error("it was answered before its turn")
	}
	s.engine.Open("first")
	if st := s.idle(id); len(st.Messages) != 4 || st.Messages[3].Content.String() != "two" {
		t.Errorf("%d messages", len(st.Messages))
	}
}
