package kernel

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"harness"
	"harness/health"
)

// healthOf is the health of a session at s, if it is kept with it, and that of
// one of which nothing is known otherwise.
func healthOf(s *harness.State) *health.Fold {
	if f, ok := health.Of(s); ok {
		return f
	}
	return health.New(nil)
}

// copy is the state, for somebody else to have, with the session's health.
func (m *machine) copy() *harness.State {
	st := m.state.Clone()
	st.SetAside(m.health.Clone())
	return st
}

// examine folds a session's health from its log, up to a position: what a
// snapshot of another version, or of before there was any, has to be helped
// with.
func (k *Kernel) examine(ctx context.Context, id harness.SessionID, at harness.Seq) (*health.Fold, error) {
	f := health.New(nil)
	for e, err := range k.store.Read(ctx, id, 0) {
		if err != nil {
			return nil, err
		}
		if e.Seq > at {
			break
		}
		f.Apply(e)
	}
	return f, nil
}

// summary is the session's row in lists.
func (m *machine) summary() harness.Summary {
	sum := m.state.Summary()
	m.health.Rate(&sum)
	return sum
}

// pulseAt is when time alone will change the health of the running turn.
func (m *machine) pulseAt() time.Time {
	if t := m.state.Turn; m.engine == "" || m.holding || t == nil || t.Cancelling || m.keep.ending != nil {
		return time.Time{}
	}
	return m.health.Next()
}

// pulse writes into the log that time has passed, so that the log alone tells
// how the session is.
func (m *machine) pulse(now time.Time) {
	if at := m.pulseAt(); !at.IsZero() && !now.Before(at) {
		m.stage(now, &harness.SessionState{LastHeartbeatAt: new(now.UTC().Truncate(time.Millisecond))})
	}
}

// held reports whether the open turn waits for the health policy.
func (m *machine) held() bool {
	return m.state.Status == harness.Paused || m.question() >= 0
}

// question is the index of the policy's question, or -1.
func (m *machine) question() int {
	return slices.IndexFunc(m.state.Pending, func(a harness.Approval) bool { return a.Tool == harness.HealthTool })
}

// enforce stops a running turn that has crossed a limit of the session's health
// policy: it asks, or pauses the session. What the turn's engine does next is
// not taken any more.
func (m *machine) enforce(now time.Time) {
	t := m.state.Turn
	if m.dead || m.draining || t == nil || t.Cancelling || m.keep.ending != nil || m.held() {
		return
	}
	if m.state.Status != harness.Running && m.state.Status != harness.Recovering {
		return
	}
	over, ok := m.health.Exceeded()
	if !ok {
		return
	}
	action := m.health.Action()
	at := &harness.Enforcement{Budget: over.Budget, Threshold: over.Threshold, Observed: over.Observed}
	m.stage(now, &harness.PolicyDecision{
		Subject: harness.HealthTool, Outcome: string(action), Reason: over.Text, Source: "health", PolicyPath: "policy.health." + over.Budget,
		PermissionMode: m.state.Config.PermissionMode, ApprovalMode: approvalMode(m.state.Config.PermissionMode),
	})
	if action == harness.PauseSession {
		m.stage(now, &harness.SessionState{Status: harness.Paused, Reason: "budget", Policy: &harness.SessionPolicy{Enforcement: at}})
	} else {
		m.askBudget(now, at, over.Text)
	}
	m.standStill(now)
}

// askBudget asks whether the turn may go on.
func (m *machine) askBudget(now time.Time, at *harness.Enforcement, reason string) {
	input, err := json.Marshal(at)
	if err != nil {
		panic("kernel: encode a limit that was crossed: " + err.Error())
	}
	id := harness.ApprovalAt(m.state.Session, m.state.Seq+1)
	req := &harness.ApprovalRequired{
		RequestID: id, ToolName: harness.HealthTool, ToolCallID: harness.CallID("policy:" + id), Reason: reason,
		Description: "May the session go on? " + reason, Input: input, Digest: harness.Digest(input),
	}
	if m.approvalTimeout > 0 {
		req.Deadline = new(now.Add(m.approvalTimeout).UTC())
	}
	m.stage(now, req)
	m.tellWork(now)
}

