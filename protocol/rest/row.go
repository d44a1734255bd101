package rest

import (
	"context"
	"fmt"
	"time"

	"harness"
)

// session is a session's row.
type session struct {
	SessionID           harness.SessionID `json:"session_id"`
	Kind                harness.Kind      `json:"kind"`
	UserID              string            `json:"user_id,omitempty"`
	Title               string            `json:"title"`
	Status              harness.Status    `json:"status"`
	Reason              string            `json:"reason,omitempty"`
	Engine              string            `json:"engine,omitempty"`
	Directory           string            `json:"directory,omitempty"`
	ParentSessionID     harness.SessionID `json:"parent_session_id,omitempty"`
	BranchSourceEventID string            `json:"branch_source_event_id,omitempty"`
	BranchResumeCursor  string            `json:"branch_resume_cursor,omitempty"`
	Seq                 harness.Seq       `json:"seq"`
	Messages            int               `json:"message_count"`
	Pending             int               `json:"pending_approvals"`
	CreatedAt           time.Time         `json:"created_at"`
	UpdatedAt           time.Time         `json:"updated_at"`
	Health              *vitals           `json:"health,omitempty"`  // all of it where there is one session
	Changes             *changes          `json:"changes,omitempty"` // of files; none: there are no calls that tell

	SpawnedBy     harness.SessionID `json:"spawned_by,omitempty"`     // whose task it does
	QueuePosition int               `json:"queue_position,omitempty"` // from 1 on, while it waits in line
	AttemptCount  int               `json:"attempt_count,omitempty"`
	MaxRetries    int               `json:"max_retries,omitempty"`
	QueuedAt      *time.Time        `json:"queued_at,omitempty"`
	RetryAt       *time.Time        `json:"retry_at,omitempty"`
	StartedAt     *time.Time        `json:"started_at,omitempty"` // the last turn
	EndedAt       *time.Time        `json:"ended_at,omitempty"`
	ExpiresAt     *time.Time        `json:"expires_at,omitempty"`
}

func asSession(s harness.Summary) session {
	return session{
		s.Session, s.Kind, s.User, s.Title, s.Status, s.Reason, s.Engine, s.Directory, s.Parent, s.Branched, s.Cursor,
		s.Seq, s.Messages, s.Pending, s.Created, s.Updated, asVitals(s), asChanges(s.Changes),
		s.SpawnedBy, s.Place, s.Attempts, s.MaxRetries, when(s.Queued), when(s.Retry), when(s.Started), when(s.Ended), when(s.Expires),
	}
}

// changes is how much calls have changed files, by what they asked for.
type changes struct {
	Files      int `json:"files"`
	Insertions int `json:"insertions"` // lines
	Deletions  int `json:"deletions"`
}

func asChanges(c harness.Changes) *changes {
	if c == (harness.Changes{}) {
		return nil
	}
	return &changes{c.Files, c.Insertions, c.Deletions}
}

// when is a time, or nil for none.
func when(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// location is where a session is found.
func (s session) location() string {
	if s.Kind == harness.Chat {
		return "/chat/sessions/" + string(s.SessionID)
	}
	return "/sessions/" + string(s.SessionID)
}

// by is on whose behalf a request acts, for the log.
func by(ctx context.Context) string {
	c, _ := harness.CallerOf(ctx)
	return c.Actor()
}

// row finds a session of a kind; "" is any.
func (s *Server) row(ctx context.Context, id harness.SessionID, kind harness.Kind) (harness.Summary, error) {
	for sum, err := range s.k.List(ctx, harness.Filter{Session: id, Limit: 1}) {
		if err == nil && kind != "" && sum.Kind != kind {
			break
		}
		return sum, err
	}
	return harness.Summary{}, fmt.Errorf("session %s: %w", id, harness.ErrNotFound)
}

// config is how turns run, in S3's words.
type config struct {
	PermissionMode harness.Mode   `json:"permission_mode" rule:"words=normal|accept_edits|full_auto"`
	ApprovalMode   string         `json:"approval_mode" rule:"words=on_request|never"`
	Model          string         `json:"model,omitempty"`
	AgentProfile   string         `json:"agent_profile,omitempty"`
	ThinkLevel     harness.Effort `json:"think_level,omitempty"`
	MaxTurns       int            `json:"max_turns,omitempty"`
	SystemPrompt   string         `json:"system_prompt,omitempty"`
}

func asConfig(c harness.Config) config {
	mode := "on_request"
	if c.PermissionMode == harness.FullAuto {
		mode = "never"
	}
	return config{c.PermissionMode, mode, c.Model, c.Agent, c.Effort, c.MaxTurns, c.SystemPrompt}
}

// settings is what a client may set of how turns run, in S3's words.
type settings struct {
	PermissionMode *string `json:"permission_mode" rule:"words=normal|accept_edits|full_auto"`
	ThinkLevel     *string `json:"think_level" rule:"words=low|medium|high|max"`
	Model          *string `json:"model" rule:"max=128"`
	AgentProfile   *string `json:"agent_profile" rule:"max=128"`
	SystemPrompt   *string `json:"system_prompt" rule:"max=524288"`
	MaxTurns       *int64  `json:"max_turns" rule:"min=0 max=1000000"`

	Policy *policyChange `json:"policy"`
}

func (c settings) patch() harness.ConfigPatch {
	p := harness.ConfigPatch{Model: c.Model, Agent: c.AgentProfile, SystemPrompt: c.SystemPrompt}
	if c.PermissionMode != nil {
		p.PermissionMode = new(harness.Mode(*c.PermissionMode))
	}
	if c.ThinkLevel != nil {
		p.Effort = new(harness.Effort(*c.ThinkLevel))
	}
	if c.MaxTurns != nil {
		p.MaxTurns = new(int(*c.MaxTurns))
	}
	p.Health = c.Policy.bounds()
	return p
}
