package rest_test

import (
	"context"
	"time"

	"harness"
	"harness/protocol/rest"
)

// keys are tokens that open nothing.
type keys map[string]rest.Token

func (k keys) Tokens(context.Context) (list []rest.Token, err error) {
	for _, t := range k {
		list = append(list, t)
	}
	return list, nil
}

func (k keys) AddToken(_ context.Context, n rest.NewToken, until time.Time) (rest.Token, error) {
	if _, taken := k[n.Name]; taken {
		return rest.Token{}, harness.ErrExists
	}
	t := rest.Token{Name: n.Name, UserID: n.UserID, Role: n.Role, Scope: []string{n.Scope}, CreatedAt: time.Now(), ExpiresAt: &until}
	k[n.Name] = t
	t.Token = "hk_x"
	return t, nil
}

func (k keys) RemoveToken(_ context.Context, name string) error {
	if _, ok := k[name]; !ok {
		return harness.ErrNotFound
	}
	delete(k, name)
	return nil
}

// tokens calls every operation about tokens, well and badly.
func (s *server) tokens() {
	s.t.Helper()
	s.must(201, nil, "POST", "/tokens", `{"name":"ci","role":"operator","user_id":"ada","scope":"read","expires_at":"2099-01-01T00:00:00Z"}`)
	s.refused(409, "exists", "", "POST", "/tokens", `{"name":"ci","role":"admin"}`)
	s.refused(400, "invalid", "expires_at", "POST", "/tokens", `{"name":"x","role":"admin","expires_at":"soon"}`)
	s.refused(400, "invalid", "role", "POST", "/tokens", `{"name":"x","role":"king"}`)
	s.refused(400, "invalid", "name", "POST", "/tokens", `{"role":"admin"}`)
	s.must(200, nil, "GET", "/tokens", "")
	s.must(204, nil, "DELETE", "/tokens/ci", "")
	s.refused(404, "not_found", "", "DELETE", "/tokens/ci", "")
}
