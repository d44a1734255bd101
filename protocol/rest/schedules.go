package rest

import (
	"context"
	"net/http"
	"time"

	"harness"
)

type (
	// NewSchedule is a session to make, and when.
	NewSchedule struct {
		Name           string       `json:"name,omitempty" rule:"max=128"`
		When           string       `json:"when" rule:"required max=200"` // cron's five fields, an @word, or every and a duration
		Zone           string       `json:"zone,omitempty" rule:"max=64"` // an IANA time zone; UTC if it is left out
		Overlap        string       `json:"overlap,omitempty" rule:"words=skip|queue|replace"`
		Missed         string       `json:"missed,omitempty" rule:"words=run|skip"`
		Prompt         string       `json:"prompt" rule:"required max=524288"`
		Engine         string       `json:"engine,omitempty" rule:"max=128"`
		Directory      string       `json:"directory,omitempty" rule:"max=4096"`
		Model          string       `json:"model,omitempty" rule:"max=128"`
		PermissionMode harness.Mode `json:"permission_mode,omitempty" rule:"words=normal|accept_edits|full_auto"`
		MaxRetries     int64        `json:"max_retries,omitempty" rule:"min=0 max=100"`
		ExpiresAfterS  int64        `json:"expires_after_s,omitempty" rule:"min=1 max=31622400"` // seconds after its time
	}
	// Schedule is one that is followed.
	Schedule struct {
		ScheduleID     string            `json:"schedule_id"`
		Name           string            `json:"name,omitempty"`
		When           string            `json:"when"`
		Zone           string            `json:"zone"`
		Overlap        string            `json:"overlap"`
		Missed         string            `json:"missed"`
		Prompt         string            `json:"prompt"`
		Engine         string            `json:"engine,omitempty"`
		Directory      string            `json:"directory,omitempty"`
		Model          string            `json:"model,omitempty"`
		PermissionMode harness.Mode      `json:"permission_mode,omitempty"`
		MaxRetries     int               `json:"max_retries,omitempty"`
		ExpiresAfterS  int64             `json:"expires_after_s,omitempty"`
		UserID         string            `json:"user_id,omitempty"`
		CreatedAt      time.Time         `json:"created_at"`
		NextAt         *time.Time        `json:"next_at"`
		LastSessionID  harness.SessionID `json:"last_session_id,omitempty"`
		LastOutcome    string            `json:"last_outcome,omitempty"` // started, skipped, queued, replaced, missed, or what went wrong
	}
	scheduleList struct {
		Schedules []Schedule `json:"schedules"`
	}
	onSchedule struct {
		ID string `json:"schedule_id" rule:"required id"`
	}
	begun struct {
		SessionID harness.SessionID `json:"session_id"`
	}
)

// Schedules is what happens by the clock, for callers: each sees and changes its
// own.
type Schedules interface {
	Schedules(ctx context.Context) ([]Schedule, error)
	AddSchedule(ctx context.Context, key string, c NewSchedule) (Schedule, error)
	RemoveSchedule(ctx context.Context, id string) error
	RunSchedule(ctx context.Context, id, key string) (harness.SessionID, error)
}

func (s *Server) schedules() (Schedules, error) {
	return part[Schedules](s.opts.Schedules, "this server has no schedules")
}

func (s *Server) listSchedules(ctx context.Context, _ *none) (scheduleList, error) {
	list, err := listed(ctx, s.schedules, Schedules.Schedules)
	return scheduleList{list}, err
}

func (s *Server) addSchedule(ctx context.Context, key string, _ *none, b *NewSchedule) (Schedule, error) {
	all, err := s.schedules()
	if err != nil {
		return Schedule{}, err
	}
	return all.AddSchedule(ctx, key, *b)
}

func (s *Server) runSchedule(ctx context.Context, key string, p *onSchedule, _ *none) (begun, error) {
	all, err := s.schedules()
	if err != nil {
		return begun{}, err
	}
	id, err := all.RunSchedule(ctx, p.ID, key)
	return begun{id}, err
}

func (s *Server) removeSchedule(w http.ResponseWriter, r *http.Request, p *onSchedule, _ *none) error {
	return removed(w, r, s.schedules, Schedules.RemoveSchedule, p.ID)
}
