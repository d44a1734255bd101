package harness

import (
	"encoding/json"
	"slices"
	"time"
)

// Course is how a session's work goes: what S3's session state contract says of
// it besides the status.
type Course struct {
	Queued    time.Time `json:"queued_at,omitzero"`    // its place in the queue; zero: it does not wait there
	Retry     time.Time `json:"retry_at,omitzero"`     // not before, if it waits
	Started   time.Time `json:"started_at,omitzero"`   // when the last turn began
	Ended     time.Time `json:"ended_at,omitzero"`     // when it reached the terminal word that it has
	Expires   time.Time `json:"expires_at,omitzero"`   // no turn begins, and none is tried again, from then on
	Heartbeat time.Time `json:"heartbeat_at,omitzero"` // when a running turn was last looked after
	Attempts  int       `json:"attempts,omitempty"`    // of the last turn
	LastError string    `json:"last_error,omitempty"`
	Last      []Part    `json:"last,omitempty"` // what was asked last, to be asked again; only of what works by itself

	Provider         string          `json:"provider,omitempty"`
	RunnerKind       string          `json:"runner_kind,omitempty"`
	PolicyPath       string          `json:"policy_path,omitempty"`
	SandboxMode      string          `json:"sandbox_mode,omitempty"`
	SandboxIsolation string          `json:"sandbox_isolation,omitempty"`
	WorkspaceID      string          `json:"workspace_id,omitempty"`
	TaskGraphID      string          `json:"task_graph_id,omitempty"`
	ProcessID        int             `json:"process_id,omitempty"`
	ResumeContext    json.RawMessage `json:"resume_context,omitempty"`
}

// Terminal reports whether a session with this status has ended, until it is
// resumed.
func (s Status) Terminal() bool {
	return s == StatusCompleted || s == StatusFailed || s == StatusCancelled
}

// Queues reports whether turns of the session wait for their place on the
// server: it works by itself, and not for one that has a place.
func (s *State) Queues() bool { return s.Kind == Background && s.SpawnedBy == "" }

// applyCourse takes over what a session_state says of the session's course.
func (s *State) applyCourse(e Event, p *SessionState) {
	c := &s.Course
	set(&c.Provider, p.Provider)
	set(&c.RunnerKind, p.RunnerKind)
	set(&c.PolicyPath, p.PolicyPath)
	set(&c.SandboxMode, p.SandboxMode)
	set(&c.SandboxIsolation, p.SandboxIsolation)
	set(&c.WorkspaceID, p.WorkspaceID)
	set(&c.TaskGraphID, p.TaskGraphID)
	set(&c.ProcessID, p.ProcessID)
	set(&c.Attempts, p.AttemptCount)
	set(&c.LastError, p.LastError)
	setp(&c.Expires, p.ExpiresAt)
	setp(&c.Heartbeat, p.LastHeartbeatAt)
	if len(p.ResumeContext) > 0 {
		c.ResumeContext = p.ResumeContext
	}
	if p.Status == "" {
		return
	}
	if p.Status == Recovering && s.Turn != nil {
		s.Turn.Failed = true
	}
	c.Queued, c.Retry, c.Ended = time.Time{}, time.Time{}, time.Time{}
	setp(&c.Queued, p.QueuedAt)
	setp(&c.Retry, p.RetryAt)
	if p.Status.Terminal() { // what waits will not be done
		c.Ended = e.Time
		if len(s.Queue) > 0 {
			s.asked(s.Queue[0])
		}
		s.Queue = nil
	}
}

// applySandbox takes note of where processes of the session run.
func (s *State) applySandbox(p *SandboxNotice) {
	set(&s.Course.SandboxMode, p.ResolvedBackend)
	set(&s.Course.SandboxIsolation, p.Isolation)
}

// asked remembers what a session that works by itself was asked.
func (s *State) asked(p Prompt) {
	if s.Queues() {
		s.Course.Last = slices.Clone(p.Parts)
	}
}

// startCourse takes note of an attempt at a turn.
func (s *State) startCourse(e Event, t *ActiveTurn, again bool) {
	c := &s.Course
	if !again {
		c.Started, t.Queued = e.Time, c.Queued
		s.asked(t.Prompt)
	}
	c.Attempts = t.Tries
	c.Queued, c.Retry, c.Ended = time.Time{}, time.Time{}, time.Time{}
}

// branchCourse begins the course of a branch: what was said about how it runs
// holds, what happened to its parent does not.
func (s *State) branchCourse() {
	c := s.Course
	s.Course = Course{Provider: c.Provider, RunnerKind: c.RunnerKind, PolicyPath: c.PolicyPath, SandboxMode: c.SandboxMode, SandboxIsolation: c.SandboxIsolation}
}
