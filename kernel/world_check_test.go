package kernel

import (
	"slices"
	"strings"

	"harness"
	"harness/health"
	"harness/policy"
)

// checkHealth: what the machine thinks of the session is what its log tells.
func (w *world) checkHealth() {
	if w.flight != nil || len(w.m.batch.drafts) > 0 {
		return
	}
	told := health.New(nil)
	for _, e := range w.log {
		told.Apply(e)
	}
	if got, want := string(w.m.health.AppendJSON(nil)), string(told.AppendJSON(nil)); got != want {
		w.failf("the machine's health is\n%s\nthe log's\n%s", got, want)
	}
}

// checkReleased: no question is left that a rule answers, once the machine has
// looked at the rules.
func (w *world) checkReleased() {
	for _, a := range w.m.state.Pending {
		if rule, ok := policy.Covering(nil, w.m.about(), w.book, a.Tool, a.Input); ok && !w.rung {
			w.failf("%s is pending, though %s stands", a.ID, rule.ID)
		}
	}
}

// checkAlways: whoever was told that a tool is always allowed can rely on it
// until the rule is revoked, and the log says which rule that is.
func (w *world) checkAlways(at harness.Receipt, cmd harness.Command) {
	a, ok := cmd.(harness.Answer)
	if !ok || a.Decision.Verdict != harness.Allow || a.Decision.Scope != harness.Always {
		return
	}
	p, ok := w.log[at.Seq-1].Payload.(*harness.ApprovalApplied)
	if !ok || p.Scope != harness.Always {
		return // it said again what was decided earlier
	}
	stands := slices.ContainsFunc(w.book, func(r harness.Rule) bool { return r.ID == p.RuleID && r.Tool == p.ToolName })
	if w.ruling() != (p.RuleID != "") || w.ruling() && !stands && !slices.Contains(w.gone, p.RuleID) {
		w.failf("always allowed by %q, which does not stand: %v", p.RuleID, w.book)
	}
}

// checkPending: an approval that is durable and undecided is still pending.
func (w *world) checkPending() {
	open := map[harness.ApprovalID]bool{}
	for _, e := range w.log {
		switch p := e.Payload.(type) {
		case *harness.ApprovalRequired:
			open[p.RequestID] = true
		case *harness.ApprovalApplied:
			if !open[p.RequestID] {
				w.failf("approval %s decided twice or never asked", p.RequestID)
			}
			delete(open, p.RequestID)
		}
	}
	st := fold(w.log)
	for _, a := range st.Pending {
		delete(open, a.ID)
	}
	if len(open) > 0 {
		w.failf("approvals were forgotten: %v", open)
	}
}

func (w *world) checkLog() {
	w.checkPending()
	w.checkMarks()
	ends := map[harness.TurnID]int{}
	outcomes := map[string]int{}
	begun := map[string]bool{}
	var turns []harness.TurnID
	for i, e := range w.log {
		if int(e.Seq) != i+1 {
			w.failf("event %d has seq %d", i+1, e.Seq)
		}
		call := func(id harness.CallID) string { return string(e.Turn) + "/" + string(id) }
		if e.Turn != "" && ends[e.Turn] > 0 {
			w.failf("event %d (%s) after the end of its turn", e.Seq, e.Type())
		}
		switch p := e.Payload.(type) {
		case *harness.TurnStart:
			if p.Attempt == 1 {
				turns = append(turns, p.TurnID)
			}
		case *harness.TurnEnd:
			ends[p.TurnID]++
		case *harness.ToolCall:
			begun[call(p.ToolCallID)] = true
		case *harness.ToolOutcome:
			if outcomes[call(p.ToolCallID)]++; outcomes[call(p.ToolCallID)] > 1 || !begun[call(p.ToolCallID)] {
				w.failf("event %d: call %s has %d outcomes, begun %v", e.Seq, p.ToolCallID, outcomes[call(p.ToolCallID)], begun[call(p.ToolCallID)])
			}
		}
	}
	st := fold(w.log)
	for _, id := range turns {
		if ends[id] == 0 && (st.Turn == nil || st.Turn.ID != id) {
			w.failf("turn %s never ended", id)
		}
	}
	for c := range begun {
		if turn, _, _ := strings.Cut(c, "/"); outcomes[c] == 0 && ends[harness.TurnID(turn)] > 0 {
			w.failf("call %s has no outcome", c)
		}
	}
	w.checkWork()
	if st.Turn != nil && len(st.Pending) == 0 && (st.Status != harness.Paused || w.bounds(1) == nil && !w.alone()) {
		w.failf("at rest in turn %s without a question", st.Turn.ID)
	}
	if st.Turn == nil && len(st.Pending) > 0 {
		w.failf("a question is left without a turn")
	}
	want := string(st.JSON())
	unsealed := w.m.state.Clone()
	if unsealed.Sealed == 0 {
		if got := string(unsealed.JSON()); got != want {
			w.failf("the machine's state is not the fold of its log\ngot  %s\nwant %s", got, want)
		}
	}
	for _, wt := range w.watchers {
		if wt.state.Sealed > 0 {
			continue
		}
		if got := string(wt.state.JSON()); got != want {
			w.failf("a watcher's state is not the fold of the log\ngot  %s\nwant %s", got, want)
		}
	}
	for _, a := range w.acked {
		w.checkAck(a)
	}
}

// checkAck: what was acknowledged is in the log, once.
func (w *world) checkAck(a ack) {
	key, parts := "", 0
	switch c := a.cmd.(type) {
	case harness.Submit:
		key = c.ClientKey
	case harness.Steer:
		key = c.ClientKey
	case harness.Rewind:
		p, ok := w.log[a.receipt.Seq-1].Payload.(*harness.Rewound)
		if !ok && c.ClientKey == "" || ok && c.ClientKey == "" && (p.DryRun != c.DryRun || p.ItemID != a.receipt.Item) {
			w.failf("acknowledged %+v as %+v", a.cmd, w.log[a.receipt.Seq-1].Payload)
		}
		return
	case harness.Answer:
		return
	default:
		return
	}
	if a.receipt.Item == "" {
		w.failf("acknowledged without an item: %+v", a.cmd)
	}
	keyed := 0
	for _, e := range w.log {
		if u, ok := e.Payload.(*harness.UserMessage); ok {
			if u.ItemID == a.receipt.Item {
				parts++
			}
			if key != "" && u.ClientKey == key {
				keyed++
			}
		}
	}
	if parts == 0 || keyed > 1 {
		w.failf("acknowledged %+v: %d messages in the log, %d under its key", a.cmd, parts, keyed)
	}
}
