package kernel

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"harness"
	"harness/policy"
)

// next starts the first waiting prompt, if the session is free.
func (m *machine) next(now time.Time) {
	if m.state.Turn != nil || len(m.state.Queue) == 0 || m.state.Status == harness.Paused || m.draining || m.keep.rewinding != nil {
		return
	}
	if m.state.Queues() {
		if m.state.Course.Queued.IsZero() {
			m.getInLine(now, harness.SessionState{})
		}
		return
	}
	m.begin(now, harness.TurnID(m.newID(harness.TurnPrefix)), 1, m.state.Queue[0].Fresh, false)
}

// again starts the open turn's engine again: another try, or to go on with one
// that was stopped on purpose.
func (m *machine) again(now time.Time, continues bool) {
	t := m.state.Turn
	m.begin(now, t.ID, t.Attempt+1, t.Fresh, continues)
}

// goAhead goes on with a turn that was stopped on purpose, when there is a place
// for it.
func (m *machine) goAhead(now time.Time) {
	if m.state.Queues() {
		m.getInLine(now, harness.SessionState{})
		return
	}
	m.again(now, true)
}

func (m *machine) begin(now time.Time, id harness.TurnID, attempt int, fresh, continues bool) {
	if p := m.player; p.name != "" && (p.name != m.state.Engine || !p.lacks.Equal(m.state.Lacks)) {
		m.stage(now, &harness.SessionState{Engine: p.name, Lacks: p.lacks})
	}
	m.stage(now, &harness.TurnStart{
		TurnID: id, ItemID: harness.ItemID(m.newID(harness.ItemPrefix)), Attempt: attempt,
		Engine: m.state.Engine, Model: m.state.Config.Model, Fresh: fresh, Kept: m.keep.files, Continues: continues,
	})
	m.tellWork(now)
	m.engine, m.cancelBy, m.responded, m.overspent, m.curbed = id, time.Time{}, "", false, false
	if m.keep.asks {
		m.then(start{m.turn()})
	} else {
		m.hold(start{m.turn()})
	}
}

// turn is the open turn as an engine is asked to run it.
func (m *machine) turn() harness.Turn {
	t := m.state.Turn
	ref := m.state.EngineRef
	if t.Fresh && t.Attempt == 1 {
		ref = ""
	}
	return harness.Turn{
		Session: m.state.Session, ID: t.ID, Kind: m.state.Kind, Attempt: t.Attempt, Parts: t.Prompt.Parts, Fresh: t.Fresh,
		Directory: m.state.Directory, Ref: ref, Config: m.state.Config, Began: t.Began, Final: t.Tries > m.state.Retries,
	}
}

// follow goes on with a run that outlived the server.
func (m *machine) follow(now time.Time) {
	t := m.turn()
	t.Attached = m.state.Seq
	m.engine = t.ID
	m.then(start{t})
	if m.state.Turn.Cancelling {
		m.cancelBy = now.Add(m.cancelGrace)
		m.then(stop{turn: t.ID})
	}
}

// live reports whether a report of the engine concerns the turn it runs.
func (m *machine) live(id harness.TurnID) bool {
	return m.engine == id && m.state.Turn != nil && m.state.Turn.ID == id
}

