package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/archive"
)

// writer makes a log.
type writer struct {
	id     harness.SessionID
	at     time.Time
	turn   harness.TurnID
	events []harness.Event
}

func newWriter(id, title string) *writer {
	w := &writer{id: harness.SessionID(id), at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	w.add(&harness.SessionState{SessionID: w.id, Status: harness.Idle, Kind: harness.Chat, Title: &title, Engine: "native"})
	return w
}

func (w *writer) add(p harness.Payload) {
	w.at = w.at.Add(40 * time.Millisecond)
	w.events = append(w.events, harness.NewEvent(w.id, harness.Seq(len(w.events)+1), w.at, w.turn, p))
}

// say adds a turn: a prompt, an answer in pieces, and a call.
func (w *writer) say(n int, prompt string, pieces []string, call *harness.ToolCall, output string) {
	w.turn = ""
	w.add(&harness.UserMessage{ItemID: harness.ItemID(fmt.Sprintf("itm_u%d", n)), Source: harness.FromTurn, Parts: harness.TextPart(prompt)})
	w.turn = harness.TurnID(fmt.Sprintf("trn_%d", n))
	item := harness.ItemID(fmt.Sprintf("itm_a%d", n))
	w.add(&harness.TurnStart{TurnID: w.turn, ItemID: item, Attempt: 1, Engine: "native"})
	text := ""
	for _, s := range pieces {
		w.add(&harness.Token{ItemID: item, Text: s})
		text += s
	}
	if call != nil {
		c := *call
		c.ToolCallID, c.ItemID, c.MessageID = harness.CallID(fmt.Sprintf("call_%d", n)), harness.ItemID(fmt.Sprintf("itm_t%d", n)), item
		w.add(&c)
		w.add(&harness.ToolResult{ToolCallID: c.ToolCallID, ToolName: c.Name, Output: output})
		w.add(&harness.ToolOutcome{ToolCallID: c.ToolCallID, ToolName: c.Name, OutcomeType: harness.OutcomeType(harness.OutcomeOK), Status: harness.OutcomeOK, ElapsedMS: 12})
	}
	w.add(&harness.Response{ItemID: item, Text: text})
	w.add(&harness.TurnEnd{TurnID: w.turn, Status: harness.TurnCompleted})
	w.turn = ""
}

// hostile is a log with one text everywhere.
func hostile(evil string) *writer {
	w := newWriter("ses_hostile", evil)
	args, err := json.Marshal(map[string]string{"path": evil, "content": evil})
	if err != nil {
		panic(err)
	}
	w.say(1, evil, []string{evil, "\n\n```html\n" + evil + "\n```\n\n# " + evil + "\n\n> " + evil + "\n\n| a | b |\n|---|---|\n| " + evil + " | x |\n"}, &harness.ToolCall{Name: "write", Arguments: args}, evil)
	command, err := json.Marshal(map[string]string{"command": evil})
	if err != nil {
		panic(err)
	}
	w.say(2, evil, []string{evil}, &harness.ToolCall{Name: "bash", Arguments: command}, "\x1b[31m"+evil+"\x1b[0m\n"+evil)
	w.say(3, evil, []string{evil}, &harness.ToolCall{Name: "read", Arguments: args}, evil+strings.Repeat("x", 1<<20)) // one line
	return w
}

// long is a log of about n events, with two messages for every fifty.
func long(n int) *writer {
	w := newWriter("ses_long", "A very long session")
	for turn := 1; len(w.events) < n; turn++ {
		var pieces []string
		for i := range 40 {
			pieces = append(pieces, fmt.Sprintf("word%d ", i))
		}
		w.say(turn, fmt.Sprintf("prompt number %d", turn), pieces, &harness.ToolCall{Name: "bash", Arguments: json.RawMessage(fmt.Sprintf(`{"command":"make step-%d"}`, turn))}, fmt.Sprintf("step %d is done", turn))
	}
	return w
}

// talk is a conversation of n messages: questions of twelve words, answers of
// ninety, and a call in every second one.
func talk(n int) *writer {
	w := newWriter(fmt.Sprintf("ses_talk_%d", n), fmt.Sprintf("%d messages", n))
	words := "the quick brown fox jumps over the lazy dog and "
	for turn := range n / 2 {
		var call *harness.ToolCall
		if turn%2 == 1 {
			call = &harness.ToolCall{Name: "bash", Arguments: json.RawMessage(`{"command":"ls"}`)}
		}
		w.say(turn, fmt.Sprintf("Question %d: %s?", turn, words), []string{fmt.Sprintf("Answer %d. ", turn), strings.Repeat(words, 9)}, call, "ok")
	}
	return w
}

// imported takes a log in, as harness sessions import does.
func (h *house) imported(t testing.TB, w *writer) string {
	t.Helper()
	var b bytes.Buffer
	all := func() iter.Seq2[harness.Event, error] {
		return func(yield func(harness.Event, error) bool) {
			for e := range slices.Values(w.events) {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
	if err := archive.Write(&b, all()); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", h.url+"/sessions/import", &b)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+h.token)
	r.Header.Set("Content-Type", "application/jsonl")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, _ := io.ReadAll(resp.Body); resp.StatusCode != 201 {
		t.Fatalf("import: %d %s", resp.StatusCode, got)
	}
	return string(w.id)
}
