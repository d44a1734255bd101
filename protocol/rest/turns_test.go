package rest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"harness"
)

func types(events []sseEvent) string {
	var list []string
	for _, e := range events {
		list = append(list, e.event)
	}
	return strings.Join(list, " ")
}

// A turn's stream begins with the prompt and ends with turn_end, and its
// envelopes are the log's own bytes.
func TestATurnIsAnsweredWithItsEvents(t *testing.T) {
	t.Parallel()
	s := serve(t, "say hello\ncall read {\"path\":\"a\"} => text")
	id := s.chat()
	got := s.turn(id, "go")
	if want := "user_message turn_start token tool_call tool_result tool_outcome turn_end"; !subsequence(types(got), want) || got[0].event != "user_message" {
		t.Errorf("got %s", types(got))
	}
	if last := got[len(got)-1]; last.event != "turn_end" {
		t.Errorf("it ends with %s", last.event)
	}
	byID := map[string]string{}
	for e, err := range s.k.Read(t.Context(), harness.SessionID(id), 0) {
		if err != nil {
			t.Fatal(err)
		}
		byID[fmt.Sprint(e.Seq)] = string(e.JSON())
	}
	for _, e := range got {
		if byID[e.id] != e.data {
			t.Errorf("event %s: sent %s, logged %s", e.id, e.data, byID[e.id])
		}
	}
}

// subsequence reports whether the words of want appear in this order.
func subsequence(got, want string) bool {
	words := strings.Fields(want)
	for _, w := range strings.Fields(got) {
		if len(words) > 0 && w == words[0] {
			words = words[1:]
		}
	}
	return len(words) == 0
}

// While a turn runs another prompt is refused, waits, or takes its place, as it
// asks. The stream of one that waited is its own turn's.
func TestABusySessionDoesWhatThePromptAsks(t *testing.T) {
	t.Parallel()
	s := serve(t, "gate first\nsay first\n===\nsay second\n===\nhang\n===\nsay fourth")
	id := s.chat()
	path := "/chat/sessions/" + id + "/turns"
	s.say(id, "one")
	s.refused(409, "busy", "", "POST", path, `{"prompt":"two"}`)
	s.refused(409, "busy", "", "POST", path, `{"prompt":"two","on_busy":"reject"}`)
	var waiting receipt
	s.must(202, &waiting, "POST", path, `{"prompt":"two","on_busy":"queue"}`, "Accept", "application/json", "Idempotency-Key", "two")
	if waiting.TurnID != "" || waiting.ItemID == "" {
		t.Errorf("a prompt that waits: %+v", waiting)
	}
	answered := make(chan []sseEvent)
	go func() {
		r := s.request("POST", path, `{"prompt":"two","on_busy":"queue"}`, "Idempotency-Key", "two")
		defer r.Body.Close()
		text, _ := io.ReadAll(r.Body)
		answered <- parseSSE(t, text)
	}()
	s.engine.Open("first")
	got := <-answered
	if !strings.Contains(fmt.Sprint(got), "second") || strings.Contains(fmt.Sprint(got), "first") || got[len(got)-1].event != "turn_end" {
		t.Errorf("got %v", got)
	}
	s.idle(id)
	third := s.say(id, "three")
	r := s.request("POST", path, `{"prompt":"four","on_busy":"interrupt"}`)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || !strings.Contains(string(text), "fourth") || strings.Contains(string(text), third.TurnID) {
		t.Errorf("%v %s", err, text)
	}
}

// The stream of a turn that is over, asked for again under its key, is played
// again from the log.
func TestAKeyedTurnCanBeReadAgain(t *testing.T) {
	t.Parallel()
	s := serve(t, "say hello")
	id := s.chat()
	read := func() string {
		r := s.request("POST", "/chat/sessions/"+id+"/turns", `{"prompt":"go"}`, "Idempotency-Key", "k")
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(parseSSE(t, text))
	}
	first := read()
	s.turn(id, "more")
	if again := read(); again != first {
		t.Errorf("first %s\nthen %s", first, again)
	}
}