// standStill ends the run of the open turn, which goes on later with another.
func (m *machine) standStill(now time.Time) {
	t := m.state.Turn
	waiting := m.keep.held
	m.keep.held = nil
	words := m.unsaid()
	began := !m.takeBack(t.ID)
	for _, e := range waiting {
		switch e := e.(type) {
		case start:
			began = false
		case steer:
			words = append(words, e.word)
		case decide:
			m.then(decide{to: e.to, err: harness.ErrNotRunning})
		}
	}
	if m.engine == "" || !began {
		m.engine, m.cancelBy = "", time.Time{}
		m.closeCalls(now, heldCalls)
		m.enqueue(now, words)
		return
	}
	for call, to := range m.asks {
		delete(m.asks, call)
		m.then(decide{to: to.from, err: harness.ErrNotRunning})
	}
	m.enqueue(now, words)
	m.holding, m.cancelBy = true, now.Add(m.cancelGrace)
	m.then(stop{t.ID, true})
}

// heldCalls is why calls end that were open when a turn was held.
const heldCalls = "held"

// takeBack forgets the start of a turn's engine, if it has not been carried out.
func (m *machine) takeBack(id harness.TurnID) bool {
	found := false
	for _, b := range []*batch{&m.flight, &m.batch} {
		b.effects = slices.DeleteFunc(b.effects, func(e effect) bool {
			s, ok := e.(start)
			ok = ok && s.turn.ID == id
			found = found || ok
			return ok
		})
	}
	return found
}

// stopped sees to a held turn whose engine is gone.
func (m *machine) stopped(now time.Time, unread []harness.Word) {
	m.closeCalls(now, heldCalls)
	m.enqueue(now, unread)
	if !m.held() && !m.draining {
		m.goAhead(now)
	}
}

// overtaken sees to a pause that came when the engine was just done: it holds
// for what comes next.
func (m *machine) overtaken(now time.Time) {
	if m.state.Status == harness.Paused && !m.state.Queues() {
		m.stage(now, &harness.SessionState{PauseRequested: new(true)})
	}
}

// goOn lets a turn go on that the policy has paused.
func (m *machine) goOn(now time.Time, key string) harness.Seq {
	if m.state.Queues() {
		return m.getInLine(now, harness.SessionState{ClientKey: key})
	}
	seq := m.stage(now, &harness.SessionState{Status: harness.Running, ClientKey: key})
	if m.engine == "" && m.keep.ending == nil && !m.draining {
		m.again(now, true)
	}
	return seq
}

// raised lets a held turn go on if the new policy has nothing against it.
func (m *machine) raised(now time.Time, actor string) {
	if _, over := m.health.Exceeded(); over || m.state.Turn == nil || m.state.Turn.Cancelling {
		return
	}
	if i := m.question(); i >= 0 {
		m.apply(now, m.state.Pending[i], harness.Decision{
			Verdict: harness.Allow, Scope: harness.Once, Reason: "the limit was raised", Actor: actor, Source: harness.ByPolicy,
		}, "")
		m.proceed(now)
	}
	if m.state.Status == harness.Paused {
		m.goOn(now, "")
	}
}

// refuseBudget ends a turn that may not go on.
func (m *machine) refuseBudget(now time.Time, a harness.Approval, actor string) {
	switch t := m.state.Turn; {
	case a.Tool != harness.HealthTool || t == nil || t.Cancelling:
	case m.engine == "":
		m.endTurn(now, harness.TurnCancelled, "budget")
	default:
		m.overspent = true
		m.beginCancel(now, actor, "")
	}
}
