package rest

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"harness"
)

// Bounds of a channel: the events of a screen, and no more of them than a
// client wants to be sent at once. One event is always there.
const (
	maxEnvelopes    = 64
	maxChannelBytes = 256 << 10
)

// channel is the end of a session's log as a conversation between participants.
type channel struct {
	ChannelID          string        `json:"channel_id"`
	Participants       []participant `json:"participants"`
	Envelopes          []stamped     `json:"envelopes"`            // in the log's order
	TruncatedBeforeSeq harness.Seq   `json:"truncated_before_seq"` // what is before this one is only in the log
}

// participant takes part in a channel; its id is the same in every projection.
type participant struct {
	ID   string `json:"id"`
	Kind string `json:"kind" rule:"words=runtime|agent|operator|tool|subagent"`
	Name string `json:"name"`
}

// stamped is an envelope: an event with who told it to whom.
type stamped struct {
	EventID      string          `json:"event_id"`
	Seq          harness.Seq     `json:"seq"`
	TS           time.Time       `json:"ts"`
	SenderID     string          `json:"sender_id"`
	RecipientIDs []string        `json:"recipient_ids"`
	EventType    harness.Type    `json:"event_type"`
	Summary      string          `json:"summary"`
	Payload      json.RawMessage `json:"payload"` // the log's own bytes
}

// projectChannel makes the channel of st's session from the last events of its
// log, in order. It is pure.
func projectChannel(st *harness.State, recent []harness.Event) channel {
	size, from := 0, len(recent)
	for from > 0 && (from == len(recent) || size+len(recent[from-1].JSON()) <= maxChannelBytes) {
		from--
		size += len(recent[from].JSON())
	}
	c := cast{agent: "agent:" + string(st.Session), tools: map[harness.CallID]string{}}
	if st.Turn != nil {
		for _, o := range st.Turn.Open {
			c.tools[o.ID] = o.Name
		}
	}
	for _, e := range recent {
		if p, ok := e.Payload.(*harness.ToolCall); ok {
			c.tools[p.ToolCallID] = p.Name
		}
	}
	ch := channel{ChannelID: "session:" + string(st.Session), Envelopes: make([]stamped, 0, len(recent)-from), TruncatedBeforeSeq: 1}
	seen := map[string]bool{runtimeID: true, c.agent: true}
	for i, e := range recent[from:] {
		if i == 0 {
			ch.TruncatedBeforeSeq = e.Seq
		}
		sender, recipients := c.route(e)
		ch.Envelopes = append(ch.Envelopes, stamped{
			EventID: harness.EventID(e.Session, e.Seq), Seq: e.Seq, TS: e.Time, SenderID: sender, RecipientIDs: recipients,
			EventType: e.Type(), Summary: summarize(e.Payload), Payload: payloadOf(e),
		})
		seen[sender] = true
		for _, id := range recipients {
			seen[id] = true
		}
	}
	ch.Participants = participants(seen)
	return ch
}

// payloadOf is the payload's bytes in the log.
func payloadOf(e harness.Event) json.RawMessage {
	var env struct{ Payload json.RawMessage }
	if json.Unmarshal(e.JSON(), &env) != nil || len(env.Payload) == 0 {
		return json.RawMessage("null")
	}
	return env.Payload
}

// kinds is the order of participants, and what their ids begin with.
var kinds = []string{"runtime", "agent", "operator", "tool", "subagent"}

func participants(seen map[string]bool) []participant {
	list := make([]participant, 0, len(seen))
	for id := range seen {
		kind, name, named := strings.Cut(id, ":")
		if !named {
			name = kind
		}
		list = append(list, participant{id, kind, name})
	}
	slices.SortFunc(list, func(a, b participant) int {
		if d := slices.Index(kinds, a.Kind) - slices.Index(kinds, b.Kind); d != 0 {
			return d
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list
}
