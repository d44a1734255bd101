package rest

import (
	"context"
	"net/http"
	"time"

	"harness"
)

type (
	// NewWebhook is a URL that is to be told what happens.
	NewWebhook struct {
		Name   string       `json:"name" rule:"required id"`
		URL    string       `json:"url" rule:"required max=4096"`
		On     string       `json:"on,omitempty" rule:"max=200"` // completed, failed, cancelled, expired, paused, needs_approval, with commas; the usual ones if it is left out
		Kind   harness.Kind `json:"kind,omitempty" rule:"words=chat|background"`
		Secret string       `json:"secret,omitempty" rule:"max=200"` // one is made if it is left out
	}
	// Webhook is one that is told.
	Webhook struct {
		Name      string     `json:"name"`
		URL       string     `json:"url,omitempty"`
		Command   bool       `json:"command,omitempty"` // it is a command of the server instead
		On        []string   `json:"on"`
		Kind      string     `json:"kind,omitempty"`
		UserID    string     `json:"user_id,omitempty"` // whose sessions; everybody's if it is left out
		Waiting   int        `json:"waiting"`           // notices that are not delivered yet
		Removable bool       `json:"removable"`
		Secret    string     `json:"secret,omitempty"` // only when it is made
		CreatedAt *time.Time `json:"created_at,omitempty"`

		Failures     int        `json:"failures,omitempty"` // attempts in a row that failed
		LastFailedAt *time.Time `json:"last_failed_at,omitempty"`
		LastError    string     `json:"last_error,omitempty"` // why; gone when one is delivered
	}
	// Tried is what came of a test.
	Tried struct {
		Delivered bool   `json:"delivered"`
		Problem   string `json:"problem,omitempty"` // why not
		ElapsedMS int64  `json:"elapsed_ms"`
	}
	webhookList struct {
		Webhooks []Webhook `json:"webhooks"`
	}
)

// Webhooks is who is told, for callers: each sees and changes its own.
type Webhooks interface {
	Webhooks(ctx context.Context) ([]Webhook, error)
	AddWebhook(ctx context.Context, h NewWebhook) (Webhook, error)
	RemoveWebhook(ctx context.Context, name string) error
	// TryWebhook tells one something now. An error says that it was not tried.
	TryWebhook(ctx context.Context, name string) (Tried, error)
}

func (s *Server) webhooks() (Webhooks, error) {
	return part[Webhooks](s.opts.Webhooks, "this server tells nobody")
}

func (s *Server) listWebhooks(ctx context.Context, _ *none) (webhookList, error) {
	list, err := listed(ctx, s.webhooks, Webhooks.Webhooks)
	return webhookList{list}, err
}

func (s *Server) addWebhook(ctx context.Context, _ string, _ *none, b *NewWebhook) (Webhook, error) {
	all, err := s.webhooks()
	if err != nil {
		return Webhook{}, err
	}
	return all.AddWebhook(ctx, *b)
}

func (s *Server) removeWebhook(w http.ResponseWriter, r *http.Request, p *onName, _ *none) error {
	return removed(w, r, s.webhooks, Webhooks.RemoveWebhook, p.Name)
}

func (s *Server) tryWebhook(ctx context.Context, _ string, p *onName, _ *none) (Tried, error) {
	all, err := s.webhooks()
	if err != nil {
		return Tried{}, err
	}
	return all.TryWebhook(ctx, p.Name)
}
