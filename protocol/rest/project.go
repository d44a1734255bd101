package rest

import (
	"context"
	"fmt"
	"time"

	"harness"
)

// detail is what S3 shows of a session besides its row: projections of the log,
// each a pure function of it. None of them costs more in a longer history: the
// state remembers the latest points, checkpoints, agents and artifacts, and the
// channel is the log's end.
type detail struct {
	ResumePoints        []resumePoint `json:"resume_points"`        // newest first
	Subagents           []subagent    `json:"subagents"`            // in the order of their beginning
	BackgroundArtifacts []artifact    `json:"background_artifacts"` // newest first
	Checkpoints         []checkpoint  `json:"checkpoints"`          // newest first
	Artifacts           []artifact    `json:"artifacts"`            // newest first
	Channel             channel       `json:"channel"`
}

// describe projects a session as it was at st.
func describe(ctx context.Context, k sessions, st *harness.State) (detail, error) {
	recent, err := tail(ctx, k, st)
	if err != nil {
		return detail{}, fmt.Errorf("describe %s at %d: %w", st.Session, st.Seq, err)
	}
	artifacts := projectArtifacts(st)
	return detail{
		ResumePoints: projectPoints(st), Subagents: projectSubagents(st), BackgroundArtifacts: artifacts,
		Checkpoints: projectCheckpoints(st), Artifacts: artifacts, Channel: projectChannel(st, recent),
	}, nil
}

// tail is the last events of the log at st.
func tail(ctx context.Context, k sessions, st *harness.State) ([]harness.Event, error) {
	events := make([]harness.Event, 0, maxEnvelopes)
	for e, err := range k.Read(ctx, st.Session, st.Seq-min(st.Seq, maxEnvelopes)) {
		if err != nil {
			return nil, err
		}
		if e.Seq > st.Seq {
			break
		}
		events = append(events, e)
	}
	return events, nil
}

// resumePoint is a place to branch from.
type resumePoint struct {
	Cursor    string             `json:"cursor"`
	Kind      harness.CursorKind `json:"kind"`
	Seq       harness.Seq        `json:"seq"`
	EventID   string             `json:"event_id"`
	CreatedAt time.Time          `json:"created_at"`
	Label     string             `json:"label"`
	TurnID    harness.TurnID     `json:"turn_id,omitempty"`
	RequestID harness.ApprovalID `json:"request_id,omitempty"`
	Resumable bool               `json:"resumable"` // the session itself goes on from here: the question waits for its answer
}

// projectPoints merges the points and the checkpoints that st remembers, newest
// first.
func projectPoints(st *harness.State) []resumePoint {
	points, marks := st.Trail().Points, st.Trail().Checkpoints
	all := make([]resumePoint, 0, len(points)+len(marks))
	for len(points)+len(marks) > 0 {
		p, m := len(points)-1, len(marks)-1
		if m < 0 || p >= 0 && points[p].Seq > marks[m].Seq {
			all = append(all, asResumePoint(points[p], st))
			points = points[:p]
			continue
		}
		c := marks[m]
		kind := harness.AtCheckpoint
		if c.Payload.CheckpointType == harness.StepCheckpoint {
			kind = harness.AtStep
		}
		all = append(all, asResumePoint(harness.Point{Kind: kind, Session: c.Session, Seq: c.Seq, Time: c.Time, Turn: c.Turn, Label: c.Payload.SummaryText}, st))
		marks = marks[:m]
	}
	return all
}

func asResumePoint(p harness.Point, st *harness.State) resumePoint {
	_, waits := st.Asked(harness.Answer{Approval: p.Request})
	return resumePoint{
		Cursor: harness.Cursor{Kind: p.Kind, Session: p.Session, Seq: p.Seq}.String(), Kind: p.Kind, Seq: p.Seq,
		EventID: harness.EventID(p.Session, p.Seq), CreatedAt: p.Time, Label: p.Label, TurnID: p.Turn, RequestID: p.Request,
		Resumable: p.Request != "" && waits,
	}
}