// emit takes a fact from the engine, unless it would break a promise.
func (m *machine) emit(now time.Time, in emitted) {
	if !m.live(in.turn) {
		return
	}
	if (m.state.Turn.Cancelling || m.holding) && !closes(in.payload) && !m.concludes(in.payload) {
		return
	}
	m.followed = in.followed
	defer func() { m.followed = nil }()
	switch p := in.payload.(type) {
	case *harness.Token:
		if p.Text != "" {
			m.stage(now, &harness.Token{ItemID: m.item(now, p.ItemID), Text: p.Text})
		}
	case *harness.Thinking:
		if p.Text != "" {
			m.stage(now, &harness.Thinking{ItemID: m.item(now, p.ItemID), Text: p.Text})
		}
	case *harness.Reflection:
		m.stage(now, &harness.Reflection{ItemID: m.item(now, p.ItemID), Text: p.Text})
	case *harness.Response:
		text := p.Text
		if p.ItemID == "" && m.state.Split() { // the engine does not know where its message was cut
			text = ""
		}
		m.respond(now, m.item(now, p.ItemID), text, p.StopReason)
	case *harness.ToolCall:
		if p.ToolCallID == "" || len(p.ToolCallID) > harness.MaxID || m.state.Called(p.ToolCallID) {
			return
		}
		c := *p
		c.MessageID = m.item(now, p.MessageID)
		c.ItemID = harness.ItemID(m.newID(harness.ItemPrefix))
		m.stage(now, &c)
	case *harness.ToolLog:
		if _, ok := m.open(p.ToolCallID); ok && p.Text != "" {
			m.stage(now, p)
		}
	case *harness.ToolResult:
		if _, ok := m.open(p.ToolCallID); ok {
			m.stage(now, p)
		}
	case *harness.ToolOutcome:
		m.outcome(now, *p)
	case *harness.SubagentEvent:
		told := *p
		told.Tally = nil // the kernel counts by itself
		m.stage(now, &told)
	case *harness.SessionCheckpoint:
		told := *p
		if told.Sequence == 0 { // the engine does not know its place
			told.SessionID, told.Sequence = m.state.Session, int(m.state.Seq+1)
		}
		m.stage(now, &told)
	default:
		m.stage(now, in.payload)
	}
}

// closes reports whether a payload may still come after a cancel: it says how
// something that was under way ended.
func closes(p harness.Payload) bool {
	switch p.(type) {
	case *harness.ToolOutcome, *harness.ToolResult, *harness.Usage:
		return true
	}
	return false
}

// concludes reports whether a payload may still come because the turn is over: it
// sums it up, or tells what a hook said to that. A session that is full has no
// room for it.
func (m *machine) concludes(p harness.Payload) bool {
	if m.holding || m.curbed {
		return false
	}
	switch p := p.(type) {
	case *harness.HookEvent, *harness.Antahkarana:
		return true
	case *harness.Artifact:
		return p.ArtifactType == harness.ArtifactRunRecord || p.ArtifactType == harness.ArtifactTaskGraph
	}
	return false
}

// item is the assistant message that output goes to: the one the engine names,
// or the turn's current one, or after a steer a new one.
func (m *machine) item(now time.Time, named harness.ItemID) harness.ItemID {
	t := m.state.Turn
	if named == "" {
		named = t.Item
		if t.Steered {
			named = harness.ItemID(m.newID(harness.ItemPrefix))
		}
	}
	if named != t.Item {
		m.respond(now, t.Item, "", "")
	}
	return named
}

// respond records the whole text of an assistant message, once.
func (m *machine) respond(now time.Time, item harness.ItemID, text, stop string) {
	if text == "" {
		text = m.state.Said(item)
	}
	if text == "" || m.responded == item {
		return
	}
	m.responded = item
	m.stage(now, &harness.Response{ItemID: item, Text: text, StopReason: stop})
}

// open finds a call without an outcome.
func (m *machine) open(id harness.CallID) (harness.OpenCall, bool) {
	if m.state.Turn != nil {
		for _, o := range m.state.Turn.Open {
			if o.ID == id {
				return o, true
			}
		}
	}
	return harness.OpenCall{}, false
}

// outcome closes a call, unless it is closed already.
func (m *machine) outcome(now time.Time, p harness.ToolOutcome) {
	o, ok := m.open(p.ToolCallID)
	if !ok {
		return
	}
	if p.ElapsedMS == 0 {
		p.ElapsedMS = max(0, now.Sub(o.Started).Milliseconds())
	}
	if p.ToolName == "" {
		p.ToolName = o.Name
	}
	p.OutcomeType = harness.OutcomeType(p.Status)
	m.stage(now, &p)
}

