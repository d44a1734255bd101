package kernel

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"harness"
	"harness/policy"
)

// errGone says that the session ended under the caller's hands; the kernel
// tries again on a fresh load and never lets it out.
var errGone = errors.New("session is gone")

// command decides what a client's intent does now.
func (m *machine) command(now time.Time, r *ready, in commanded) {
	if err := m.room(in.cmd); err != nil {
		m.when(r, m.state.Seq, reply{to: in.from, err: err})
		return
	}
	var receipt harness.Receipt
	var err error
	switch c := in.cmd.(type) {
	case harness.Submit:
		receipt, err = m.submit(now, c)
	case harness.Steer:
		receipt, err = m.steer(now, c)
	case harness.Cancel:
		receipt, err = m.cancel(now, c)
	case harness.Answer:
		receipt, err = m.answer(now, c)
	case harness.Configure:
		receipt, err = m.configure(now, c)
	case harness.Pause:
		receipt, err = m.pause(now, c)
	case harness.Resume:
		receipt, err = m.resume(now, c)
	case harness.Rewind:
		var under bool
		if receipt, under, err = m.rewind(c, in.from); under {
			return // it is answered when it is done
		}
	}
	if err != nil { // it may rest on something that is not durable yet
		m.when(r, m.state.Seq, reply{to: in.from, err: err})
		return
	}
	m.when(r, receipt.Seq, reply{to: in.from, receipt: receipt})
}

func (m *machine) submit(now time.Time, c harness.Submit) (harness.Receipt, error) {
	if known, ok := m.state.Keyed(c.ClientKey); ok {
		return known, nil
	}
	if err := harness.CheckParts(c.Parts); err != nil {
		return harness.Receipt{}, err
	}
	if m.draining {
		return harness.Receipt{}, harness.ErrUnavailable
	}
	taking := m.keep.rewinding != nil
	busy := m.state.Turn != nil || len(m.state.Queue) > 0 || m.state.Status == harness.Paused || taking
	if busy {
		switch {
		case c.OnBusy != harness.Enqueue && c.OnBusy != harness.Interrupt:
			return harness.Receipt{}, harness.ErrBusy
		case len(m.state.Queue) >= m.maxQueue:
			return harness.Receipt{}, fmt.Errorf("%d prompts are waiting: %w", len(m.state.Queue), harness.ErrQueueFull)
		}
	}
	item := harness.ItemID(m.newID(harness.ItemPrefix))
	source := c.Source
	if source == "" {
		source = harness.FromSubmit
	}
	seq := m.stage(now, &harness.UserMessage{ItemID: item, Source: source, Parts: c.Parts, ClientKey: c.ClientKey, Actor: c.Actor})
	receipt := harness.Receipt{Seq: seq, Item: item}
	if busy && c.OnBusy == harness.Interrupt && m.state.Turn != nil {
		m.beginCancel(now, c.Actor, "")
	}
	if taking && m.state.Status != harness.Paused && m.state.Status != harness.Queued {
		m.stage(now, &harness.SessionState{Status: harness.Queued})
	}
	if !busy {
		m.next(now)
		if m.state.Turn != nil { // else it waits in line
			receipt.Turn = m.state.Turn.ID
		}
	}
	return receipt, nil
}

// maxSteers bounds what people can say to one turn: its messages stay in memory
// until it ends.
const maxSteers = 64

func (m *machine) steer(now time.Time, c harness.Steer) (harness.Receipt, error) {
	if known, ok := m.state.Keyed(c.ClientKey); ok {
		return known, nil
	}
	if err := harness.CheckParts(c.Parts); err != nil {
		return harness.Receipt{}, err
	}
	switch t := m.state.Turn; {
	case t == nil || t.Cancelling:
		return harness.Receipt{}, harness.ErrNotRunning
	case t.Steers >= maxSteers:
		return harness.Receipt{}, fmt.Errorf("the turn was spoken to %d times: %w", t.Steers, harness.ErrQueueFull)
	case m.keep.ending != nil:
		return harness.Receipt{}, fmt.Errorf("the turn is ending: %w", harness.ErrNotRunning)
	case m.holding:
		return harness.Receipt{}, fmt.Errorf("the turn is held by the health policy: %w", harness.ErrNotRunning)
	case m.engine == "":
		return harness.Receipt{}, fmt.Errorf("the turn waits for an approval since a restart: %w", harness.ErrNotRunning)
	}
	item := harness.ItemID(m.newID(harness.ItemPrefix))
	seq := m.stage(now, &harness.UserMessage{ItemID: item, Source: harness.FromSteer, Parts: c.Parts, ClientKey: c.ClientKey, Actor: c.Actor})
	m.speak(steer{m.state.Turn.ID, harness.Word{Item: item, Parts: c.Parts}})
	return harness.Receipt{Seq: seq, Turn: m.state.Turn.ID, Item: item}, nil
}

