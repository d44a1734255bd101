package rest

import (
	"context"
	"net/http"
	"time"

	"harness"
)

type (
	// NewToken is a token that is to be made.
	NewToken struct {
		Name      string             `json:"name" rule:"required id"`
		UserID    string             `json:"user_id,omitempty" rule:"id"` // whose sessions are the token's; only an admin needs none
		Role      harness.CallerRole `json:"role" rule:"required words=viewer|operator|approver|admin"`
		Scope     string             `json:"scope,omitempty" rule:"max=4096"`    // what of its role it has: verbs, session:ID, dir:PATH, with commas; all if it is left out
		ExpiresAt string             `json:"expires_at,omitempty" rule:"max=64"` // RFC 3339; else it is valid until it is removed
	}
	// Token is a named token. What it is itself is told when it is made.
	Token struct {
		Name      string             `json:"name"`
		UserID    string             `json:"user_id,omitempty"`
		Role      harness.CallerRole `json:"role" rule:"words=viewer|operator|approver|admin"`
		Scope     []string           `json:"scope,omitempty"`
		CreatedAt time.Time          `json:"created_at"`
		ExpiresAt *time.Time         `json:"expires_at,omitempty"`
		Token     string             `json:"token,omitempty"` // only when it is made
	}
	tokenList struct {
		Tokens []Token `json:"tokens"`
	}
)

// Tokens are the named tokens of the server, for those who may make them.
type Tokens interface {
	Tokens(ctx context.Context) ([]Token, error)
	AddToken(ctx context.Context, t NewToken, until time.Time) (Token, error) // zero: until it is removed
	RemoveToken(ctx context.Context, name string) error
}

func (s *Server) tokens() (Tokens, error) {
	return part[Tokens](s.opts.Tokens, "this server's tokens are made elsewhere")
}

func (s *Server) listTokens(ctx context.Context, _ *none) (tokenList, error) {
	list, err := listed(ctx, s.tokens, Tokens.Tokens)
	return tokenList{list}, err
}

func (s *Server) addToken(ctx context.Context, _ string, _ *none, b *NewToken) (Token, error) {
	all, err := s.tokens()
	if err != nil {
		return Token{}, err
	}
	until, err := expiry(b.ExpiresAt)
	if err != nil {
		return Token{}, err
	}
	return all.AddToken(ctx, *b, until)
}

func (s *Server) removeToken(w http.ResponseWriter, r *http.Request, p *onName, _ *none) error {
	return removed(w, r, s.tokens, Tokens.RemoveToken, p.Name)
}
