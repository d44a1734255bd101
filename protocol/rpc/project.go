package rpc

import (
	"harness"
)

// note is a notification: a method and its params. Params is a struct of
// wire.go, so that the order of fields is ours.
type note struct {
	method string
	params any
	ms     int64 // when it happened
}

// projector turns a thread's events into notifications. It is pure: the same
// events give the same notes, whether they are live or read again. Its memory
// is the state and what was told of the open turn; see projectorAt.
type projector struct {
	thread harness.SessionID
	st     *harness.State
	open   []harness.ItemID          // assistant items that were started and not completed
	ended  map[harness.ItemID]bool   // those that were completed
	tools  map[harness.CallID]tool   // calls of the open turn
	output map[harness.CallID]string // results of calls without an outcome
	usage  *usage                    // of the open turn
	began  int64                     // when the open turn began
}

type tool struct {
	item harness.ItemID
	name string
}

// newProjector starts at st, which is between turns, and owns it from then on.
func newProjector(thread harness.SessionID, st *harness.State) *projector {
	p := &projector{thread: thread, st: st}
	p.clear()
	return p
}

func (p *projector) clear() {
	p.open, p.ended = nil, map[harness.ItemID]bool{}
	p.tools = map[harness.CallID]tool{}
	p.output = map[harness.CallID]string{}
	p.usage = nil
}

// telling is one event on its way to the client.
type telling struct {
	*projector
	e    harness.Event
	tell func(note)
}

func (t telling) say(method string, params any) {
	t.tell(note{method, params, t.e.Time.UnixMilli()})
}

func (t telling) start(id harness.ItemID, kind string, data any) {
	t.say("item.started", itemStarted{Item: item{id, t.thread, t.e.Turn, kind, data}, Seq: t.e.Seq})
}

func (t telling) complete(turn harness.TurnID, id harness.ItemID, kind string, data any) {
	t.say("item.completed", itemCompleted{id, t.thread, turn, kind, data, t.e.Seq})
}

// whole tells an item that is complete from the beginning.
func (t telling) whole(id harness.ItemID, kind string, data any) {
	t.start(id, kind, data)
	t.complete(t.e.Turn, id, kind, data)
}

// delta tells a piece of an assistant's message.
func (t telling) delta(id harness.ItemID, text string, reasoning bool) {
	id = t.assistant(id)
	t.say("item.delta", itemDelta{ItemID: id, ThreadID: t.thread, TurnID: t.e.Turn, Type: "assistant_message", Delta: text, Reasoning: reasoning, Seq: t.e.Seq})
}

// project folds e and calls tell for each notification it makes.
func (p *projector) project(e harness.Event, tell func(note)) {
	t := telling{p, e, tell}
	before := p.st.Turn
	t.closing(before)
	p.st.Apply(e)
	switch pl := e.Payload.(type) {
	case *harness.SessionState:
		if pl.SessionID == p.thread { // a fork's history has its parent's beginning, too
			t.say("thread.created", threadCreated{p.thread, p.st.Title, e.Seq})
		}
	case *harness.UserMessage:
		if pl.Source == harness.FromSteer && e.Turn != "" {
			t.whole(pl.ItemID, "user_message", userData{asParts(pl.Parts), pl.Source})
		}
	case *harness.TurnStart:
		if before == nil || before.ID != pl.TurnID {
			t.begin(pl)
		}
	case *harness.Token:
		t.delta(pl.ItemID, pl.Text, false)
	case *harness.Thinking:
		t.delta(pl.ItemID, pl.Text, true)
	case *harness.Reflection:
		t.delta(pl.ItemID, pl.Text, true)
	case *harness.Response:
		if id := t.assistant(pl.ItemID); !p.ended[id] {
			t.finish(id, pl.Text, pl.StopReason)
		}
	case *harness.ToolCall:
		p.tools[pl.ToolCallID] = tool{pl.ItemID, pl.Name}
		t.start(pl.ItemID, "tool_exec", toolData{CallID: pl.ToolCallID, Tool: pl.Name, Input: pl.Arguments, Status: "pending"})
	case *harness.ToolLog:
		of := p.tools[pl.ToolCallID]
		t.say("item.delta", itemDelta{ItemID: of.item, ThreadID: p.thread, TurnID: e.Turn, Type: "tool_log", Delta: pl.Text,
			Data: &logData{pl.ToolCallID, of.name, pl.Stream}, Seq: e.Seq})
	case *harness.ToolResult:
		p.output[pl.ToolCallID] = resultText(pl)
	case *harness.ToolOutcome:
		output := p.output[pl.ToolCallID]
		delete(p.output, pl.ToolCallID)
		t.complete(e.Turn, p.tools[pl.ToolCallID].item, "tool_exec", outcomeData(pl, output))
		delete(p.tools, pl.ToolCallID)
	case *harness.ApprovalRequired:
		t.start(harness.ItemID(pl.RequestID), "approval", approvalData{RequestID: pl.RequestID, CallID: pl.ToolCallID, Tool: pl.ToolName, Description: pl.Description, Input: pl.Input, Reason: pl.Reason, Redacted: pl.Redacted})
		t.say("approval.requested", p.requested(p.st.Pending[len(p.st.Pending)-1], e.Turn))
	case *harness.ApprovalApplied:
		t.complete(e.Turn, harness.ItemID(pl.RequestID), "approval", replyData{pl.RequestID, replyWord(pl), pl.Decision, pl.Scope, pl.Reason, pl.Source, pl.RuleID})
	case *harness.Artifact:
		t.whole(harness.ItemID(pl.ArtifactID), "artifact", artifactData{pl.ArtifactID, pl.ArtifactType, pl.Title, pl.URI, pl.Size, pl.SHA256, pl.Metadata})
	case *harness.SubagentEvent:
		if pl.Status == harness.SubagentRunning && pl.Tally == nil {
			t.say("thread.spawned", threadSpawned{p.thread, harness.SessionID(pl.AgentID), pl.Task, e.Seq})
		}
	case *harness.Usage:
		p.usage = new(usage(*pl))
	case *harness.TurnEnd:
		t.end(pl)
	case *harness.Session, *harness.SessionCheckpoint, *harness.HookEvent, *harness.TurnStartTools, *harness.ToolBatch, *harness.ToolSelected,
		*harness.ToolValidationError, *harness.ContextWarning, *harness.ContextCompacted, *harness.StepProgress, *harness.Retrieval,
		*harness.Antahkarana, *harness.PolicyDecision, *harness.SandboxNotice, *harness.TransportDiagnostic,
		*harness.Rewound, *harness.Completed, *harness.Failure, *harness.HealthSnapshot, *harness.Unknown:
		// S4 has no word for these.
	}
}

// requested is a question that waits for its answer.
func (p *projector) requested(a harness.Approval, turn harness.TurnID) approvalRequested {
	return approvalRequested{
		RequestID: a.ID, ThreadID: p.thread, TurnID: turn, ItemID: harness.ItemID(a.ID), Permission: a.Tool, Patterns: []string{},
		Metadata: approvalMeta{a.Description, a.Reason, a.Input, a.Redacted}, Tool: approvalTool{a.Call, a.Tool}, Seq: a.Asked,
	}
}
