package rpc

import (
	"maps"
	"slices"

	"harness"
)

// begin tells of a new turn and the prompt that it answers.
func (t telling) begin(pl *harness.TurnStart) {
	t.clear()
	t.began = t.e.Time.UnixMilli()
	t.say("turn.started", turnStarted{pl.TurnID, t.thread, turnTime{Started: t.began}, t.e.Seq})
	if prompt := t.st.Turn.Prompt; prompt.Item != "" {
		t.whole(prompt.Item, "user_message", userData{asParts(prompt.Parts), ""})
	}
}

// assistant makes sure that the message an output event belongs to was started.
func (t telling) assistant(id harness.ItemID) harness.ItemID {
	if id == "" && t.st.Turn != nil {
		id = t.st.Turn.Item
	}
	if !t.ended[id] && !slices.Contains(t.open, id) {
		t.open = append(t.open, id)
		t.start(id, "assistant_message", struct{}{})
	}
	return id
}

// finish tells the whole of a message.
func (t telling) finish(id harness.ItemID, text, stop string) {
	t.open = slices.DeleteFunc(t.open, func(o harness.ItemID) bool { return o == id })
	t.ended[id] = true
	t.complete(t.e.Turn, id, "assistant_message", assistantData{Text: text, StopReason: stop})
}

// closing completes, before e is folded, the messages that it leaves behind
// without a response: those of an attempt that another follows, and those of a
// turn that ends. A fork in the middle of a turn ends it for the new thread.
func (t telling) closing(turn *harness.ActiveTurn) {
	if turn == nil {
		return
	}
	switch pl := t.e.Payload.(type) {
	case *harness.TurnStart, *harness.TurnEnd:
		t.abandon()
	case *harness.SessionState:
		if pl.ParentSessionID == "" {
			return
		}
		t.e.Turn = turn.ID
		t.abandon()
		for _, id := range slices.SortedFunc(maps.Keys(t.tools), func(a, b harness.CallID) int { return t.order(a) - t.order(b) }) {
			t.complete(turn.ID, t.tools[id].item, "tool_exec", toolData{CallID: id, Tool: t.tools[id].name, Status: harness.OutcomeError, Error: forked, Reason: forked})
		}
		for _, a := range t.st.Pending {
			t.complete(turn.ID, harness.ItemID(a.ID), "approval", replyData{RequestID: a.ID, Reply: "reject", Decision: harness.Deny, Reason: forked, Source: harness.ByCascade})
		}
		t.ends(turn.ID, harness.TurnCancelled, forked, "")
	}
}

// forked is why what was under way in a thread does not go on in its fork.
const forked = "fork"

// order is a call's place among the open ones.
func (t telling) order(id harness.CallID) int {
	return slices.IndexFunc(t.st.Turn.Open, func(o harness.OpenCall) bool { return o.ID == id })
}

// abandon completes the messages that had no response with what they said.
func (t telling) abandon() {
	for _, id := range slices.Clone(t.open) {
		t.finish(id, t.st.Said(id), "")
	}
}

// end tells how a turn ended.
func (t telling) end(pl *harness.TurnEnd) {
	failure := ""
	if pl.Status == harness.TurnError {
		failure = t.st.Error
	}
	t.ends(pl.TurnID, pl.Status, pl.Reason, failure)
}

func (t telling) ends(id harness.TurnID, status, reason, failure string) {
	ended := turnEnded{
		TurnID: id, ThreadID: t.thread, Status: status, Error: failure, Reason: reason,
		Time: turnTime{t.began, new(t.e.Time.UnixMilli())}, Usage: t.usage, Seq: t.e.Seq,
	}
	t.clear()
	if status == harness.TurnCompleted {
		t.say("turn.completed", ended)
		return
	}
	t.say("turn.error", ended)
}

// underWay is the open turn as far as it has come, or nil.
func (p *projector) underWay() *turn {
	st := p.st
	if st.Turn == nil {
		return nil
	}
	o := &turn{TurnID: st.Turn.ID, ThreadID: p.thread, Status: "running", Time: turnTime{Started: p.began}, Items: []item{}}
	add := func(id harness.ItemID, kind string, data any) {
		o.Items = append(o.Items, item{id, p.thread, st.Turn.ID, kind, data})
	}
	if prompt := st.Turn.Prompt; prompt.Item != "" {
		add(prompt.Item, "user_message", userData{asParts(prompt.Parts), ""})
	}
	for _, m := range st.Messages[min(len(st.Messages), max(0, st.Turn.First-st.Sealed)):] {
		if m.Role == harness.Assistant && (slices.Contains(p.open, m.ID) || p.ended[m.ID]) {
			add(m.ID, "assistant_message", assistantData{Text: m.Content.String(), Reasoning: m.Reasoning.String()})
		}
		for _, c := range m.Calls {
			if of, open := p.tools[c.ID]; open {
				add(of.item, "tool_exec", toolData{CallID: c.ID, Tool: c.Name, Input: c.Input, Status: "running", Output: preview(c)})
			}
		}
	}
	for _, a := range st.Pending {
		add(harness.ItemID(a.ID), "approval", approvalData{a.ID, a.Call, a.Tool, a.Description, a.Input, a.Reason, a.Redacted})
	}
	return o
}

// preview is what a call has printed so far, as far as it is kept.
func preview(c *harness.Call) *string {
	if c.Output.Len() == 0 {
		return nil
	}
	return new(c.Output.String())
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