// Any event's state is the fold of the log up to it.
func TestTheStateAtAnyEventIsTheFoldUpToIt(t *testing.T) {
	t.Parallel()
	s := serve(t, "think hm\nsay hello\ncall read {\"path\":\"a\"} => text\nsay bye\n===\nask bash {\"command\":\"ls\"} => ok\nsay done")
	id := s.chat()
	s.turn(id, "one")
	s.say(id, "two")
	request := s.asks(id)
	s.must(200, nil, "POST", "/approvals/"+request, `{"decision":"allow"}`)
	end := s.idle(id).Seq
	fold := new(harness.State)
	for e, err := range s.k.Read(t.Context(), harness.SessionID(id), 0) {
		if err != nil {
			t.Fatal(err)
		}
		fold.Apply(e)
		var got row
		s.must(200, &got, "GET", fmt.Sprintf("/sessions/%s/state?at=%d", id, e.Seq), "")
		var said []string
		for _, m := range got.Messages {
			said = append(said, m.Role+":"+m.Content+":"+m.Status)
		}
		var want []string
		for _, m := range fold.Messages {
			want = append(want, fmt.Sprintf("%s:%s:%s", m.Role, m.Content.String(), m.Status))
		}
		if got.Seq != uint64(e.Seq) || got.Status != string(fold.Status) || len(got.Approvals) != len(fold.Pending) || fmt.Sprint(said) != fmt.Sprint(want) || (got.Turn != nil) != (fold.Turn != nil) {
			t.Errorf("at %d: got %+v, want %v %s", e.Seq, got, want, fold.Status)
		}
	}
	if fold.Seq != end {
		t.Errorf("the log ends at %d", fold.Seq)
	}
	var now, window row
	s.must(200, &now, "GET", "/sessions/"+id+"/state", "")
	s.must(200, &window, "GET", "/sessions/"+id+"/state?at=now&messages=1", "")
	if len(now.Messages) != now.Count || len(window.Messages) != 1 || window.First != now.Count-1 || window.Messages[0].Content != now.Messages[now.Count-1].Content {
		t.Errorf("%d messages, then %d from %d on", len(now.Messages), len(window.Messages), window.First)
	}
}

// The state of a long conversation shows its newest messages, those that are
// sealed too.
func TestTheStateShowsTheNewestMessages(t *testing.T) {
	t.Parallel()
	s := serve(t, "echo")
	id := s.chat()
	for i := range 130 {
		s.turn(id, fmt.Sprint("prompt ", i))
	}
	var got row
	s.must(200, &got, "GET", "/sessions/"+id+"/state", "")
	if len(got.Messages) != 200 || got.First != 60 || got.Count != 260 || got.Messages[0].Content != "prompt 30" || got.Messages[199].Content != "prompt 129" {
		t.Errorf("%d of %d messages from %d on, %q to %q", len(got.Messages), got.Count, got.First, got.Messages[0].Content, got.Messages[len(got.Messages)-1].Content)
	}
	s.must(200, &got, "GET", "/sessions/"+id+"/state?messages=0", "")
	if len(got.Messages) != 0 || got.First != 260 {
		t.Errorf("%d messages from %d on", len(got.Messages), got.First)
	}
}

// Events come by seq, a page at a time, all of them, exactly once; a filter
// chooses the same of them as of a stream.
func TestEventsArePagedBySeq(t *testing.T) {
	t.Parallel()
	s := serve(t, "say a\nsay b\ncall read {} => x")
	id := s.chat()
	for range 5 {
		s.turn(id, "go")
	}
	for _, query := range []string{"limit=7", "limit=3&tier=default", "limit=2&types=token,turn_end"} {
		var want []string
		for e, err := range s.k.Read(t.Context(), harness.SessionID(id), 0) {
			if err != nil {
				t.Fatal(err)
			}
			info, _ := harness.Lookup(e.Type())
			if strings.Contains(query, "types") && e.Type() != "token" && e.Type() != "turn_end" || strings.Contains(query, "tier") && info.Tier != harness.Default {
				continue
			}
			want = append(want, string(e.JSON()))
		}
		var got []string
		after := "0"
		for pages := 0; after != "" && pages < 100; pages++ {
			var page struct {
				Events []json.RawMessage
				Next   string `json:"next_cursor"`
			}
			s.must(200, &page, "GET", "/sessions/"+id+"/events?"+query+"&after="+after, "")
			for _, e := range page.Events {
				got = append(got, string(e))
			}
			after = page.Next
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %d events, want %d", query, len(got), len(want))
		}
	}
}

func TestTheInventoryIsServedAsItIs(t *testing.T) {
	t.Parallel()
	s := serve(t, "")
	var got struct {
		Events []struct {
			Type, Source, Role, Tier, Stream string
			Persisted                        bool
		}
	}
	s.must(200, &got, "GET", "/stream-events", "")
	if len(got.Events) != len(harness.Inventory()) {
		t.Fatalf("%d events", len(got.Events))
	}
	for i, want := range harness.Inventory() {
		g := got.Events[i]
		if g.Type != string(want.Type) || g.Source != want.Source || g.Role != want.Role || g.Tier != string(want.Tier) || g.Stream != want.Stream || g.Persisted != want.Persisted {
			t.Errorf("%+v, want %+v", g, want)
		}
	}
}
