package harness

import (
	"cmp"
	"slices"
	"time"
)

// Apply folds one event into the state. It is the only way a state changes,
// it is total (no event can make it fail), and its cost does not grow with the
// history.
func (s *State) Apply(e Event) {
	if s.Seq == 0 {
		s.Session, s.Created, s.Status, s.Kind = e.Session, e.Time, Idle, Chat
		s.Config.PermissionMode = Normal
	}
	if e.Session != s.Session {
		s.Bytes = 0 // its parent's
	}
	s.Session, s.Seq, s.Updated = e.Session, e.Seq, e.Time
	s.Bytes += e.Stored()
	if e.Followed != nil && s.Turn != nil && s.Turn.ID == e.Turn {
		s.Turn.Followed = e.Followed
	}
	switch p := e.Payload.(type) {
	case *SessionState:
		s.applySession(p)
		s.applyCourse(e, p)
		s.key(Key{Key: p.ClientKey, Seq: e.Seq})
	case *UserMessage:
		s.applyUser(e, p)
	case *TurnStart:
		s.applyTurnStart(e, p)
	case *Token:
		if m := s.output(p.ItemID); m != nil {
			m.Status = MessageStreaming
			m.Content.Append(p.Text)
		}
	case *Response:
		if m := s.output(p.ItemID); m != nil && !m.Content.Is(p.Text) {
			m.Status, m.Content = MessageStreaming, NewText(p.Text)
		}
	case *Thinking:
		s.think(p.ItemID, p.Text)
	case *Reflection:
		s.think(p.ItemID, p.Text)
	case *ToolCall:
		s.applyToolCall(e, p)
	case *ToolLog:
		if c := s.openCall(p.ToolCallID); c != nil {
			c.log(p.Text)
		}
	case *ToolResult:
		if c := s.openCall(p.ToolCallID); c != nil {
			c.result(p.Output)
		}
	case *ToolOutcome:
		s.applyOutcome(p)
	case *ApprovalRequired:
		s.applyAsk(e, p)
	case *ApprovalApplied:
		s.applyAnswer(p)
	case *SessionCheckpoint:
		s.applyCheckpoint(e, p)
	case *ContextCompacted:
		s.point(AtCompaction, e, "", p.Summary)
	case *SubagentEvent:
		s.applySubagent(e, p)
	case *Artifact:
		s.applyArtifact(e, p)
	case *SandboxNotice:
		s.applySandbox(p)
	case *PolicyDecision:
		set(&s.Course.PolicyPath, p.PolicyPath)
	case *TransportDiagnostic:
		set(&s.Course.Provider, p.ProviderActual)
	case *HookEvent:
		if p.Kind == HookCancel && s.Turn != nil {
			s.Turn.Cancelling = true
			s.key(Key{Key: p.ClientKey, Seq: e.Seq, Turn: s.Turn.ID})
		}
	case *Rewound:
		s.Rewound = p.Cut(rewoundShown)
		s.key(Key{Key: p.ClientKey, Seq: e.Seq, Item: p.ItemID})
	case *Failure:
		s.Error, s.Course.LastError = p.Message, p.Message
	case *TurnEnd:
		s.applyTurnEnd(e, p)
	case *Session, *TurnStartTools, *ToolBatch, *ToolSelected, *ToolValidationError, *ContextWarning, *StepProgress, *Usage, *Retrieval, *Antahkarana,
		*Completed, *HealthSnapshot, *Unknown:
		// Facts that the state does not carry.
	}
}

// HookCancel is the kind of the hook_event that records a cancel before the
// engine has stopped, so that a crash in between cannot forget it.
const HookCancel = "cancel_requested"

