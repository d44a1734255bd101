package kernel

import (
	"slices"
	"time"

	"harness"
)

// keeping is where the machine stands with the files of the session's
// directory. Before a turn changes any, they are kept; when it has stopped, they
// are kept again, and only then does it end: whoever hears of its end may change
// files and be told from it.
type keeping struct {
	files bool // they can be kept and taken back
	asks  bool // the engine asks before it changes any

	marking   *mark      // the mark that is being taken
	held      []effect   // what waits for it: decisions, or an engine's start and words to it
	ending    *ending    // the turn's end, which waits for it
	rewinding *rewinding // the rewind under way
}

// ending is how a turn will have ended.
type ending struct{ status, reason string }

// busy reports whether files are being kept or taken back.
func (k *keeping) busy() bool { return k.marking != nil || k.rewinding != nil }

// unkept reports whether the open turn may not change files yet.
func (m *machine) unkept() bool {
	return m.keep.files && m.state.Turn != nil && m.state.Turn.Marked == ""
}

// owes reports whether the open turn has to keep files before it ends.
func (m *machine) owes() bool {
	t := m.state.Turn
	return m.keep.files && (t.Marked == harness.CheckpointSaved || t.Marked == harness.CheckpointIncomplete)
}

// mark keeps the files, unless that is under way.
func (m *machine) mark(phase harness.MarkPhase) {
	if m.keep.marking == nil {
		m.keep.marking = &mark{m.state.Turn.ID, phase}
		m.then(*m.keep.marking)
	}
}

// hold carries out e, with which the turn may change files, when they are kept.
func (m *machine) hold(e effect) {
	if !m.unkept() {
		m.then(e)
		return
	}
	m.keep.held = append(m.keep.held, e)
	m.mark(harness.MarkBefore)
}

// starting reports whether the engine waits for the files to be kept.
func (m *machine) starting() bool {
	return slices.ContainsFunc(m.keep.held, func(e effect) bool { _, ok := e.(start); return ok })
}

// speak passes a word on to the engine, not before it has begun.
func (m *machine) speak(word steer) {
	if m.starting() {
		m.keep.held = append(m.keep.held, word)
		return
	}
	m.then(word)
}

// question is an engine that waits for a decision.
type question struct {
	from   ticket
	access harness.Access
}

// tell hands a decision to the engine. One that lets it change files waits until
// they are kept.
func (m *machine) tell(to question, d harness.Decision) {
	e := decide{to: to.from, decision: d}
	if d.Verdict == harness.Allow && to.access != harness.AccessRead {
		m.hold(e)
		return
	}
	m.then(e)
}

// delegate lets the engine hand work on when files are kept.
func (m *machine) delegate(r *ready, in delegated) {
	if !m.live(in.turn) || m.state.Turn.Cancelling || m.holding {
		r.effects = append(r.effects, decide{to: in.from, err: harness.ErrNotRunning})
		return
	}
	m.hold(decide{to: in.from})
}

// marked takes note of a mark. That one could not be taken keeps no turn from
// anything: the log says so, and so will a rewind.
func (m *machine) marked(now time.Time, in marked) {
	m.keep.marking = nil
	t := m.state.Turn
	c := &harness.SessionCheckpoint{
		SessionID: m.state.Session, Sequence: int(m.state.Seq + 1), CheckpointType: harness.WorkspaceCheckpoint, Status: harness.CheckpointSaved,
		Phase: in.phase, Mark: in.mark.ID, SummaryText: "Files kept " + string(in.phase) + " the turn",
	}
	switch {
	case in.problem != "":
		c.Status, c.SummaryText = harness.CheckpointFailed, "Files not kept "+string(in.phase)+" the turn: "+in.problem
	case in.mark.Incomplete != "":
		c.Status, c.SummaryText = harness.CheckpointIncomplete, c.SummaryText+", but not all: "+in.mark.Incomplete
	}
	m.stage(now, c)
	switch end := m.keep.ending; {
	case end != nil && in.phase == harness.MarkBefore && m.owes():
		m.mark(harness.MarkAfter)
	case end != nil:
		m.endNow(now, *end)
	case t.Cancelling && m.starting(): // it never ran
		m.engine, m.cancelBy = "", time.Time{}
		m.endTurn(now, harness.TurnCancelled, "user")
	default:
		m.letGo()
	}
}

// letGo carries out what waited for files to be kept.
func (m *machine) letGo() {
	held := m.keep.held
	m.keep.held = nil
	for _, e := range held {
		switch e := e.(type) {
		case start:
			m.then(start{m.turn()}) // with the configuration as it is now
		case decide:
			if m.state.Turn.Cancelling {
				e = decide{to: e.to, err: harness.ErrNotRunning}
			}
			m.then(e)
		default:
			m.then(e)
		}
	}
}
