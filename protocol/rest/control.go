package rest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"harness"
	"harness/health"
)

type (
	sessionQuery struct {
		Kind string `json:"kind" rule:"words=chat|background"`
		chatQuery
	}
	sessionChange struct {
		Title      *string `json:"title" rule:"max=1024"`
		MaxRetries *int64  `json:"max_retries" rule:"min=0 max=100"`
		ExpiresAt  string  `json:"expires_at" rule:"max=64"` // RFC 3339; of one that works by itself
		settings
	}
	configured struct {
		session
		Config config           `json:"config"`
		Health *health.Snapshot `json:"health,omitempty"`
	}
	cancelInput struct {
		TurnID harness.TurnID `json:"turn_id" rule:"id"` // only this one
	}
	branchInput struct {
		FromEventID  string `json:"from_event_id" rule:"max=192"`
		ResumeCursor string `json:"resume_cursor" rule:"max=192"`
		Title        string `json:"title" rule:"max=1024"`
	}
	rewindInput struct {
		MessageID harness.ItemID `json:"message_id" rule:"required id"`
		DryRun    bool           `json:"dry_run"`
		Force     bool           `json:"force"` // also what somebody else has changed since
	}
)

// parseStatuses reads statuses with commas between them.
func parseStatuses(s string) ([]harness.Status, error) {
	if s == "" {
		return nil, nil
	}
	var list []harness.Status
	for word := range strings.SplitSeq(s, ",") {
		st := harness.Status(strings.TrimSpace(word))
		if !slices.Contains(harness.Statuses(), st) {
			return nil, badField("status", fmt.Sprintf("there is no status %q", st))
		}
		list = append(list, st)
	}
	return list, nil
}

func (s *Server) listSessions(ctx context.Context, p *sessionQuery) (sessionPage, error) {
	return s.list(ctx, harness.Kind(p.Kind), &p.chatQuery)
}

func (s *Server) getSession(ctx context.Context, p *onSession) (sessionDetail, error) {
	return s.detail(ctx, p.ID, "")
}

func (s *Server) configure(ctx context.Context, _ string, p *onSession, b *sessionChange) (configured, error) {
	c := harness.Configure{Patch: b.patch(), Title: b.Title, Actor: by(ctx)}
	if b.MaxRetries != nil {
		c.MaxRetries = new(int(*b.MaxRetries))
	}
	if at, err := expiry(b.ExpiresAt); err != nil {
		return configured{}, err
	} else if !at.IsZero() {
		c.Expires = &at
	}
	if c.Patch.Empty() && c.Title == nil && c.MaxRetries == nil && c.Expires == nil {
		return configured{}, badField("body", "nothing to change")
	}
	if _, err := s.k.Do(ctx, p.ID, c); err != nil {
		return configured{}, err
	}
	st, err := s.k.At(ctx, p.ID, 0)
	if err != nil {
		return configured{}, err
	}
	return configured{session: asSession(st.Summary()), Config: asConfig(st.Config), Health: healthOf(st)}, nil
}

func (s *Server) remove(w http.ResponseWriter, r *http.Request, p *onSession, _ *none) error {
	k, ok := s.k.(remover)
	if !ok {
		return harness.ErrUnsupported
	}
	if err := k.Remove(r.Context(), p.ID); err != nil {
		return err
	}
	s.feeds.look(p.ID)
	s.lobby.changed(p.ID, activity{})
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Server) cancel(ctx context.Context, key string, p *onSession, b *cancelInput) (receipt, error) {
	got, err := s.do(ctx, p.ID, harness.Cancel{Turn: b.TurnID, ClientKey: key, Actor: by(ctx)}, key, func(e harness.Payload) bool {
		if st, ok := e.(*harness.SessionState); ok { // it was waiting in line
			return st.Status == harness.StatusCancelled && st.ClientKey == key
		}
		h, ok := e.(*harness.HookEvent)
		return ok && h.Kind == harness.HookCancel && h.ClientKey == key
	})
	if err == nil && b.TurnID != "" && got.Turn != b.TurnID {
		err = errKeyReused
	}
	return s.withHealth(ctx, p.ID, got, err)
}

func (s *Server) pause(ctx context.Context, key string, p *onSession, _ *none) (receipt, error) {
	got, err := s.do(ctx, p.ID, harness.Pause{ClientKey: key, Actor: by(ctx)}, key, func(e harness.Payload) bool {
		st, ok := e.(*harness.SessionState)
		return ok && st.ClientKey == key && (st.Status == harness.Paused || st.PauseRequested != nil && *st.PauseRequested)
	})
	return s.withHealth(ctx, p.ID, got, err)
}

func (s *Server) branchChat(ctx context.Context, key string, p *onSession, b *branchInput) (session, error) {
	if _, err := s.row(ctx, p.ID, harness.Chat); err != nil {
		return session{}, err
	}
	return s.branch(ctx, key, p.ID, b)
}

// branch makes a session that begins with the history of another.
func (s *Server) branch(ctx context.Context, key string, id harness.SessionID, b *branchInput) (session, error) {
	from, err := harness.BranchAt(id, b.FromEventID, b.ResumeCursor)
	if err != nil {
		return session{}, err
	}
	sum, err := s.row(ctx, id, "")
	if err != nil {
		return session{}, err
	}
	return s.create(ctx, key, "branch of "+string(id), harness.NewSession{User: sum.User, Title: b.Title, From: from})
}