func (s *State) applySession(p *SessionState) {
	set(&s.Kind, p.Kind)
	set(&s.User, p.UserID)
	set(&s.Directory, p.Directory)
	if p.Engine != "" {
		s.Engine, s.Lacks = p.Engine, p.Lacks
	}
	setp(&s.Title, p.Title)
	setp(&s.Config.Model, p.Model)
	setp(&s.Config.PermissionMode, p.PermissionMode)
	setp(&s.Config.Effort, p.ThinkLevel)
	setp(&s.Config.MaxTurns, p.MaxTurns)
	setp(&s.Config.SystemPrompt, p.SystemPrompt)
	setp(&s.Config.Agent, p.AgentProfile)
	setp(&s.Retries, p.MaxRetries)
	setp(&s.Pausing, p.PauseRequested)
	if p.SpawnedBy != "" {
		s.SpawnedBy, s.Depth = p.SpawnedBy, p.Depth
	}
	if p.ParentSessionID != "" {
		s.branch()
		s.From = &Branch{Session: p.ParentSessionID, Cursor: p.BranchResumeCursor}
		if _, seq, err := ParseEventID(p.BranchSourceEventID); err == nil {
			s.From.Seq = seq
		}
	}
	if p.Status != "" {
		s.Status, s.Reason = p.Status, p.Reason
	}
}

// branch makes the state that was reached in another session the beginning of
// this one: the conversation stays, what was under way there does not.
func (s *State) branch() {
	if s.Turn != nil {
		for _, o := range s.Turn.Open {
			if c := s.calls[o.ID]; c != nil {
				c.Status = CallError
			}
		}
		s.closeMessages()
	}
	for i, agents := 0, s.Trail().Subagents; i < len(agents); i++ {
		if a := &agents[i].Payload; a.Status == SubagentRunning {
			a.Status = SubagentCancelled
		}
	}
	s.Turn, s.calls, s.Queue, s.Pending, s.Decided, s.Keys = nil, nil, nil, nil, nil, nil
	s.Status, s.Reason, s.Error, s.Pausing = Idle, "", "", false
	s.branchCourse()
}

func set[T comparable](dst *T, v T) {
	var zero T
	if v != zero {
		*dst = v
	}
}

func setp[T any](dst *T, v *T) {
	if v != nil {
		*dst = *v
	}
}

func (s *State) applyUser(e Event, p *UserMessage) {
	text := PlainText(p.Parts)
	if p.Source == FromSteer && s.Turn != nil {
		s.Turn.Steers++
		if m := s.find(s.Turn.Item); m != nil && (m.Content.Len() > 0 || len(m.Calls) > 0) {
			s.Turn.Steered = true
		}
	}
	if !s.said(p.ItemID) {
		s.Messages = append(s.Messages, &Message{ID: p.ItemID, Role: User, Content: NewText(text), Status: MessageComplete})
	}
	key := Key{Key: p.ClientKey, Seq: e.Seq, Item: p.ItemID}
	if p.Source == FromSteer {
		key.Turn = e.Turn
	} else {
		s.Queue = append(s.Queue, Prompt{Item: p.ItemID, Parts: p.Parts, Fresh: p.Source == FromSubmit})
	}
	s.key(key)
	if s.Title == "" {
		s.Title = firstLine(text, 80)
	}
}

// key remembers that a command was accepted under a client's key, if it had one.
func (s *State) key(k Key) {
	if k.Key != "" {
		s.Keys = remember(s.Keys, k, MaxKeys)
	}
}

// said reports whether a user message of the active turn has this id: a steer
// that came too late for its turn is queued under its own id.
func (s *State) said(id ItemID) bool {
	return slices.ContainsFunc(s.current(), func(m *Message) bool { return m.ID == id && m.Role == User })
}

// remember appends to a bounded memory.
func remember[T any](list []T, v T, limit int) []T {
	if len(list) >= limit {
		list = slices.Delete(list, 0, len(list)-limit+1)
	}
	return append(list, v)
}

func firstLine(s string, limit int) string {
	for i, r := range s {
		if r == '\n' || i >= limit {
			return s[:i]
		}
	}
	return s
}

