package delta

import "harness"

// before is what the projector noted before it folded an event: everything
// about the view that the event could change.
type before struct {
	session  harness.SessionID
	status   string
	error    string
	pending  int
	rewound  *harness.Rewound
	lacks    *harness.Lacks
	count    int // messages
	messages []messageMark
	calls    []callMark

	starts  bool   // the event starts a turn
	rewrite bool   // texts may be replaced; otherwise they only grow
	text    string // what the event itself says, to spare a copy
}

type messageMark struct {
	at                 int
	message            *harness.Message
	status             harness.MessageStatus
	content, reasoning harness.Text
	calls              int
}

type callMark struct {
	at     place
	call   *harness.Call
	status harness.CallStatus
	output harness.Text
	bytes  int
}

// look notes what e could change.
func (p *projector) look(e harness.Event) {
	b := &p.was
	*b = before{
		session: p.st.Session, status: word(p.st.Status), error: shownError(p.st), pending: len(p.st.Pending), rewound: p.st.Rewound, lacks: p.st.Lacks, count: p.st.Count(),
		messages: b.messages[:0], calls: b.calls[:0],
	}
	switch pl := e.Payload.(type) {
	case *harness.Token:
		b.text = pl.Text
		p.lookOutput(pl.ItemID)
	case *harness.Response:
		b.text, b.rewrite = pl.Text, true
		p.lookOutput(pl.ItemID)
	case *harness.Thinking:
		b.text = pl.Text
		p.lookOutput(pl.ItemID)
	case *harness.Reflection:
		b.text = pl.Text
		p.lookOutput(pl.ItemID)
	case *harness.ToolCall:
		p.lookOutput(pl.MessageID)
	case *harness.ToolLog:
		b.text = pl.Text
		p.lookCall(pl.ToolCallID)
	case *harness.ToolResult:
		b.text, b.rewrite = pl.Output, true
		p.lookCall(pl.ToolCallID)
	case *harness.ToolOutcome:
		b.text = pl.Error
		p.lookCall(pl.ToolCallID)
	case *harness.ApprovalRequired:
		p.lookCall(pl.ToolCallID)
	case *harness.ApprovalApplied:
		p.lookCall(pl.ToolCallID)
	case *harness.TurnStart:
		b.starts = true
		p.lookTurn()
	case *harness.TurnEnd:
		p.lookTurn()
	case *harness.SessionState:
		if pl.ParentSessionID != "" { // a branch ends what was under way
			p.lookTurn()
		}
	case *harness.UserMessage, *harness.Failure, *harness.Rewound:
		// A new message, the error, the rewind: noted above.
	case *harness.Session, *harness.SessionCheckpoint, *harness.HookEvent, *harness.TurnStartTools, *harness.ToolBatch,
		*harness.ToolSelected, *harness.ToolValidationError, *harness.ContextWarning, *harness.ContextCompacted,
		*harness.StepProgress, *harness.Usage, *harness.Retrieval, *harness.Antahkarana, *harness.PolicyDecision,
		*harness.SandboxNotice, *harness.TransportDiagnostic, *harness.SubagentEvent, *harness.Artifact,
		*harness.Completed, *harness.HealthSnapshot, *harness.Unknown:
		// Facts that the view does not carry.
	}
}

// lookOutput notes the message that output goes to, and the one that it would
// close by going to another.
func (p *projector) lookOutput(id harness.ItemID) {
	if p.st.Turn == nil {
		return
	}
	p.lookMessage(p.find(p.st.Turn.Item))
	if id != "" && id != p.st.Turn.Item {
		p.lookMessage(p.find(id))
	}
}

// lookTurn notes the messages and open calls of the active turn.
func (p *projector) lookTurn() {
	t := p.st.Turn
	if t == nil {
		return
	}
	for n := max(t.First, p.st.Sealed); n < p.st.Count(); n++ {
		p.lookMessage(n)
	}
	for _, o := range t.Open {
		p.lookCall(o.ID)
	}
}

func (p *projector) lookMessage(n int) {
	if n < p.st.Sealed {
		return
	}
	m := p.st.Messages[n-p.st.Sealed]
	p.was.messages = append(p.was.messages, messageMark{n, m, m.Status, m.Content, m.Reasoning, len(m.Calls)})
}

func (p *projector) lookCall(id harness.CallID) {
	at, ok := p.calls[id]
	if !ok || at.message < p.st.Sealed {
		return
	}
	c := p.st.Messages[at.message-p.st.Sealed].Calls[at.call]
	p.was.calls = append(p.was.calls, callMark{at, c, c.Status, c.Output, c.OutputBytes})
}

// find is the active turn's newest assistant message with this id, or -1.
func (p *projector) find(id harness.ItemID) int {
	for n := p.st.Count() - 1; n >= max(p.st.Turn.First, p.st.Sealed); n-- {
		if m := p.st.Messages[n-p.st.Sealed]; m.ID == id && m.Role == harness.Assistant {
			return n
		}
	}
	return -1
}

// noteCalls remembers the places of the calls that the event has made.
func (p *projector) noteCalls() {
	for i := range p.was.messages {
		m := &p.was.messages[i]
		p.noteFrom(m.at, m.calls)
	}
	for n := p.was.count; n < p.st.Count(); n++ {
		p.noteFrom(n, 0)
	}
}

// noteFrom remembers the places of the calls of message n from the k-th on.
func (p *projector) noteFrom(n, k int) {
	calls := p.st.Messages[n-p.st.Sealed].Calls
	for ; k < len(calls); k++ {
		if p.calls == nil {
			p.calls = make(map[harness.CallID]place)
		}
		p.calls[calls[k].ID] = place{n, k}
	}
}
