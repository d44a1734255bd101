package health

import (
	"time"

	"harness"
)

// Fold is what a session's events add up to, as far as its health goes. It has
// one owner; give others a [Fold.Clone].
type Fold struct {
	memory
	tally harness.Tally // while it is judged
}

// memory is all that a fold remembers. Its JSON form is stored.
type memory struct {
	Version int               `json:"v"`
	Seq     harness.Seq       `json:"seq"`
	Session harness.SessionID `json:"session"`

	Kind   harness.Kind   `json:"kind,omitempty"`
	Status harness.Status `json:"status,omitempty"`
	Now    time.Time      `json:"now"` // of the last event

	// The turn.
	Turn     harness.TurnID `json:"turn,omitempty"` // the open one
	Turns    int64          `json:"turns,omitempty"`
	Attempts int64          `json:"attempts,omitempty"`
	Pending  []asked        `json:"pending,omitempty"`
	Failed   bool           `json:"failed,omitempty"`    // the last turn did
	Retry    bool           `json:"retryable,omitempty"` // and another try may not
	Lost     bool           `json:"lost,omitempty"`      // an engine went away in the middle of something
	Again    bool           `json:"again,omitempty"`     // the turn is being tried again
	Measured bool           `json:"measured,omitempty"`  // the turn has told what it used
	Blind    bool           `json:"blind,omitempty"`     // a turn has ended without telling
	Faint    bool           `json:"faint,omitempty"`     // the engine said that it tells less than others
	Open     []open         `json:"open,omitempty"`
	Calls    int64          `json:"calls,omitempty"`

	// Time.
	Runtime   time.Duration `json:"runtime,omitempty"`  // in which it ran, and did not wait for people
	Progress  time.Time     `json:"progress,omitzero"`  // when it last got anywhere
	Silence   time.Duration `json:"silence,omitempty"`  // since then, while it ran
	Heartbeat time.Time     `json:"heartbeat,omitzero"` // when the kernel last looked
	Expires   time.Time     `json:"expires,omitzero"`

	// What it used.
	Tokens   spent   `json:"tokens,omitzero"`
	Cost     paid    `json:"cost,omitzero"`
	Unpriced bool    `json:"unpriced,omitempty"` // it cost more, nobody knows how much
	Days     days    `json:"days,omitempty"`
	Context  float64 `json:"context,omitempty"` // in percent
	HasPct   bool    `json:"has_pct,omitempty"`
	Tree     tree    `json:"tree,omitzero"`

	// How it works.
	Tools    tools    `json:"tools,omitzero"`
	Loop     loop     `json:"loop,omitzero"`
	Plan     plan     `json:"plan,omitzero"`
	Evidence evidence `json:"evidence,omitzero"`
	Degraded string   `json:"degraded,omitempty"` // the kind of the last diagnostic

	Flags  [flagCount]mark       `json:"flags,omitzero"`
	Policy *harness.HealthPolicy `json:"policy,omitempty"` // never changed
	Trip   trip                  `json:"trip,omitzero"`

	Renewed bool `json:"-"` // the event that is applied sets the policy

	Raised map[string]float64 `json:"raised,omitempty"` // thresholds that somebody has moved
	Good   place              `json:"good,omitzero"`    // where to go on from, if all else fails
	Memory recalled           `json:"memory,omitzero"`
	Audit  []Row              `json:"audit,omitempty"`
}

// asked is a question that waits.
type asked struct {
	ID     harness.ApprovalID `json:"id"`
	Seq    harness.Seq        `json:"seq"`
	Policy bool               `json:"policy,omitempty"` // of the health policy
}

// open is a call that runs.
type open struct {
	ID    harness.CallID `json:"id"`
	Since time.Time      `json:"since"`
	Key   key            `json:"key"` // of its name and arguments
	Keeps bool           `json:"keeps,omitempty"`
}

// place is one that a session can be branched at.
type place struct {
	Kind harness.CursorKind `json:"kind,omitempty"`
	Seq  harness.Seq        `json:"seq,omitempty"`
}

// Bounds of what is remembered; see also those of the parts.
const (
	maxPending = 64
	maxOpen    = 64
)

// New is the fold of an empty log, under a policy; nil bounds nothing.
func New(policy *harness.HealthPolicy) *Fold {
	return &Fold{memory: memory{Version: Version, Policy: policy}}
}