func (s *State) applyTurnStart(e Event, p *TurnStart) {
	t := &ActiveTurn{ID: p.TurnID, Attempt: p.Attempt, Engine: p.Engine, Fresh: p.Fresh, Item: p.ItemID, Started: e.Time, Began: e.Seq}
	if s.Turn != nil && s.Turn.ID == p.TurnID { // another attempt
		t.Prompt, t.First, t.Open, t.Began, t.Marked = s.Turn.Prompt, s.Turn.First, s.Turn.Open, s.Turn.Began, s.Turn.Marked
		t.Tries, t.Queued = s.Turn.Tries, s.Turn.Queued
		if !p.Continues {
			t.Tries++
		}
		s.closeMessages()
		s.startCourse(e, t, true)
	} else {
		t.Tries = 1
		t.First = s.Count()
		s.calls = make(map[CallID]*Call)
		s.Turns++
		if len(s.Queue) > 0 {
			t.Prompt = s.Queue[0]
			s.Queue = slices.Delete(s.Queue, 0, 1)
			for i := range s.Keys {
				if s.Keys[i].Item == t.Prompt.Item {
					s.Keys[i].Turn = p.TurnID
				}
			}
		}
		s.startCourse(e, t, false)
	}
	s.Turn, s.Status, s.Reason, s.Error = t, Running, "", ""
	if len(s.Pending) > 0 {
		s.Status = AwaitingApproval
	}
	s.Messages = append(s.Messages, &Message{ID: p.ItemID, Role: Assistant, Status: MessagePending})
}

// closeMessages ends the assistant messages of the turn so far.
func (s *State) closeMessages() {
	for _, m := range s.current() {
		m.close()
	}
}

// output is the assistant message that an output event belongs to. One that
// names a new item, as after a steer, starts a new message.
func (s *State) output(id ItemID) *Message {
	if s.Turn == nil {
		return nil
	}
	if id == "" {
		id = s.Turn.Item
	}
	if id != s.Turn.Item {
		if m := s.find(id); m != nil {
			return m
		}
		if m := s.find(s.Turn.Item); m != nil {
			m.close()
		}
		s.Turn.Item, s.Turn.Steered = id, false
		s.Messages = append(s.Messages, &Message{ID: id, Role: Assistant, Status: MessagePending})
	}
	return s.find(id)
}

// find looks among the active turn's messages, newest first. Those of earlier
// turns may be sealed or not, so nothing may depend on them.
func (s *State) find(id ItemID) *Message {
	for _, m := range slices.Backward(s.current()) {
		if m.ID == id && m.Role == Assistant {
			return m
		}
	}
	return nil
}

func (s *State) think(id ItemID, text string) {
	if m := s.output(id); m != nil {
		m.Reasoning.Append(text)
	}
}

func (s *State) applyToolCall(e Event, p *ToolCall) {
	m := s.output(p.MessageID)
	if m == nil || s.calls[p.ToolCallID] != nil {
		return
	}
	c := &Call{ID: p.ToolCallID, Name: p.Name, Status: CallRunning, Input: safeInput(p.Arguments), At: m.Content.Units()}
	if m.Status == MessagePending {
		m.Status = MessageStreaming
	}
	m.Calls = append(m.Calls, c)
	s.calls[c.ID] = c
	s.Turn.Open = append(s.Turn.Open, OpenCall{ID: c.ID, Name: c.Name, Item: p.ItemID, Started: e.Time})
}

// openCall is a call of the active turn that has no outcome yet.
func (s *State) openCall(id CallID) *Call {
	if c := s.calls[id]; c != nil && (c.Status == CallRunning || c.Status == CallAwaiting) {
		return c
	}
	return nil
}

// log adds live output, up to the preview's bound.
func (c *Call) log(text string) {
	room := MaxPreview - c.Output.Len()
	if c.OutputBytes > 0 || len(text) > room {
		c.OutputBytes = max(c.OutputBytes, c.Output.Len()) + len(text)
	}
	c.Output.Append(cutText(text, room))
}

// result replaces live output by the rendered result.
func (c *Call) result(text string) {
	c.OutputBytes = 0
	if len(text) > MaxPreview {
		c.OutputBytes = len(text)
	}
	c.Output = NewText(cutText(text, MaxPreview))
}

