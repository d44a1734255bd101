package rest

import (
	"context"
	"encoding/json"
	"time"

	"harness"
)

type (
	approvalQuery struct {
		SessionID string `json:"session_id" rule:"id"`
		UserID    string `json:"user_id" rule:"id"`
		Limit     int64  `json:"limit" rule:"min=1 max=200"` // each may be a state to load
		Cursor    string `json:"cursor" rule:"max=192"`
	}
	approvalPage struct {
		Approvals []approval `json:"approvals"`
		Next      string     `json:"next_cursor,omitempty"`
	}
	// approval is a question that waits for an answer.
	approval struct {
		RequestID   harness.ApprovalID `json:"request_id"`
		SessionID   harness.SessionID  `json:"session_id"`
		TurnID      harness.TurnID     `json:"turn_id,omitempty"`
		ToolName    string             `json:"tool_name"`
		ToolCallID  harness.CallID     `json:"tool_call_id"`
		Description string             `json:"description,omitempty"`
		Reason      string             `json:"reason,omitempty"`
		Input       json.RawMessage    `json:"input,omitempty"`
		Seq         harness.Seq        `json:"seq"` // where it was asked
		RequestedAt time.Time          `json:"requested_at"`
		Deadline    *time.Time         `json:"deadline,omitempty"`
		Redacted    bool               `json:"redacted,omitempty"` // a part of it is not shown: it can be allowed once only
	}
	onApproval struct {
		RequestID harness.ApprovalID `json:"request_id" rule:"required max=192"`
	}
	approvalAnswer struct {
		Decision string `json:"decision" rule:"required words=allow|deny"`
		Scope    string `json:"scope" rule:"words=once|session|always"`
		Reason   string `json:"reason" rule:"max=16384"`
	}
	approvalDecision struct {
		RequestID harness.ApprovalID `json:"request_id"`
		SessionID harness.SessionID  `json:"session_id"`
		Decision  harness.Verdict    `json:"decision" rule:"words=allow|deny"`
		Scope     harness.Scope      `json:"scope" rule:"words=once|session|always"`
	}
)

func asApprovals(st *harness.State) []approval {
	list := []approval{}
	var turn harness.TurnID
	if st.Turn != nil {
		turn = st.Turn.ID
	}
	for _, a := range st.Pending {
		list = append(list, approval{a.ID, st.Session, turn, a.Tool, a.Call, a.Description, a.Reason, a.Input, a.Asked, a.Since, a.Deadline, a.Redacted})
	}
	return list
}

// listApprovals is the inbox, the session that changed last first. A page ends
// behind the session that fills it, so it may have a few more than its limit;
// it may have fewer and still have a next, where questions were answered
// meanwhile.
func (s *Server) listApprovals(ctx context.Context, p *approvalQuery) (approvalPage, error) {
	before, err := parseMark(p.Cursor)
	if err != nil {
		return approvalPage{}, err
	}
	f := harness.Filter{Session: harness.SessionID(p.SessionID), User: p.UserID, Statuses: []harness.Status{harness.AwaitingApproval}, Before: before}
	rows, next, err := s.rows(ctx, f, pageLimit(p.Limit))
	if err != nil {
		return approvalPage{}, err
	}
	page := approvalPage{Approvals: []approval{}, Next: next}
	for i, sum := range rows {
		if i > 0 && len(page.Approvals) >= pageLimit(p.Limit) {
			page.Next = mark(rows[i-1])
			break
		}
		st, err := s.k.At(ctx, sum.Session, 0)
		switch {
		case err == nil:
			page.Approvals = append(page.Approvals, asApprovals(st)...)
		case harness.AsError(err) != harness.ErrNotFound: // else it was removed meanwhile
			return approvalPage{}, err
		}
	}
	return page, nil
}

// answer decides. An approval's id says where it was asked.
func (s *Server) answer(ctx context.Context, _ string, p *onApproval, b *approvalAnswer) (approvalDecision, error) {
	id, _, err := p.RequestID.Place()
	if err != nil {
		return approvalDecision{}, err
	}
	d := harness.Decision{Verdict: harness.Verdict(b.Decision), Scope: harness.Once, Reason: b.Reason, Actor: by(ctx), Source: harness.ByUser}
	if b.Scope != "" {
		d.Scope = harness.Scope(b.Scope)
	}
	if _, err := s.k.Do(ctx, id, harness.Answer{Approval: p.RequestID, Decision: d}); err != nil {
		if harness.AsError(err) == harness.ErrNotFound {
			err = harness.ErrNoApproval
		}
		return approvalDecision{}, err
	}
	return approvalDecision{p.RequestID, id, d.Verdict, d.Scope}, nil
}
