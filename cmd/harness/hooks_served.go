package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"harness"
	"harness/gateway"
	"harness/notify"
	"harness/protocol/rest"
)

// servedHooks is the notifier for callers: each has webhooks of its own, those
// that may act for others see them all and are told of everybody.
type servedHooks struct {
	gate     *gateway.Gate
	notifier *notify.Notifier
	secrets  secrets
}

func (s servedHooks) Webhooks(ctx context.Context) (list []rest.Webhook, err error) {
	if err := s.gate.Allow(ctx, gateway.List, ""); err != nil {
		return nil, err
	}
	for _, h := range s.notifier.Hooks() {
		if ownedBy(ctx, h.User, "") {
			list = append(list, asWebhook(h))
		}
	}
	return list, nil
}

// ownedBy reports whether something of a user, made with a scope, is the
// caller's to see. To one that has a scope of its own, only that is.
func ownedBy(ctx context.Context, user string, scope harness.CallerScope) bool {
	c, _ := harness.CallerOf(ctx)
	if c.Scope != "" && c.Scope != scope {
		return false
	}
	return gateway.Allows(c.Role, gateway.ForOther) || user != "" && user == c.User
}

func asWebhook(h notify.Status) rest.Webhook {
	w := rest.Webhook{Name: h.Name, URL: h.URL, Command: len(h.Command) > 0, UserID: h.User, Waiting: h.Waiting, Removable: h.Made, On: []string{}}
	on := h.On
	if len(on) == 0 {
		on = notify.Usual()
	}
	for _, k := range on {
		w.On = append(w.On, string(k))
	}
	if len(h.Only) == 1 {
		w.Kind = string(h.Only[0])
	}
	if !h.Created.IsZero() {
		w.CreatedAt = &h.Created
	}
	if h.Failed.Since > 0 {
		w.Failures, w.LastFailedAt, w.LastError = h.Failed.Since, &h.Failed.At, h.Failed.Why
	}
	return w
}

func (s servedHooks) AddWebhook(ctx context.Context, n rest.NewWebhook) (rest.Webhook, error) {
	if err := s.gate.Allow(ctx, gateway.Notify, ""); err != nil {
		return rest.Webhook{}, err
	}
	c, _ := harness.CallerOf(ctx)
	h := notify.Hook{Name: n.Name, URL: n.URL, Secret: n.Secret, Actor: c.Actor(), User: c.User}
	if gateway.Allows(c.Role, gateway.ForOther) {
		h.User = ""
	}
	for word := range strings.SplitSeq(n.On, ",") {
		if word = strings.TrimSpace(word); word != "" {
			h.On = append(h.On, notify.Kind(word))
		}
	}
	if n.Kind != "" {
		h.Only = []harness.Kind{n.Kind}
	}
	if h.Secret == "" {
		h.Secret = notify.NewSecret()
	}
	err := h.Check()
	if err == nil {
		err = s.secrets.Add(h.Secret)
	}
	if err == nil {
		err = s.notifier.Add(h)
	}
	s.gate.Did(ctx, gateway.Notify, "add "+n.Name, err)
	if err != nil {
		return rest.Webhook{}, err
	}
	made := asWebhook(notify.Status{Hook: h, Made: true})
	made.Secret = h.Secret
	return made, nil
}

func (s servedHooks) RemoveWebhook(ctx context.Context, name string) error {
	if err := s.gate.Allow(ctx, gateway.Notify, ""); err != nil {
		return err
	}
	if !slices.ContainsFunc(s.notifier.Hooks(), func(h notify.Status) bool { return h.Name == name && h.Made && ownedBy(ctx, h.User, "") }) {
		return harness.ErrNotFound.Saying("no webhook " + name)
	}
	err := s.notifier.Remove(name)
	s.gate.Did(ctx, gateway.Notify, "remove "+name, err)
	return err
}

func (s servedHooks) TryWebhook(ctx context.Context, name string) (rest.Tried, error) {
	if err := s.gate.Allow(ctx, gateway.Notify, ""); err != nil {
		return rest.Tried{}, err
	}
	if !slices.ContainsFunc(s.notifier.Hooks(), func(h notify.Status) bool { return h.Name == name && ownedBy(ctx, h.User, "") }) {
		return rest.Tried{}, harness.ErrNotFound.Saying("no webhook " + name)
	}
	began := time.Now()
	err := s.notifier.Try(ctx, name)
	s.gate.Did(ctx, gateway.Notify, "test "+name, err)
	tried := rest.Tried{Delivered: err == nil, ElapsedMS: time.Since(began).Milliseconds()}
	if err != nil {
		tried.Problem = err.Error()
	}
	return tried, nil
}