// ask decides whether a call may run, by an earlier decision, by policy, or by
// asking people.
func (m *machine) ask(now time.Time, r *ready, in asked) {
	use, real := in.use, cmp.Or(in.real, &in.use)
	if !m.live(in.turn) || m.state.Turn.Cancelling || m.holding {
		r.effects = append(r.effects, decide{to: in.from, err: harness.ErrNotRunning})
		return
	}
	if use.Tool == harness.HealthTool || real.Tool == harness.HealthTool { // only the kernel asks about that
		r.effects = append(r.effects, decide{to: in.from, err: fmt.Errorf("ask about tool %q: %w", use.Tool, harness.ErrInvalid)})
		return
	}
	digest := harness.Digest(real.Input)
	for _, d := range m.state.Decided {
		if d.Turn == in.turn && d.Call == use.Call && d.Decision.Digest == digest {
			if m.unkept() {
				m.tell(question{in.from, use.Access}, d.Decision)
			} else {
				m.when(r, m.state.Seq, decide{to: in.from, decision: d.Decision})
			}
			return
		}
	}
	if _, ok := m.open(use.Call); !ok {
		r.effects = append(r.effects, decide{to: in.from, err: fmt.Errorf("ask about call %q, which is not open: %w", use.Call, harness.ErrInvalid)})
		return
	}
	if i := slices.IndexFunc(m.state.Pending, func(a harness.Approval) bool { return a.Call == use.Call }); i >= 0 {
		a := m.state.Pending[i]
		if a.Digest == digest {
			m.asks[use.Call] = question{in.from, use.Access}
			return
		}
		// Nobody may decide any more about what is no longer meant.
		m.apply(now, a, harness.Decision{Verdict: harness.Deny, Scope: harness.Once, Reason: "the arguments were changed", Source: harness.ByCascade}, "")
	}
	v := m.judge(in)
	m.stage(now, &harness.PolicyDecision{
		Subject: use.Tool, Outcome: string(v.Outcome), Reason: cmp.Or(v.Reason, "nothing allows it, so the mode asks"), Source: string(v.Source), PolicyPath: v.Rule,
		PermissionMode: m.state.Config.PermissionMode, ApprovalMode: approvalMode(m.state.Config.PermissionMode), ToolCallID: use.Call,
	})
	if v.Outcome != policy.Ask {
		d := harness.Decision{Verdict: harness.Verdict(v.Outcome), Scope: harness.Once, Reason: v.Reason, Source: harness.ByPolicy, Digest: digest}
		m.tell(question{in.from, use.Access}, d)
		return
	}
	req := &harness.ApprovalRequired{
		RequestID: harness.ApprovalAt(m.state.Session, m.state.Seq+1), ToolName: use.Tool, ToolCallID: use.Call,
		Description: use.Description, Reason: whyAsked(v, in), Input: use.Input, Digest: digest, Redacted: in.real != nil,
	}
	if wait := shorter(m.approvalTimeout, v.Wait); wait > 0 {
		req.Deadline = new(now.Add(wait).UTC())
	}
	m.asks[use.Call] = question{in.from, use.Access}
	m.stage(now, req)
	m.tellWork(now)
}

// checkpoint records the engine's reference and answers when it is durable.
func (m *machine) checkpoint(now time.Time, r *ready, in checkpointed) {
	if !m.live(in.turn) {
		r.effects = append(r.effects, reply{to: in.from, err: harness.ErrNotRunning})
		return
	}
	seq := m.stage(now, &harness.SessionCheckpoint{
		SessionID: m.state.Session, Sequence: int(m.state.Seq + 1), CheckpointType: "engine", Status: "saved", EngineRef: in.ref,
	})
	m.when(r, seq, reply{to: in.from, receipt: harness.Receipt{Seq: seq, Turn: in.turn}})
}