func (m *machine) cancel(now time.Time, c harness.Cancel) (harness.Receipt, error) {
	if known, ok := m.state.Keyed(c.ClientKey); ok {
		return known, nil
	}
	t := m.state.Turn
	switch {
	case c.Turn != "" && (t == nil || t.ID != c.Turn):
		return harness.Receipt{}, harness.ErrTurnNotFound
	case t == nil && m.state.Queues():
		return m.cancelWork(now, c)
	case t == nil:
		return harness.Receipt{}, harness.ErrNotRunning
	}
	seq := m.state.Seq
	switch {
	case !t.Cancelling:
		seq = m.beginCancel(now, c.Actor, c.ClientKey)
	case c.ClientKey != "": // so that its repetition never means the next turn
		seq = m.stage(now, &harness.HookEvent{Kind: harness.HookCancel, Actor: c.Actor, ClientKey: c.ClientKey})
	}
	return harness.Receipt{Seq: seq, Turn: t.ID}, nil
}

// beginCancel records that the turn is to end, answers what it waits for, and
// tells its engine. The turn ends when the engine has left nothing running.
func (m *machine) beginCancel(now time.Time, actor, key string) harness.Seq {
	t := m.state.Turn
	if t.Cancelling {
		return m.state.Seq
	}
	seq := m.stage(now, &harness.HookEvent{Kind: harness.HookCancel, Actor: actor, ClientKey: key})
	m.denyPending(now, "cancelled")
	if m.engine == "" {
		m.endTurn(now, harness.TurnCancelled, "user")
		return seq
	}
	m.cancelBy = now.Add(m.cancelGrace)
	m.then(stop{turn: t.ID})
	return seq
}

// denyPending answers every open approval, because nobody will act on it.
func (m *machine) denyPending(now time.Time, reason string) {
	for len(m.state.Pending) > 0 {
		m.apply(now, m.state.Pending[0], harness.Decision{Verdict: harness.Deny, Scope: harness.Once, Reason: reason, Source: harness.ByCascade}, "")
	}
}

// apply decides an approval, perhaps by a rule, and tells the engine that waits
// for it.
func (m *machine) apply(now time.Time, a harness.Approval, d harness.Decision, rule harness.RuleID) harness.Seq {
	d.Digest = a.Digest
	p := &harness.ApprovalApplied{
		RequestID: a.ID, ToolName: a.Tool, ToolCallID: a.Call,
		Decision: d.Verdict, Scope: d.Scope, Reason: d.Reason, Actor: d.Actor, Source: d.Source, Digest: d.Digest, RuleID: rule,
	}
	if d.Verdict == harness.Allow && d.Scope != harness.Once && rule == "" {
		p.Pattern = policy.Bind(m.state.Directory, a.Tool, a.Input)
	}
	seq := m.stage(now, p)
	if to, ok := m.asks[a.Call]; ok {
		delete(m.asks, a.Call)
		if t := m.state.Turn; t != nil && t.Cancelling { // it ends; it is not to go on with a denial
			m.then(decide{to: to.from, err: harness.ErrNotRunning})
		} else {
			m.tell(to, d)
		}
	}
	return seq
}

func (m *machine) answer(now time.Time, c harness.Answer) (harness.Receipt, error) {
	d := c.Decision
	if d.Scope == "" {
		d.Scope = harness.Once
	}
	if d.Source == "" {
		d.Source = harness.ByUser
	}
	if d.Verdict != harness.Allow && d.Verdict != harness.Deny {
		return harness.Receipt{}, fmt.Errorf("decision %q: %w", d.Verdict, harness.ErrInvalid)
	}
	if d.Scope != harness.Once && d.Scope != harness.InSession && d.Scope != harness.Always {
		return harness.Receipt{}, fmt.Errorf("scope %q: %w", d.Scope, harness.ErrInvalid)
	}
	c.Decision = d
	a, ok := m.state.Asked(c)
	if !ok {
		return harness.Receipt{Seq: m.state.Seq}, m.state.Answered(c)
	}
	switch {
	case d.Digest != "" && d.Digest != a.Digest:
		return harness.Receipt{}, fmt.Errorf("approval %s is about other arguments: %w", a.ID, harness.ErrNoApproval)
	case c.Approval == "" && d.Digest == "" && d.Verdict == harness.Allow && m.askedAgain(a):
		return harness.Receipt{}, fmt.Errorf("call %s is asked about again with other arguments; answer approval %s: %w", a.Call, a.ID, harness.ErrDecided)
	}
	if a.Redacted && d.Verdict == harness.Allow && d.Scope != harness.Once {
		return harness.Receipt{}, fmt.Errorf("approval %s: a part of the arguments is not shown, so it can be allowed once only: %w", a.ID, harness.ErrInvalid)
	}
	if a.Tool == harness.HealthTool { // it says nothing about the next time
		d.Scope = harness.Once
	}
	var rule harness.RuleID
	if d.Verdict == harness.Allow && d.Scope == harness.Always {
		rule = m.mint(now, a, d)
	}
	receipt := harness.Receipt{Seq: m.apply(now, a, d, rule)}
	if m.state.Turn != nil {
		receipt.Turn = m.state.Turn.ID
	}
	if d.Verdict == harness.Allow && d.Scope != harness.Once {
		m.cascade(now, d, rule)
	}
	if d.Verdict == harness.Deny {
		m.refuseBudget(now, a, d.Actor)
	}
	m.proceed(now)
	return receipt, nil
}

