package rpc

import (
	"encoding/json"

	"harness"
)

// note is a notification: a method and its params. Params is a struct of
// wire.go, so that the order of fields is ours.
type note struct {
	method string
	params any
	seq    harness.Seq
	ms     int64 // when it happened
}

// projector turns a thread's events into notifications. It is pure: the same
// events from the same state give the same notes, whether they are live or read
// again. Its memory is the state's and what the state does not carry of the
// open turn.
type projector struct {
	st      *harness.State
	begun   map[harness.ItemID]bool   // items whose item.started was told
	ended   map[harness.ItemID]bool   // items whose item.completed was told
	tools   map[harness.CallID]tool   // calls of the open turn
	results map[harness.CallID]string // results of calls without an outcome
	usage   *harness.Usage            // of the open turn
}

type tool struct {
	item harness.ItemID
	name string
}

// newProjector starts at st, which it owns from then on.
func newProjector(st *harness.State) *projector {
	p := &projector{st: st}
	p.clear()
	if t := st.Turn; t != nil {
		for _, m := range st.Messages[min(len(st.Messages), max(0, t.First-st.Sealed)):] {
			if m.Role == harness.Assistant && (m.Content.Len() > 0 || m.Reasoning.Len() > 0) {
				p.begun[m.ID] = true
			}
		}
		for _, o := range t.Open {
			p.tools[o.ID] = tool{o.Item, o.Name}
		}
	}
	return p
}

func (p *projector) clear() {
	p.begun = map[harness.ItemID]bool{}
	p.ended = map[harness.ItemID]bool{}
	p.tools = map[harness.CallID]tool{}
	p.results = map[harness.CallID]string{}
	p.usage = nil
}

// project folds e and calls tell for each notification it makes.
func (p *projector) project(e harness.Event, tell func(note)) {
	before := p.st.Turn
	p.st.Apply(e)
	say := func(method string, params any) {
		tell(note{method, params, e.Seq, e.Time.UnixMilli()})
	}
	thread := p.st.Session
	start := func(item harness.ItemID, kind string, data any) {
		say("item.started", itemStarted{Item: item4{item, thread, e.Turn, kind, data}, Seq: e.Seq})
	}
	complete := func(item harness.ItemID, kind string, data any) {
		say("item.completed", itemCompleted{item, thread, e.Turn, kind, data, e.Seq})
	}
	assistant := func(item harness.ItemID) harness.ItemID {
		if item == "" && p.st.Turn != nil {
			item = p.st.Turn.Item
		}
		if !p.begun[item] {
			p.begun[item] = true
			start(item, "assistant_message", struct{}{})
		}
		return item
	}
	switch pl := e.Payload.(type) {
	case *harness.SessionState:
		if pl.SessionID != "" {
			say("thread.created", threadCreated{thread, p.st.Title, e.Seq})
		}
	case *harness.UserMessage:
		if pl.Source == harness.FromSteer && e.Turn != "" {
			start(pl.ItemID, "user_message", userData{pl.Parts, pl.Source})
			complete(pl.ItemID, "user_message", userData{pl.Parts, pl.Source})
		}
	case *harness.TurnStart:
		if before != nil && before.ID == pl.TurnID {
			break // another attempt at the same turn
		}
		p.clear()
		say("turn.started", turnStarted{pl.TurnID, thread, turnTime{Started: e.Time.UnixMilli()}, e.Seq})
		if prompt := p.st.Turn.Prompt; prompt.Item != "" {
			start(prompt.Item, "user_message", userData{prompt.Parts, ""})
			complete(prompt.Item, "user_message", userData{prompt.Parts, ""})
		}
	case *harness.Token:
		item := assistant(pl.ItemID)
		say("item.delta", itemDelta{ItemID: item, ThreadID: thread, TurnID: e.Turn, Type: "assistant_message", Delta: pl.Text, Seq: e.Seq})
	case *harness.Thinking:
		item := assistant(pl.ItemID)
		say("item.delta", itemDelta{ItemID: item, ThreadID: thread, TurnID: e.Turn, Type: "assistant_message", Delta: pl.Text, Reasoning: true, Seq: e.Seq})
	case *harness.Reflection:
		item := assistant(pl.ItemID)
		say("item.delta", itemDelta{ItemID: item, ThreadID: thread, TurnID: e.Turn, Type: "assistant_message", Delta: pl.Text, Reasoning: true, Seq: e.Seq})
	case *harness.Response:
		item := assistant(pl.ItemID)
		if !p.ended[item] {
			p.ended[item] = true
			complete(item, "assistant_message", textData{pl.Text, pl.StopReason})
		}
	case *harness.ToolCall:
		p.tools[pl.ToolCallID] = tool{pl.ItemID, pl.Name}
		start(pl.ItemID, "tool_exec", toolData{CallID: pl.ToolCallID, Tool: pl.Name, Input: pl.Arguments, Status: "pending"})
	case *harness.ToolLog:
		t := p.tools[pl.ToolCallID]
		say("item.delta", itemDelta{ItemID: t.item, ThreadID: thread, TurnID: e.Turn, Type: "tool_log", Delta: pl.Text,
			Data: &logData{pl.ToolCallID, t.name, pl.Stream}, Seq: e.Seq})
	case *harness.ToolResult:
		p.results[pl.ToolCallID] = resultText(pl)
	case *harness.ToolOutcome:
		t := p.tools[pl.ToolCallID]
		output, ok := p.results[pl.ToolCallID]
		if !ok {
			output = p.shown(pl.ToolCallID)
		}
		delete(p.results, pl.ToolCallID)
		complete(t.item, "tool_exec", outcomeData(pl, output))
	case *harness.ApprovalRequired:
		start(harness.ItemID(pl.RequestID), "approval", approvalData{RequestID: pl.RequestID, CallID: pl.ToolCallID, Tool: pl.ToolName, Description: pl.Description, Input: pl.Input, Reason: pl.Reason})
		say("approval.requested", approvalRequested{
			RequestID: pl.RequestID, ThreadID: thread, TurnID: e.Turn, ItemID: harness.ItemID(pl.RequestID), Permission: pl.ToolName, Patterns: []string{},
			Metadata: approvalMeta{pl.Description, pl.Reason, pl.Input}, Tool: approvalTool{pl.ToolCallID, pl.ToolName}, Seq: e.Seq,
		})
	case *harness.ApprovalApplied:
		complete(harness.ItemID(pl.RequestID), "approval", replyData{pl.RequestID, replyWord(pl), pl.Decision, pl.Scope, pl.Reason, pl.Source})
	case *harness.Artifact:
		start(harness.ItemID(pl.ArtifactID), "artifact", pl)
		complete(harness.ItemID(pl.ArtifactID), "artifact", pl)
	case *harness.Usage:
		p.usage = pl
	case *harness.TurnEnd:
		p.end(e, pl, before, say)
	case *harness.Session, *harness.SessionCheckpoint, *harness.HookEvent, *harness.TurnStartTools, *harness.ToolBatch, *harness.ToolSelected,
		*harness.ToolValidationError, *harness.ContextWarning, *harness.ContextCompacted, *harness.StepProgress, *harness.Retrieval,
		*harness.Antahkarana, *harness.PolicyDecision, *harness.SandboxNotice, *harness.TransportDiagnostic, *harness.SubagentEvent,
		*harness.Rewound, *harness.Completed, *harness.Failure, *harness.HealthSnapshot, *harness.Unknown:
		// S4 has no word for these.
	}
}

