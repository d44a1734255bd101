package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// talk is one thread seen through S4: it takes notifications to a transcript
// and a person's wishes to the peer. One goroutine owns it.
type talk struct {
	*peer
	t      *transcript
	thread string
	turn   string          // that runs, or empty
	skip   string          // the item of the prompt that the person has just typed
	said   map[string]*say // assistant messages that are not complete
	mine   map[string]bool // questions that we answer
	below  map[string]bool // threads that work for this one
	answer func(q question) (reply string, ok bool)
}

// say is how much of a message was shown.
type say struct{ text, thoughts strings.Builder }

func newTalk(p *peer, t *transcript) *talk {
	return &talk{peer: p, t: t, said: map[string]*say{}, mine: map[string]bool{}, below: map[string]bool{}}
}

// told are the params of any notification, as far as they are shown.
type told struct {
	ThreadID, TurnID, ItemID, RequestID string
	Type, Delta, Status, Error, Reason  string
	Reasoning                           bool
	Spawned                             string `json:"spawnedThreadId"`
	Item                                *told
	Data                                json.RawMessage
	Time                                struct{ Started, Completed int64 }
	Usage                               *struct {
		InputTokens, OutputTokens int64
	}
	Metadata struct {
		Description, Reason string
		Input               json.RawMessage
		Redacted            bool
	}
	Tool struct{ CallID, Name string }

	data itemData // of the types that are shown
}

// itemData is the data of an item of any type.
type itemData struct {
	Parts                               []struct{ Type, Text, Path, URL string }
	Source, Text, Reasoning             string
	CallID, Tool, Status, Output, Error string
	Input                               json.RawMessage
	ElapsedMS                           *int64
	RequestID, Reply, Description       string
	Reason                              string
}

// hear shows a notification. It returns the end of a turn, if it is one.
func (k *talk) hear(m message, now time.Time) (*told, error) {
	var n told
	if err := json.Unmarshal(m.Params, &n); err != nil {
		return nil, fmt.Errorf("%s: %w", clean(m.Method, 40), err)
	}
	if n.Item != nil {
		n.ItemID, n.TurnID, n.ThreadID, n.Type, n.Data = n.Item.ItemID, n.Item.TurnID, n.Item.ThreadID, n.Item.Type, n.Item.Data
	}
	below := k.below[n.ThreadID]
	if n.ThreadID != k.thread && k.thread != "" && !below {
		return nil, nil
	}
	if n.Type != "artifact" && n.Data != nil {
		if err := json.Unmarshal(n.Data, &n.data); err != nil {
			return nil, fmt.Errorf("%s: %w", clean(m.Method, 40), err)
		}
	}
	if m.Method == "thread.spawned" {
		k.descend(n.Spawned)
	}
	if below { // of what helpers do, only what somebody must decide is shown
		k.hearBelow(m.Method, &n, now)
		return nil, nil
	}
	switch m.Method {
	case "turn.started":
		k.turn = n.TurnID
		k.t.begin(now)
	case "item.started":
		k.started(&n, now)
	case "item.delta":
		k.delta(&n)
	case "item.completed":
		k.completed(&n, now)
	case "approval.requested":
		k.requested(&n)
	case "turn.completed", "turn.error":
		k.turn = ""
		clear(k.said)
		k.t.end()
		return &n, nil
	}
	return nil, nil
}

func (k *talk) started(n *told, now time.Time) {
	switch n.Type {
	case "user_message":
		if n.ItemID != k.skip {
			k.t.prompt(promptText(&n.data))
		}
	case "tool_exec":
		k.t.toolBegins(n.data.CallID, n.data.Tool, n.data.Input, now)
	case "artifact":
		k.t.remark(dim, "artifact "+clean(n.ItemID, 80))
	}
}

func promptText(d *itemData) string {
	var b strings.Builder
	for _, p := range d.Parts {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.Text)
		if p.Type == "file" {
			b.WriteString("[" + p.Path + p.URL + "]")
		}
	}
	return b.String()
}

func (k *talk) delta(n *told) {
	if n.Type == "tool_log" {
		k.t.toolSays(n.data.CallID, n.Delta)
		return
	}
	s := k.message(n.ItemID)
	if n.Reasoning {
		s.thoughts.WriteString(n.Delta)
	} else {
		s.text.WriteString(n.Delta)
	}
	k.t.say(n.Delta, n.Reasoning)
}

func (k *talk) message(id string) *say {
	s := k.said[id]
	if s == nil {
		s = &say{}
		k.said[id] = s
	}
	return s
}

func (k *talk) completed(n *told, now time.Time) {
	d := &n.data
	switch n.Type {
	case "assistant_message":
		s := k.message(n.ItemID)
		if rest, ok := strings.CutPrefix(d.Text, s.text.String()); ok { // an engine may say it all at once
			k.t.say(rest, false)
		}
		delete(k.said, n.ItemID)
	case "tool_exec":
		took := time.Duration(-1)
		if d.ElapsedMS != nil {
			took = time.Duration(*d.ElapsedMS) * time.Millisecond
		}
		k.t.toolEnds(d.CallID, d.Status, d.Output, d.Error, took)
	case "approval":
		by := ""
		switch {
		case d.Source == "user" && !k.mine[d.RequestID]:
			by = "by another client"
		case d.Source == "timeout":
			by = "because nobody answered in time"
		case d.Source == "policy":
			by = "by policy"
		}
		delete(k.mine, d.RequestID)
		k.t.answered(d.RequestID, d.Reply, by, now)
	}
}

func (k *talk) requested(n *told) {
	q := question{id: n.RequestID, thread: n.ThreadID, call: n.Tool.CallID, tool: n.Tool.Name, text: n.Metadata.Description, reason: n.Metadata.Reason,
		input: n.Metadata.Input, always: !n.Metadata.Redacted}
	k.t.ask(q)
	if k.answer == nil {
		return
	}
	if reply, ok := k.answer(q); ok {
		k.decide(q, reply)
	}
}

// decide answers a question. Somebody else may have been faster; then that is
// what is shown.
func (k *talk) decide(q question, reply string) {
	if k.mine[q.id] {
		return
	}
	k.mine[q.id] = true
	k.call("approval.respond", map[string]any{"requestId": q.id, "threadId": q.thread, "decision": reply}, func(_ json.RawMessage, f *fault) {
		if f != nil {
			delete(k.mine, q.id)
		}
	})
}

// cancel ends the running turn.
func (k *talk) cancel() {
	k.call("turn.cancel", map[string]any{"threadId": k.thread}, nil)
}

func textInput(text string) []map[string]string {
	return []map[string]string{{"type": "text", "text": text}}
}