// askedAgain reports whether the turn has asked about the call before, with
// other arguments: who allows it by the call alone may mean those.
func (m *machine) askedAgain(a harness.Approval) bool {
	return m.state.Turn != nil && slices.ContainsFunc(m.state.Decided, func(d harness.Decided) bool {
		return d.Turn == m.state.Turn.ID && d.Call == a.Call && d.Decision.Digest != a.Digest
	})
}

// cascade releases other open approvals that are covered now that an answer has
// left an allowance behind.
func (m *machine) cascade(now time.Time, d harness.Decision, rule harness.RuleID) {
	d.Source, d.Reason = harness.ByCascade, "covered by another approval"
	rules := m.rules()
	for i := 0; i < len(m.state.Pending); {
		if a := m.state.Pending[i]; !a.Redacted && policy.Covered(m.policy, m.about(), m.state.Grants, rules, a.Tool, a.Input) {
			m.apply(now, a, d, rule)
			continue
		}
		i++
	}
}

func (m *machine) configure(now time.Time, c harness.Configure) (harness.Receipt, error) {
	if known, ok := m.state.Keyed(c.ClientKey); ok {
		return known, nil
	}
	if err := c.Patch.Check(); err != nil {
		return harness.Receipt{}, err
	}
	if c.Title != nil && len(*c.Title) > harness.MaxTitle {
		return harness.Receipt{}, fmt.Errorf("title: longer than %d bytes: %w", harness.MaxTitle, harness.ErrInvalid)
	}
	if err := harness.CheckRetries(c.MaxRetries); err != nil {
		return harness.Receipt{}, err
	}
	if c.Expires != nil && !m.state.Queues() {
		return harness.Receipt{}, fmt.Errorf("configure: only a session that works by itself expires: %w", harness.ErrInvalid)
	}
	if c.Patch.Empty() && c.Title == nil && c.MaxRetries == nil && c.Expires == nil {
		return harness.Receipt{}, fmt.Errorf("configure: nothing to change: %w", harness.ErrInvalid)
	}
	p := c.Patch
	change := &harness.SessionState{
		Title: c.Title, Model: p.Model, PermissionMode: p.PermissionMode, ThinkLevel: p.Effort, MaxTurns: p.MaxTurns, SystemPrompt: p.SystemPrompt, AgentProfile: p.Agent,
		MaxRetries: c.MaxRetries, ClientKey: c.ClientKey,
	}
	if c.Expires != nil {
		change.ExpiresAt = new(c.Expires.UTC().Truncate(time.Millisecond))
	}
	if p.PermissionMode != nil {
		change.ApprovalMode = approvalMode(*p.PermissionMode)
	}
	if p.Health != nil {
		change.Policy = &harness.SessionPolicy{Health: p.Health}
	}
	seq := m.stage(now, change)
	m.then(configure{m.state.Config})
	if p.Health != nil {
		m.raised(now, c.Actor)
	}
	return harness.Receipt{Seq: seq}, nil
}

// approvalMode is S3's word for whether a mode ever asks.
func approvalMode(mode harness.Mode) string {
	if mode == harness.FullAuto {
		return "never"
	}
	return "on_request"
}

func (m *machine) pause(now time.Time, c harness.Pause) (harness.Receipt, error) {
	if known, ok := m.state.Keyed(c.ClientKey); ok {
		return known, nil
	}
	if m.state.Queues() {
		return m.pauseWork(now, c)
	}
	seq := m.state.Seq
	switch held := m.state.Status == harness.Paused; {
	case (held || m.state.Pausing) && c.ClientKey == "":
	case !held && m.state.Turn != nil:
		seq = m.stage(now, &harness.SessionState{PauseRequested: new(true), ClientKey: c.ClientKey})
	default:
		seq = m.stage(now, &harness.SessionState{Status: harness.Paused, Reason: "user", ClientKey: c.ClientKey})
	}
	return harness.Receipt{Seq: seq}, nil
}

func (m *machine) resume(now time.Time, c harness.Resume) (harness.Receipt, error) {
	if known, ok := m.state.Keyed(c.ClientKey); ok {
		return known, nil
	}
	if m.state.Queues() {
		return m.resumeWork(now, c)
	}
	var seq harness.Seq
	switch {
	case m.state.Pausing:
		seq = m.stage(now, &harness.SessionState{PauseRequested: new(false), ClientKey: c.ClientKey})
	case m.state.Status == harness.Paused && m.state.Turn != nil:
		seq = m.goOn(now, c.ClientKey)
	case m.state.Status == harness.Paused:
		free := harness.Idle
		if len(m.state.Queue) > 0 {
			free = harness.Queued
		}
		seq = m.stage(now, &harness.SessionState{Status: free, ClientKey: c.ClientKey})
		m.next(now)
	default:
		return harness.Receipt{}, fmt.Errorf("the session is not paused: %w", harness.ErrInvalid)
	}
	return harness.Receipt{Seq: seq}, nil
}
