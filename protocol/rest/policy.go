package rest

import (
	"context"
	"encoding/json"
	"fmt"

	"harness"
)

type (
	// PolicyQuestion is a call of a tool that somebody might make.
	PolicyQuestion struct {
		Tool      string          `json:"tool" rule:"required max=200"`
		Input     json.RawMessage `json:"input"`
		Mode      harness.Mode    `json:"mode" rule:"words=normal|accept_edits|full_auto"`
		Directory string          `json:"directory" rule:"max=4096"`
		Engine    string          `json:"engine" rule:"max=200"`
		Kind      harness.Kind    `json:"kind" rule:"words=chat|background"`
	}
	// PolicyVerdict is what would be decided about it, and why.
	PolicyVerdict struct {
		Outcome string `json:"outcome" rule:"words=allow|ask|deny"`
		Rule    string `json:"rule"`
		Reason  string `json:"reason,omitempty"`
		Source  string `json:"source"`
		Always  string `json:"always,omitempty"` // what an answer with scope always would be about; empty: every call of the tool
	}
)

// testPolicy says what would be decided about a call. Nothing is called.
func (s *Server) testPolicy(ctx context.Context, _ string, _ *none, q *PolicyQuestion) (PolicyVerdict, error) {
	if s.opts.TryPolicy == nil {
		return PolicyVerdict{}, fmt.Errorf("this server does not tell its rules: %w", harness.ErrUnsupported)
	}
	if q.Mode == "" {
		q.Mode = harness.Normal
	}
	if q.Kind == "" {
		q.Kind = harness.Chat
	}
	return s.opts.TryPolicy(ctx, *q)
}