// ended sees to what follows the engine's return.
func (m *machine) ended(now time.Time, in ended) {
	if m.engine != in.turn {
		return // given up earlier
	}
	m.engine, m.cancelBy, m.keep.held = "", time.Time{}, nil
	clear(m.asks)
	held := m.holding
	m.holding = false
	t := m.state.Turn
	if t == nil || t.ID != in.turn {
		return
	}
	if in.leave && !t.Cancelling {
		m.leftOver(now, in)
		return
	}
	if held && in.err != nil && !t.Cancelling {
		m.stopped(now, append(in.unread, m.unsaid()...))
		return
	}
	unread := append(in.unread, m.unsaid()...)
	switch {
	case t.Cancelling && m.curbed:
		m.endTurn(now, harness.TurnError, fullCode)
	case t.Cancelling && m.overspent:
		m.endTurn(now, harness.TurnCancelled, "budget")
	case t.Cancelling:
		m.endTurn(now, harness.TurnCancelled, "user")
	case in.err == nil:
		m.overtaken(now)
		m.enqueue(now, unread)
		m.endTurn(now, harness.TurnCompleted, "")
	case in.retry && t.Tries <= m.state.Retries && m.state.Queues() && m.expired(now):
		m.closeCalls(now, "retry")
		m.enqueue(now, unread)
		m.expire(now)
	case in.retry && t.Tries <= m.state.Retries && m.state.Queues():
		m.closeCalls(now, "retry")
		m.enqueue(now, unread)
		m.retryLater(now, in.err.Error(), m.pauseBefore(t.Tries))
	case in.retry && t.Tries <= m.state.Retries && !m.draining:
		m.closeCalls(now, "retry")
		m.stage(now, &harness.SessionState{Status: harness.Recovering, Reason: "error", AttemptCount: t.Tries, LastError: in.err.Error()})
		m.again(now, false)
		for _, u := range unread {
			m.speak(steer{t.ID, u})
		}
	default:
		m.enqueue(now, unread)
		m.stage(now, &harness.Failure{Message: in.err.Error(), Code: "engine", Retryable: in.retry})
		m.endTurn(now, harness.TurnError, "error")
	}
}

// unsaid takes back the words that wait for their append: the engine they are
// meant for is gone.
func (m *machine) unsaid() []harness.Word {
	var words []harness.Word
	for _, b := range []*batch{&m.flight, &m.batch} {
		b.effects = slices.DeleteFunc(b.effects, func(e effect) bool {
			s, ok := e.(steer)
			if ok {
				words = append(words, s.word)
			}
			return ok
		})
	}
	return words
}

// enqueue makes words that the turn did not read the next prompts.
func (m *machine) enqueue(now time.Time, words []harness.Word) {
	for _, w := range words {
		m.stage(now, &harness.UserMessage{ItemID: w.Item, Source: harness.FromResume, Parts: w.Parts})
	}
}

// endTurn closes everything the turn left open and ends it, when its files are
// kept.
func (m *machine) endTurn(now time.Time, status, reason string) {
	if m.keep.ending != nil {
		return
	}
	m.denyPending(now, status)
	if status == harness.TurnCompleted {
		m.closeCalls(now, "")
	} else {
		m.closeCalls(now, status)
	}
	m.respond(now, m.state.Turn.Item, "", "")
	m.keep.held = nil
	end := ending{status, reason}
	if m.keep.marking == nil && !m.owes() {
		m.endNow(now, end)
		return
	}
	m.keep.ending = &end
	m.mark(harness.MarkAfter)
}

// endNow ends the turn and goes on to what waits.
func (m *machine) endNow(now time.Time, e ending) {
	m.keep.ending = nil
	m.stage(now, &harness.TurnEnd{TurnID: m.state.Turn.ID, Status: e.status, Reason: e.reason})
	switch {
	case m.state.Status.Terminal() && m.state.Queues():
		m.tellWork(now)
	case m.state.Pausing:
		m.stage(now, &harness.SessionState{Status: harness.Paused, Reason: "user", PauseRequested: new(false)})
	}
	m.next(now)
}

