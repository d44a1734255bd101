package rest

import (
	"encoding/json"
	"slices"
	"time"

	"harness"
)

// checkpoint is a session_checkpoint, as S3 words it, and its place.
type checkpoint struct {
	SessionID      harness.SessionID `json:"session_id"`
	Sequence       int               `json:"sequence"`
	CheckpointType string            `json:"checkpoint_type"`
	Status         string            `json:"status"`
	SummaryText    string            `json:"summary_text"`
	ResumeCursor   *string           `json:"resume_cursor"`
	EventID        string            `json:"event_id"`
	Seq            harness.Seq       `json:"seq"`
	CreatedAt      time.Time         `json:"created_at"`
}

func projectCheckpoints(st *harness.State) []checkpoint {
	list := make([]checkpoint, 0, len(st.Trail().Checkpoints))
	for _, c := range slices.Backward(st.Trail().Checkpoints) {
		p := c.Payload
		list = append(list, checkpoint{
			p.SessionID, p.Sequence, p.CheckpointType, p.Status, p.SummaryText, p.ResumeCursor,
			harness.EventID(c.Session, c.Seq), c.Seq, c.Time,
		})
	}
	return list
}

// subagent is delegated work as it stands.
type subagent struct {
	AgentID         string            `json:"agent_id"`
	Status          string            `json:"status"`
	ParentSessionID harness.SessionID `json:"parent_session_id"`
	Task            string            `json:"task,omitempty"`
	Summary         string            `json:"summary,omitempty"`
	StartedAt       time.Time         `json:"started_at"`
	UpdatedAt       time.Time         `json:"updated_at"`
	EndedAt         *time.Time        `json:"ended_at"` // null while it works
	EventID         string            `json:"event_id"` // of the latest word
	Seq             harness.Seq       `json:"seq"`
}

func projectSubagents(st *harness.State) []subagent {
	list := make([]subagent, 0, len(st.Trail().Subagents))
	for _, a := range st.Trail().Subagents {
		s := subagent{
			AgentID: a.Payload.AgentID, Status: a.Payload.Status, ParentSessionID: a.Payload.ParentSessionID,
			Task: a.Payload.Task, Summary: a.Payload.Summary, StartedAt: a.Since, UpdatedAt: a.Time,
			EventID: harness.EventID(a.Session, a.Seq), Seq: a.Seq,
		}
		if s.ParentSessionID == "" {
			s.ParentSessionID = a.Session
		}
		switch a.Payload.Status {
		case harness.SubagentCompleted, harness.SubagentFailed, harness.SubagentCancelled:
			s.EndedAt = new(a.Time)
		}
		list = append(list, s)
	}
	return list
}

// artifact is something that the session made.
type artifact struct {
	ArtifactID   string          `json:"artifact_id"`
	ArtifactType string          `json:"artifact_type"`
	Title        string          `json:"title"`
	URI          string          `json:"uri,omitempty"`
	Size         int64           `json:"size,omitempty"`
	SHA256       string          `json:"sha256,omitempty"`
	Metadata     json.RawMessage `json:"metadata,omitempty"`
	EventID      string          `json:"event_id"`
	Seq          harness.Seq     `json:"seq"`
	CreatedAt    time.Time       `json:"created_at"`
	UpdatedAt    time.Time       `json:"updated_at"`
}

func projectArtifacts(st *harness.State) []artifact {
	list := make([]artifact, 0, len(st.Trail().Artifacts))
	for _, a := range slices.Backward(st.Trail().Artifacts) {
		p := a.Payload
		list = append(list, artifact{
			p.ArtifactID, p.ArtifactType, p.Title, p.URI, p.Size, p.SHA256, p.Metadata,
			harness.EventID(a.Session, a.Seq), a.Seq, a.Since, a.Time,
		})
	}
	return list
}