// end tells how a turn ended.
func (p *projector) end(e harness.Event, pl *harness.TurnEnd, turn *harness.ActiveTurn, say func(string, any)) {
	done := e.Time.UnixMilli()
	t := turnEnded{TurnID: pl.TurnID, ThreadID: p.st.Session, Status: pl.Status, Reason: pl.Reason, Time: turnTime{Completed: &done}, Usage: p.usage, Seq: e.Seq}
	if turn != nil {
		t.Time.Started = turn.Started.UnixMilli()
	}
	p.clear()
	if pl.Status == harness.TurnCompleted {
		say("turn.completed", t)
		return
	}
	if pl.Status == harness.TurnError {
		t.Error = p.st.Error
	}
	say("turn.error", t)
}

// shown is the output of a call whose result was told before the projector
// began: the preview that the state keeps.
func (p *projector) shown(id harness.CallID) string {
	for _, m := range p.st.Messages {
		for _, c := range m.Calls {
			if c.ID == id {
				return c.Output.String()
			}
		}
	}
	return ""
}

func resultText(r *harness.ToolResult) string {
	if r.Output == "" && len(r.Result) > 0 {
		return string(r.Result)
	}
	return r.Output
}

// replyWord is a decision in S4's words.
func replyWord(a *harness.ApprovalApplied) string {
	switch {
	case a.Decision == harness.Deny:
		return "reject"
	case a.Scope == harness.Always, a.Scope == harness.InSession:
		return "always"
	default:
		return "once"
	}
}

func outcomeData(o *harness.ToolOutcome, output string) toolData {
	d := toolData{CallID: o.ToolCallID, Tool: o.ToolName, Status: o.Status, ElapsedMS: &o.ElapsedMS, ArtifactID: o.ArtifactID, Reason: o.Reason}
	switch o.Status {
	case harness.OutcomeOK, harness.OutcomeArtifact:
		if output == "" && len(o.Result) > 0 {
			output = string(o.Result)
		}
		d.Output = &output
	default:
		d.Error = o.Error
		if d.Error == "" {
			d.Error = o.Reason
		}
		if output != "" {
			d.Output = &output
		}
	}
	return d
}

// record is a notification as thread.get returns it: params, method, first
// timestamp.
func record(n note) json.RawMessage {
	b := encode(n.params)
	b = b[:len(b)-2] // "}\n"
	head, _ := json.Marshal(struct {
		Notification string `json:"notification"`
		Timestamp    int64  `json:"timestamp"`
	}{n.method, n.ms})
	if len(b) > 1 {
		b = append(b, ',')
	}
	return append(append(b, head[1:len(head)-1]...), '}')
}