// closeCalls gives every open call that waits for no approval its outcome. An
// engine that reports only beginnings (S2) leaves calls open when it succeeds:
// those are ok.
func (m *machine) closeCalls(now time.Time, reason string) {
	waiting := make(map[harness.CallID]bool)
	for _, a := range m.state.Pending {
		waiting[a.Call] = true
	}
	for _, o := range append([]harness.OpenCall(nil), m.state.Turn.Open...) {
		switch {
		case waiting[o.ID]:
		case reason == "":
			m.outcome(now, harness.ToolOutcome{ToolCallID: o.ID, Status: harness.OutcomeOK})
		default:
			m.outcome(now, harness.ToolOutcome{ToolCallID: o.ID, Status: harness.OutcomeError, Reason: reason, Error: reason})
		}
	}
}

// recover sees to a turn that was open when the session was loaded: its engine
// is gone, unless its run outlived the server. Approvals stay, and are answerable, unless a rule has come to cover
// them.
func (m *machine) recover(now time.Time, alive bool) {
	t := m.state.Turn
	if t == nil {
		m.next(now)
		return
	}
	if m.engine != "" || m.draining { // the next start sees to it
		return
	}
	if alive {
		m.follow(now)
		return
	}
	if t.Cancelling {
		m.endTurn(now, harness.TurnCancelled, "user")
		return
	}
	m.closeCalls(now, "interrupted")
	released := m.release(now)
	switch {
	case m.state.Status == harness.Paused: // the turn waits to be resumed
	case m.state.Pausing && m.state.Queues():
		m.stage(now, &harness.SessionState{Status: harness.Paused, Reason: "user", PauseRequested: new(false)})
	case m.expired(now):
		m.expire(now)
	case len(m.state.Pending) > 0: // or for its answers
	case !m.state.Course.Queued.IsZero(): // or for a place
	case released:
		m.goAhead(now)
	case t.Tries <= m.state.Retries && m.state.Queues():
		m.retryLater(now, interrupted, 0)
	case t.Tries <= m.state.Retries:
		m.stage(now, &harness.SessionState{Status: harness.Recovering, Reason: "error", AttemptCount: t.Tries})
		m.again(now, false)
	default:
		m.stage(now, &harness.Failure{Message: interrupted, Code: "interrupted", Retryable: true})
		m.endTurn(now, harness.TurnError, "interrupted")
	}
}

// interrupted is what happened to a turn that was open without an engine.
const interrupted = "the server stopped while the turn was running"

// tick sees to deadlines.
func (m *machine) tick(now time.Time) {
	late := false
	for i := 0; i < len(m.state.Pending); {
		a := m.state.Pending[i]
		if a.Deadline != nil && !now.Before(*a.Deadline) {
			m.apply(now, a, harness.Decision{Verdict: harness.Deny, Scope: harness.Once, Reason: "nobody answered in time", Source: harness.ByTimeout}, "")
			late = true
			m.refuseBudget(now, a, "")
			continue
		}
		i++
	}
	if late {
		m.proceed(now)
	}
	if m.engine != "" && !m.cancelBy.IsZero() && !now.Before(m.cancelBy) {
		m.engine, m.cancelBy, m.keep.held = "", time.Time{}, nil
		clear(m.asks)
		held := m.holding
		m.holding = false
		switch t := m.state.Turn; {
		case t != nil && t.Cancelling:
			m.endTurn(now, harness.TurnCancelled, "abandoned")
		case t != nil && held: // another attempt could not be told from it
			m.enqueue(now, m.unsaid())
			m.stage(now, &harness.Failure{Message: "the engine did not stop when its turn was held", Code: "abandoned"})
			m.endTurn(now, harness.TurnError, "abandoned")
		}
	}
	m.pulse(now)
}
