package harness

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// Bounds of a trail: enough for a screen, little enough to be part of every
// snapshot. The log has the rest.
const (
	MaxPoints      = 32
	MaxCheckpoints = 16
	MaxSubagents   = 32
	MaxArtifacts   = 32
	MaxLabel       = 160 // bytes of any text among them
	MaxSummary     = 512 // but for summaries
	MaxMetadata    = 512 // bytes of an artifact's metadata; longer ones are left out
)

// Trail is what a state remembers for people who look at the session.
type Trail struct {
	Points      []Point                     `json:"points,omitempty"`      // the latest
	Checkpoints []Placed[SessionCheckpoint] `json:"checkpoints,omitempty"` // the latest, but for the engine's own
	Subagents   []Placed[SubagentEvent]     `json:"subagents,omitempty"`   // the latest word about each
	Artifacts   []Placed[Artifact]          `json:"artifacts,omitempty"`   // the latest
}

// trace is one line of a stored trail: something that the trail remembers.
type trace struct {
	Point      *Point                     `json:"point,omitempty"`
	Checkpoint *Placed[SessionCheckpoint] `json:"checkpoint,omitempty"`
	Subagent   *Placed[SubagentEvent]     `json:"subagent,omitempty"`
	Artifact   *Placed[Artifact]          `json:"artifact,omitempty"`
}

// Bounds of a trail that nobody asks for: how much of it a state remembers
// without looking at what is stored, and how many lines are stored before those
// that are no longer wanted are dropped. A trail has at most 112 to keep, so
// that reading it for that is rare.
const (
	maxFresh  = 64
	maxStored = 128
)

// leave adds to the trail. What is stored of it stays as it is until somebody
// asks for the trail: nobody who wakes a session, or connects to it, pays for
// what only a few look at.
func (s *State) leave(t trace) {
	if s.trail == nil && len(s.fresh) < maxFresh {
		s.fresh = append(s.fresh, t)
		return
	}
	s.Trail().take(t)
}

// Trail is s's trail, which belongs to s.
func (s *State) Trail() *Trail {
	if s.trail == nil {
		s.trail = new(Trail)
		for line := range bytes.Lines(s.unread) {
			var t trace
			if json.Unmarshal(line, &t) == nil { // stores check what they load, so only a broken build has others
				s.trail.take(t)
			}
		}
		for _, t := range s.fresh {
			s.trail.take(t)
		}
		s.unread, s.fresh = nil, nil
	}
	return s.trail
}

// take adds a trace, and forgets what there are too many of.
func (t *Trail) take(x trace) {
	switch {
	case x.Point != nil:
		t.Points = remember(t.Points, *x.Point, MaxPoints)
	case x.Checkpoint != nil:
		t.Checkpoints = remember(t.Checkpoints, *x.Checkpoint, MaxCheckpoints)
	case x.Subagent != nil:
		t.takeSubagent(*x.Subagent)
	case x.Artifact != nil:
		t.takeArtifact(*x.Artifact)
	}
}

// takeSubagent keeps the latest word about each agent; what it leaves out is
// as before.
func (t *Trail) takeSubagent(now Placed[SubagentEvent]) {
	i := slices.IndexFunc(t.Subagents, func(a Placed[SubagentEvent]) bool { return a.Payload.AgentID == now.Payload.AgentID })
	if i < 0 {
		t.Subagents = remember(t.Subagents, now, MaxSubagents)
		return
	}
	before := t.Subagents[i]
	now.Since = before.Since
	set(&before.Payload.Status, now.Payload.Status)
	set(&before.Payload.ParentSessionID, now.Payload.ParentSessionID)
	set(&before.Payload.Task, now.Payload.Task)
	set(&before.Payload.Summary, now.Payload.Summary)
	now.Payload = before.Payload
	t.Subagents[i] = now
}

// takeArtifact keeps the latest artifacts, each under its id once.
func (t *Trail) takeArtifact(now Placed[Artifact]) {
	if i := slices.IndexFunc(t.Artifacts, func(b Placed[Artifact]) bool { return b.Payload.ArtifactID == now.Payload.ArtifactID }); i >= 0 {
		now.Since = t.Artifacts[i].Since
		t.Artifacts = slices.Delete(t.Artifacts, i, i+1)
	}
	t.Artifacts = remember(t.Artifacts, now, MaxArtifacts)
}

func (t *Trail) clone() *Trail {
	if t == nil {
		return nil
	}
	return &Trail{slices.Clone(t.Points), slices.Clone(t.Checkpoints), slices.Clone(t.Subagents), slices.Clone(t.Artifacts)}
}

// appendUnread appends stored lines as they are, each behind a line feed, but for
// the oldest points that fresh ones push out: most of a trail, and every wake
// reads it.
func (s *State) appendUnread(b []byte) []byte {
	points := 0
	for line := range bytes.Lines(s.unread) {
		if bytes.HasPrefix(line, []byte(pointLine)) {
			points++
		}
	}
	for _, t := range s.fresh {
		if t.Point != nil {
			points++
		}
	}
	for line := range bytes.Lines(s.unread) {
		if points > MaxPoints && bytes.HasPrefix(line, []byte(pointLine)) {
			points--
			continue
		}
		b = append(append(b, '\n'), bytes.TrimSuffix(line, []byte("\n"))...)
	}
	return b
}

// pointLine begins the line of a point.
const pointLine = `{"point":`