// Apply folds one event. It is total, and costs the same in any history. The
// pieces of a text that streams may be applied one by one, under one position.
func (f *Fold) Apply(e harness.Event) {
	f.clock(e.Time)
	f.Seq, f.Session = e.Seq, e.Session
	if _, ok := harness.Streamed(e.Payload); ok {
		f.progress()
		if f.Flags[stalled].Level|f.Flags[stuck].Level != 0 {
			f.judge(0)
		}
		return
	}
	var also flags
	if _, ok := e.Payload.(*harness.StepProgress); !ok {
		also = f.announced()
	}
	f.judge(f.see(e) | also)
	if f.Renewed {
		f.renewed()
	}
}

// clock adds the time since the last event. Clocks that go back are ignored.
func (f *Fold) clock(now time.Time) {
	passed := now.Sub(f.Now)
	if f.Now.IsZero() || passed < 0 {
		passed = 0
	}
	if now.After(f.Now) {
		f.Now = now
	}
	if f.running() {
		f.Runtime += passed
		f.Silence = max(f.Silence, f.Now.Sub(f.Progress))
	}
}

// running reports whether the engine works, as far as the log tells.
func (f *Fold) running() bool {
	return f.Turn != "" && len(f.Pending) == 0 && f.Status != harness.Paused
}

// progress notes that the session got somewhere.
func (f *Fold) progress() { f.Progress, f.Silence = f.Now, 0 }

// see takes note of what an event says, and returns the flags that it is
// evidence of, if they are up.
func (f *Fold) see(e harness.Event) flags {
	switch p := e.Payload.(type) {
	case *harness.SessionState:
		return f.seeState(e, p)
	case *harness.UserMessage:
		f.progress()
		f.Loop.forget()
		f.Evidence.Without = 0
	case *harness.TurnStart:
		f.seeStart(p)
	case *harness.TurnEnd:
		return f.seeEnd(e, p)
	case *harness.Response:
		f.progress()
		f.Again = false
		f.Evidence.claim()
		return set(noEvidence)
	case *harness.Reflection:
		f.Evidence.claim()
		return set(noEvidence)
	case *harness.ToolCall:
		return f.seeCall(p)
	case *harness.ToolResult:
		f.seeResult(p)
	case *harness.ToolOutcome:
		return f.seeOutcome(p)
	case *harness.ToolValidationError:
		if !p.Repaired {
			f.Evidence.claim()
		}
		return set(noEvidence)
	case *harness.StepProgress:
		return f.seeStep(p)
	case *harness.Usage:
		return f.seeUsage(p)
	case *harness.ContextWarning:
		f.Context, f.HasPct = p.Pct, true
		return set(contextPressure)
	case *harness.ContextCompacted:
		f.Context, f.HasPct = 0, false
		f.Good = place{harness.AtCompaction, e.Seq}
	case *harness.TransportDiagnostic:
		return f.seeTransport(p)
	case *harness.ApprovalRequired:
		f.seeAsk(e, p)
		return set(waitingApproval)
	case *harness.ApprovalApplied:
		f.seeAnswer(e, p)
	case *harness.SubagentEvent:
		return f.seeSubagent(p)
	case *harness.SessionCheckpoint:
		f.seeCheckpoint(e, p)
	case *harness.Artifact:
		f.proof()
	case *harness.Retrieval:
		if len(p.Chunks) > 0 {
			f.proof()
			f.Memory.retrieved(e, p)
		}
	case *harness.PolicyDecision:
		f.record(Row{Kind: "policy", Subject: p.Subject, Outcome: p.Outcome, Source: p.Source, Reason: p.Reason}, e)
	case *harness.SandboxNotice:
		f.record(Row{Kind: "sandbox", Subject: p.ResolvedBackend, Outcome: p.Isolation, Reason: p.Reason}, e)
	case *harness.Failure:
		f.Retry = p.Retryable
		if p.Code == lostCode {
			f.Lost = true
		}
		return set(stuck) | set(orphanedProcess)
	case *harness.Session, *harness.TurnStartTools, *harness.Token, *harness.Thinking, *harness.ToolLog, *harness.ToolBatch, *harness.ToolSelected,
		*harness.Antahkarana, *harness.HookEvent, *harness.Rewound, *harness.Completed, *harness.HealthSnapshot, *harness.Unknown:
		// Nothing to judge by, or seen before.
	}
	return 0
}

// lostCode is of a failure, and of outcomes, that the kernel gives in the place
// of an engine that is gone.
const lostCode = "interrupted"