// cutText is the longest prefix of s of at most n bytes that ends with a whole
// character.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

func (s *State) applyOutcome(p *ToolOutcome) {
	if s.Turn == nil {
		return
	}
	i := slices.IndexFunc(s.Turn.Open, func(o OpenCall) bool { return o.ID == p.ToolCallID })
	if i < 0 {
		return
	}
	s.Turn.Open = slices.Delete(s.Turn.Open, i, i+1)
	c := s.calls[p.ToolCallID]
	if c == nil {
		return
	}
	switch p.Status {
	case OutcomeOK, OutcomeArtifact:
		c.Status = CallComplete
		s.Changed.note(c.Input)
	case OutcomeDenied:
		c.Status = CallDenied
	default:
		c.Status = CallError
	}
	if c.Output.Len() == 0 && p.Error != "" {
		c.result(p.Error)
	}
}

func (s *State) applyAsk(e Event, p *ApprovalRequired) {
	digest := p.Digest
	if digest == "" { // asked before there were any
		digest = Digest(p.Input)
	}
	s.Pending = append(s.Pending, Approval{
		ID: p.RequestID, Call: p.ToolCallID, Tool: p.ToolName, Description: p.Description, Reason: p.Reason,
		Input: p.Input, Digest: digest, Redacted: p.Redacted, Asked: e.Seq, Since: e.Time, Deadline: p.Deadline,
	})
	if c := s.openCall(p.ToolCallID); c != nil {
		c.Status = CallAwaiting
	}
	s.Status = AwaitingApproval
	s.point(AtApproval, e, p.RequestID, cmp.Or(p.Description, p.ToolName))
}

func (s *State) applyAnswer(p *ApprovalApplied) {
	i := slices.IndexFunc(s.Pending, func(a Approval) bool { return a.ID == p.RequestID })
	if i < 0 {
		return
	}
	s.Pending = slices.Delete(s.Pending, i, i+1)
	d := Decided{ID: p.RequestID, Call: p.ToolCallID, Decision: Decision{p.Decision, p.Scope, p.Reason, p.Actor, p.Source, p.Digest}}
	if s.Turn != nil {
		d.Turn = s.Turn.ID
	}
	s.Decided = remember(s.Decided, d, MaxDecided)
	if c := s.openCall(p.ToolCallID); c != nil {
		c.Status = CallRunning
	}
	if p.Decision == Allow && p.Scope != Once && p.Scope != "" && p.RuleID == "" { // a rule stands outside the session
		s.Grants = remember(s.Grants, Grant{Tool: p.ToolName, Scope: p.Scope, Pattern: p.Pattern}, MaxGrants)
	}
	if len(s.Pending) == 0 && s.Status == AwaitingApproval {
		s.Status = Running
		if s.Turn == nil {
			s.Status = Idle
		}
	}
}

func (s *State) applyTurnEnd(e Event, p *TurnEnd) {
	if s.Turn == nil || s.Turn.ID != p.TurnID {
		return
	}
	if p.Status == TurnCompleted {
		s.point(AtTurn, e, "", PlainText(s.Turn.Prompt.Parts))
	}
	s.closeMessages()
	if p.Status == TurnError {
		if m := s.find(s.Turn.Item); m != nil {
			m.Status = MessageError
		}
	}
	s.Turn, s.calls, s.Reason = nil, nil, p.Reason
	s.Status = s.after(p.Status)
	if len(s.Queue) > 0 {
		s.Status = Queued
	}
	s.Course.Queued, s.Course.Retry = time.Time{}, time.Time{}
	if s.Status.Terminal() {
		s.Course.Ended = e.Time
	}
}

// after is the status that follows the end of a turn: chat sessions become
// idle unless they failed, background sessions end in a terminal word.
func (s *State) after(turn string) Status {
	switch {
	case turn == TurnError:
		return StatusFailed
	case s.Kind != Background:
		return Idle
	case turn == TurnCancelled:
		return StatusCancelled
	default:
		return StatusCompleted
	}
}