// appendTrail appends the trail as lines, each behind a line feed.
func (s *State) appendTrail(b []byte) []byte {
	if s.trail == nil && bytes.Count(s.unread, []byte("\n"))+len(s.fresh) > maxStored {
		s.Trail() // it is time to forget
	}
	line := func(t trace) { b = appendJSON(append(b, '\n'), t) }
	if s.trail == nil {
		b = s.appendUnread(b)
		for _, t := range s.fresh {
			line(t)
		}
		return b
	}
	for i := range s.trail.Points {
		line(trace{Point: &s.trail.Points[i]})
	}
	for i := range s.trail.Checkpoints {
		line(trace{Checkpoint: &s.trail.Checkpoints[i]})
	}
	for i := range s.trail.Subagents {
		line(trace{Subagent: &s.trail.Subagents[i]})
	}
	for i := range s.trail.Artifacts {
		line(trace{Artifact: &s.trail.Artifacts[i]})
	}
	return b
}

// JSON is the whole state as one object, for people and their tools.
func (s *State) JSON() []byte {
	b := appendJSON(nil, s)
	if t := s.Trail(); len(t.Points)+len(t.Checkpoints)+len(t.Subagents)+len(t.Artifacts) > 0 {
		b = appendJSON(append(b[:len(b)-1], `,"trail":`...), t)
		b = append(b, '}')
	}
	return b
}

// Point is a place that a session can be branched at: the end of a completed
// turn, a question, a compaction. Checkpoints are such places, too.
type Point struct {
	Kind    CursorKind `json:"kind"`
	Session SessionID  `json:"session_id"` // whose event it is: a branch inherits its ancestors'
	Seq     Seq        `json:"seq"`
	Time    time.Time  `json:"time"`
	Turn    TurnID     `json:"turn_id,omitempty"`
	Request ApprovalID `json:"request_id,omitempty"`
	Label   string     `json:"label,omitempty"`
}

// Placed is a payload that a state remembers, and the event it came with. Its
// texts are cut.
type Placed[P any] struct {
	Session SessionID `json:"session_id"`
	Seq     Seq       `json:"seq"`
	Time    time.Time `json:"time"`
	Since   time.Time `json:"since"` // of the first event about the same thing
	Turn    TurnID    `json:"turn_id,omitempty"`
	Payload P         `json:"payload"`
}

func placed[P any](e Event, p P) Placed[P] {
	return Placed[P]{Session: e.Session, Seq: e.Seq, Time: e.Time, Since: e.Time, Turn: e.Turn, Payload: p}
}

// EngineCheckpoint is the type of checkpoints that an engine makes for its own
// next attempt. They are no places for people.
const EngineCheckpoint = "engine"

// Types of checkpoints that the state or the kernel knows.
const (
	StepCheckpoint = "step"
	SeedCheckpoint = "resume_seed" // a branch's first

	ExpiredCheckpoint = "expired" // the session's time was over before it could begin, or go on

	// WorkspaceCheckpoint tells of a snapshot of the session's files, for Rewind.
	// It is no place for people either.
	WorkspaceCheckpoint = "workspace"
)

// Statuses of a WorkspaceCheckpoint.
const (
	CheckpointSaved      = "saved"
	CheckpointIncomplete = "incomplete" // something was not kept; the summary says what
	CheckpointFailed     = "failed"     // nothing was
)

func (s *State) point(kind CursorKind, e Event, request ApprovalID, label string) {
	s.leave(trace{Point: &Point{kind, e.Session, e.Seq, e.Time, e.Turn, request, short(label)}})
}

// short is the first line of a text, cut to what a state remembers.
func short(s string) string { return cutText(firstLine(validText(s), MaxLabel+1), MaxLabel) }

// brief is a text cut to what a state remembers.
func brief(s string) string { return cutText(validText(s), MaxLabel) }

func (s *State) applyCheckpoint(e Event, p *SessionCheckpoint) {
	set(&s.EngineRef, p.EngineRef)
	switch p.CheckpointType {
	case EngineCheckpoint:
		return
	case WorkspaceCheckpoint:
		if s.Turn != nil && p.Phase == MarkBefore {
			s.Turn.Marked = p.Status
		}
		return
	}
	c := SessionCheckpoint{
		SessionID: SessionID(brief(string(p.SessionID))), Sequence: p.Sequence, CheckpointType: brief(p.CheckpointType),
		Status: brief(p.Status), SummaryText: cutText(validText(p.SummaryText), MaxSummary),
	}
	if p.ResumeCursor != nil {
		c.ResumeCursor = new(brief(*p.ResumeCursor))
	}
	s.leave(trace{Checkpoint: new(placed(e, c))})
}

func (s *State) applySubagent(e Event, p *SubagentEvent) {
	if len(p.AgentID) > MaxID {
		return
	}
	s.leave(trace{Subagent: new(placed(e, SubagentEvent{
		AgentID: p.AgentID, Status: brief(p.Status), ParentSessionID: SessionID(brief(string(p.ParentSessionID))), Task: brief(p.Task),
		Summary: cutText(validText(p.Summary), MaxSummary),
	}))})
}

func (s *State) applyArtifact(e Event, p *Artifact) {
	if len(p.ArtifactID) > maxArtifactID {
		return
	}
	a := *p
	a.Content = nil
	a.ArtifactType, a.Title, a.URI, a.SHA256 = brief(a.ArtifactType), brief(a.Title), brief(a.URI), brief(a.SHA256)
	if len(a.Metadata) > 0 {
		a.Metadata = appendJSON(nil, a.Metadata) // in the log's own form, whoever wrote it
	}
	if n := len(a.Metadata); n == 0 || n > MaxMetadata {
		a.Metadata = nil
	}
	s.leave(trace{Artifact: new(placed(e, a))})
}
