package main

import (
	"context"
	"slices"
	"time"

	"harness"
	"harness/gateway"
	"harness/protocol/rest"
)

// servedTokens are the named tokens for callers that may grant them: admins
// without a scope. Nobody is told a token but who makes it.
type servedTokens struct {
	gate    *gateway.Gate
	ring    *ring
	known   *gateway.Tokens
	secrets secrets
}

func (s servedTokens) Tokens(ctx context.Context) (list []rest.Token, err error) {
	if err := s.gate.Allow(ctx, gateway.Grant, ""); err != nil {
		return nil, err
	}
	all, _, err := s.ring.all(ctx)
	for _, t := range all {
		list = append(list, asToken(t))
	}
	return list, err
}

func asToken(t gateway.Token) rest.Token {
	return rest.Token{Name: t.Name, UserID: t.User, Role: t.Role, Scope: t.Scope, CreatedAt: t.Created, ExpiresAt: t.Expires}
}

func (s servedTokens) AddToken(ctx context.Context, n rest.NewToken, until time.Time) (rest.Token, error) {
	if err := s.gate.Allow(ctx, gateway.Grant, ""); err != nil {
		return rest.Token{}, err
	}
	made, err := s.add(ctx, n, until)
	s.gate.Did(ctx, gateway.Grant, "add "+n.Name, err)
	return made, err
}

func (s servedTokens) add(ctx context.Context, n rest.NewToken, until time.Time) (rest.Token, error) {
	scope := parts(n.Scope)
	if _, err := gateway.ParseScope(scope...); err != nil { // a path that is relative is nobody's here
		return rest.Token{}, err
	}
	t := gateway.Token{Name: n.Name, User: n.UserID, Role: n.Role, Scope: scoped(scope)}
	if !until.IsZero() {
		t.Expires = &until
	}
	if t.User == "" && t.Role != harness.Admin {
		return rest.Token{}, harness.ErrInvalid.Saying("user_id: whose sessions? only an admin needs none")
	}
	secret, err := s.ring.add(ctx, t)
	if err != nil {
		return rest.Token{}, err
	}
	if err := s.secrets.Add(secret); err != nil {
		return rest.Token{}, err
	}
	if err := s.known.Reload(ctx); err != nil {
		return rest.Token{}, err
	}
	made, err := s.find(ctx, n.Name)
	made.Token = secret
	return made, err
}

func (s servedTokens) find(ctx context.Context, name string) (rest.Token, error) {
	all, _, err := s.ring.all(ctx)
	if err != nil {
		return rest.Token{}, err
	}
	i := slices.IndexFunc(all, func(t gateway.Token) bool { return t.Name == name })
	if i < 0 {
		return rest.Token{}, harness.ErrNotFound.Saying("no token " + name)
	}
	return asToken(all[i]), nil
}

func (s servedTokens) RemoveToken(ctx context.Context, name string) error {
	if err := s.gate.Allow(ctx, gateway.Grant, ""); err != nil {
		return err
	}
	_, err := s.find(ctx, name)
	if err == nil {
		err = s.ring.remove(ctx, name)
	}
	if err == nil {
		err = s.known.Reload(ctx)
	}
	s.gate.Did(ctx, gateway.Grant, "remove "+name, err)
	return err
}
