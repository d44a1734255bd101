package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"harness"
	"harness/health"
)

type (
	stateQuery struct {
		ID       harness.SessionID `json:"id" rule:"required id"`
		At       string            `json:"at" rule:"max=20"` // a seq, or now
		Messages *int64            `json:"messages" rule:"min=0 max=1000"`
	}
	// snapshot is a session's state at an event.
	snapshot struct {
		session
		Error     string         `json:"error,omitempty"`
		Config    config         `json:"config"`
		Lacks     *harness.Lacks `json:"lacks,omitempty"` // because of its engine
		Turns     int            `json:"turns"`
		Turn      *turn          `json:"turn,omitempty"`
		Queue     []queuedPrompt `json:"queue"`
		Approvals []approval     `json:"approvals"`

		Health *health.Snapshot `json:"health,omitempty"` // as it was then

		First  int       `json:"first_message"` // index of Latest[0] in the conversation
		Latest []message `json:"messages"`      // the newest of them
	}
	queuedPrompt struct {
		ItemID harness.ItemID `json:"item_id"`
		Parts  []harness.Part `json:"parts"`
	}
	message struct {
		ItemID    harness.ItemID        `json:"item_id"`
		Role      harness.Role          `json:"role" rule:"words=user|assistant"`
		Content   string                `json:"content"`
		Status    harness.MessageStatus `json:"status" rule:"words=pending|streaming|complete|error"`
		Reasoning string                `json:"reasoning,omitempty"`
		Calls     []toolCall            `json:"tool_calls,omitempty"`
	}
	toolCall struct {
		ToolCallID  harness.CallID  `json:"tool_call_id"`
		Name        string          `json:"name"`
		Status      string          `json:"status" rule:"words=running|awaiting_approval|complete|error|denied"`
		Input       json.RawMessage `json:"input,omitempty"`
		Output      string          `json:"output,omitempty"`
		OutputBytes int             `json:"output_bytes,omitempty"` // set if output is only its beginning
		At          int             `json:"at"`                     // UTF-16 length of the content when the call began
	}
)

// messagesDefault is how many messages a state shows unless asked otherwise.
const messagesDefault = 200

// maxStateBytes bounds the texts of the messages that a state shows; the newest
// one is always there.
const maxStateBytes = 4 << 20

// stateAt is the state at any event. It costs the same at any place of any log.
func (s *Server) stateAt(ctx context.Context, p *stateQuery) (snapshot, error) {
	sum, err := s.row(ctx, p.ID, "")
	if err != nil {
		return snapshot{}, err
	}
	at := harness.Seq(0)
	if p.At != "" && p.At != "now" {
		n, err := strconv.ParseUint(p.At, 10, 64)
		switch at = harness.Seq(n); {
		case err != nil || n == 0:
			return snapshot{}, badField("at", "must be now or a seq, from 1 on")
		case at > sum.Seq:
			return snapshot{}, badField("at", fmt.Sprintf("the log ends at %d", sum.Seq))
		}
	}
	st, err := s.k.At(ctx, p.ID, at)
	if err != nil {
		return snapshot{}, err
	}
	v := snapshot{
		session: asSession(st.Summary()), Error: st.Error, Config: asConfig(st.Config), Lacks: st.Lacks, Turns: st.Turns, Turn: asTurn(st.Turn),
		Queue: []queuedPrompt{}, Approvals: asApprovals(st), Health: healthOf(st),
	}
	for _, q := range st.Queue {
		v.Queue = append(v.Queue, queuedPrompt{q.Item, q.Parts})
	}
	want := messagesDefault
	if p.Messages != nil {
		want = int(*p.Messages)
	}
	v.First, v.Latest, err = s.before(ctx, p.ID, st, st.Count(), want)
	return v, err
}

// before is the messages of st before the one at end, so many at most and no
// more than maxStateBytes of them, and the index of the first.
func (s *Server) before(ctx context.Context, id harness.SessionID, st *harness.State, end, want int) (first int, list []message, err error) {
	first, list = max(0, end-want), []message{}
	size := 0
	show := func(m *harness.Message) {
		list = append(list, asMessage(m))
		size += list[len(list)-1].size()
		for ; size > maxStateBytes && len(list) > 1; first++ {
			size -= list[0].size()
			list[0], list = message{}, list[1:] // it is not kept for the list's sake
		}
	}
	for raw, err := range s.sealed(ctx, id, first, min(end, st.Sealed)) {
		if err != nil {
			return 0, nil, err
		}
		var m harness.Message
		if err := json.Unmarshal(raw, &m); err != nil {
			return 0, nil, fmt.Errorf("message of %s: %w: %w", id, err, harness.ErrCorrupt)
		}
		show(&m)
	}
	if end > st.Sealed {
		for _, m := range st.Messages[max(0, first-st.Sealed) : end-st.Sealed] {
			show(m)
		}
	}
	return first, list, nil
}

// sealed yields messages that the store keeps; none if the window begins later.
func (s *Server) sealed(ctx context.Context, id harness.SessionID, from, to int) func(func([]byte, error) bool) {
	if from >= to {
		return func(func([]byte, error) bool) {}
	}
	return s.k.Messages(ctx, id, from, to)
}

// size is how many bytes of text a message has.
func (m *message) size() int {
	n := len(m.Content) + len(m.Reasoning)
	for _, c := range m.Calls {
		n += len(c.Input) + len(c.Output)
	}
	return n
}

func asMessage(m *harness.Message) message {
	v := message{ItemID: m.ID, Role: m.Role, Content: m.Content.String(), Status: m.Status, Reasoning: m.Reasoning.String()}
	for _, c := range m.Calls {
		status := string(c.Status)
		if c.Status == harness.CallAwaiting {
			status = string(harness.AwaitingApproval)
		}
		v.Calls = append(v.Calls, toolCall{c.ID, c.Name, status, c.Input, c.Output.String(), c.OutputBytes, c.At})
	}
	return v
}
