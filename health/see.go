package health

import (
	"slices"

	"harness"
)

func (f *Fold) seeState(e harness.Event, p *harness.SessionState) flags {
	if p.ParentSessionID != "" { // a branch answers for itself
		*f = *f.branched()
	}
	was := f.Status
	if p.Kind != "" {
		f.Kind = p.Kind
	}
	if p.Status != "" {
		f.Status = p.Status
	}
	if p.ExpiresAt != nil {
		f.Expires = *p.ExpiresAt
	}
	if p.LastHeartbeatAt != nil {
		f.Heartbeat = f.Now
	}
	if p.Policy != nil {
		f.seePolicy(e, p.Policy)
	}
	switch {
	case f.Status == was:
	case f.Status == harness.Recovering:
		f.Again = true
	case was == harness.Paused:
		f.progress()
		if f.Trip.State == Paused {
			f.override()
		}
	}
	return set(recovering) | set(stalled) | set(stuck) | set(expiring) | set(budgetTime)
}

// branched is the fold with which a branch begins: the same policy, and nothing
// that its parent did.
func (f *Fold) branched() *Fold {
	n := New(f.Policy)
	n.Seq, n.Session, n.Now, n.Kind = f.Seq, f.Session, f.Now, f.Kind
	return n
}

func (f *Fold) seeStart(p *harness.TurnStart) {
	if f.Turn != p.TurnID {
		f.Turns++
		f.Tokens.settle()
		f.Cost.settle()
		f.Loop.forget()
		f.Plan = plan{Repeats: f.Plan.Repeats}
		f.Evidence.Without, f.Measured, f.Again, f.Lost, f.Degraded = 0, false, false, false, ""
	}
	f.Turn, f.Status, f.Failed, f.Retry = p.TurnID, harness.Running, false, false
	f.Attempts++
	f.progress()
}

func (f *Fold) seeEnd(e harness.Event, p *harness.TurnEnd) flags {
	if f.Turn != p.TurnID {
		return 0
	}
	f.Turn, f.Open = "", nil
	f.Blind = f.Blind || !f.Measured
	switch {
	case p.Status == harness.TurnError:
		f.Failed, f.Status = true, harness.StatusFailed
		f.Lost = f.Lost || p.Reason == lostCode
	case p.Status == harness.TurnCancelled:
		f.progress()
		f.Status = f.rest(harness.StatusCancelled)
	default:
		f.progress()
		f.Again, f.Lost = false, false
		f.Status = f.rest(harness.StatusCompleted)
		f.Good = place{harness.AtTurn, e.Seq}
	}
	return set(stuck) | set(orphanedProcess) | set(lowFidelity)
}

// rest is the status behind a turn.
func (f *Fold) rest(background harness.Status) harness.Status {
	if f.Kind == harness.Background {
		return background
	}
	return harness.Idle
}

func (f *Fold) seeAsk(e harness.Event, p *harness.ApprovalRequired) {
	f.Pending = remember(f.Pending, asked{p.RequestID, e.Seq, p.ToolName == harness.HealthTool}, maxPending)
	f.Good = place{harness.AtApproval, e.Seq}
	f.record(Row{Kind: "approval", Subject: p.ToolName, Outcome: "asked", Reason: p.Reason, Request: p.RequestID}, e)
	if p.ToolName == harness.HealthTool {
		f.tripped(e, p)
	}
}

func (f *Fold) seeAnswer(e harness.Event, p *harness.ApprovalApplied) {
	f.Pending = slices.DeleteFunc(f.Pending, func(a asked) bool { return a.ID == p.RequestID })
	f.progress()
	f.record(Row{Kind: "approval", Subject: p.ToolName, Outcome: string(p.Decision), Source: string(p.Source), Actor: p.Actor, Reason: p.Reason, Request: p.RequestID}, e)
	if p.ToolName == harness.HealthTool && p.RequestID == f.Trip.Request {
		f.answered(p)
	}
}

// The kinds of diagnostics that say how much an engine tells, and not how its
// provider is.
var faint = []string{"low_fidelity", "unknown_messages", "control_refused"}

func (f *Fold) seeTransport(p *harness.TransportDiagnostic) flags {
	switch {
	case p.Status != "degraded" && p.Status != "failed" && p.Status != "error":
		f.Degraded = ""
	case slices.Contains(faint, p.Kind):
		f.Faint = true
	default:
		f.Degraded = short(p.Kind)
	}
	return set(degradedProvider) | set(lowFidelity)
}

func (f *Fold) seeCheckpoint(e harness.Event, p *harness.SessionCheckpoint) {
	switch p.CheckpointType {
	case harness.EngineCheckpoint, harness.WorkspaceCheckpoint:
		return
	case harness.StepCheckpoint:
		f.Good = place{harness.AtStep, e.Seq}
	default:
		f.Good = place{harness.AtCheckpoint, e.Seq}
	}
	f.progress()
}

// remember appends to a bounded memory.
func remember[T any](list []T, v T, limit int) []T {
	if len(list) >= limit {
		list = slices.Delete(list, 0, len(list)-limit+1)
	}
	return append(list, v)
}

// short is a text cut to what is remembered of any.
func short(s string) string {
	const limit = 120
	if len(s) <= limit {
		return s
	}
	n := limit
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}
