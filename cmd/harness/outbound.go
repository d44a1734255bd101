package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"harness"
	"harness/gateway"
	"harness/notify"
	"harness/schedule"
	"harness/trace"
)

// outbound are the flags that say who is told what happens.
type outbound struct {
	p                 *program
	file, url, secret *string
	private           *bool

	collector, key *string
	content        *bool
}

func (f *flags) outbound() *outbound {
	return &outbound{
		p:         f.p,
		file:      f.String("notify", "", "`FILE` with webhooks and commands that are told what happens: harness.yaml with a key notify"),
		url:       f.String("webhook", "", "`URL` that is told of what is completed, failed, expired, or needs approval; needs --webhook-secret"),
		secret:    f.String("webhook-secret", "", "where the secret that signs it is (`SOURCE`): file:PATH, command:ARGV or env:NAME"),
		collector: f.String("otel", "", "`URL` of an OpenTelemetry collector that is told of turns, model calls and tools, by OTLP over HTTP"),
		key:       f.String("otel-header", "", "where a header of those requests is, NAME: VALUE (`SOURCE`): file:PATH, command:ARGV or env:NAME"),
		content:   f.Bool("otel-content", false, "prompts, answers, arguments and results go there, too"),

		private: f.Bool("webhook-private", false, "webhooks of --webhook and of callers may be at addresses that are not public"),
	}
}

// hooks are those that the flags name.
func (o *outbound) hooks(ctx context.Context) (hooks []notify.Hook, err error) {
	secret := func(source string) (string, error) { return o.p.secret(ctx, source) }
	if *o.file != "" {
		text, err := readRules(*o.file)
		if err == nil {
			hooks, err = notify.Parse(filepath.Base(*o.file), text, secret)
		}
		if err != nil {
			return nil, fmt.Errorf("--notify: %w", err)
		}
	}
	if *o.url == "" {
		return hooks, nil
	}
	h := notify.Hook{Name: "webhook", URL: *o.url, Private: *o.private}
	if *o.secret == "" {
		return nil, fmt.Errorf("--webhook: what is sent is signed, so --webhook-secret file:PATH is needed; openssl rand -base64 32 makes one: %w", harness.ErrInvalid)
	}
	if h.Secret, err = secret(*o.secret); err == nil {
		err = h.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("--webhook: %w", err)
	}
	return append(hooks, h), nil
}

// commandEnv is what commands get of the environment: where programs and the
// user's files are, and nothing of value.
func (o *outbound) commandEnv() (env []string) {
	for _, name := range []string{"PATH", "HOME", "LANG", "TZ", "DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"} {
		if v := o.p.getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// tracer tells a collector about turns, if one is named.
func (o *outbound) tracer(ctx context.Context, s *surface) (*trace.Tracer, error) {
	if o == nil || *o.collector == "" {
		return nil, nil
	}
	opts := &trace.Options{Log: s.log, Version: release, Content: *o.content}
	if *o.key != "" {
		line, err := o.p.secret(ctx, *o.key)
		name, value, ok := strings.Cut(line, ":")
		if value = strings.TrimSpace(value); err == nil && (!ok || value == "") {
			err = fmt.Errorf("want NAME: VALUE: %w", harness.ErrInvalid)
		}
		if err == nil {
			err = s.secrets.Add(value)
		}
		if err != nil {
			return nil, fmt.Errorf("--otel-header: %w", err)
		}
		opts.Headers = map[string]string{strings.TrimSpace(name): value}
	}
	t, err := trace.Open(s.k, *o.collector, opts)
	if err != nil {
		return nil, fmt.Errorf("--otel: %w", err)
	}
	return t, nil
}

// openOutbound opens what works without a client: who is told what happens, and
// what happens by the clock. Both hear of every commit.
func (s *surface) openOutbound(gate *gateway.Gate, store harness.Store, dir string) error {
	opts := &notify.Options{Log: s.log, Agent: "harness/" + release, Counted: s.meter.Told, Shared: accessOf(store), Hide: func(v string) error { return s.secrets.Add(v) }}
	var hooks []notify.Hook
	if s.outbound != nil {
		var err error
		if hooks, err = s.outbound.hooks(context.Background()); err != nil {
			return err
		}
		opts.Env, opts.Private = s.outbound.commandEnv(), *s.outbound.private
	}
	var err error
	if s.scheduler, err = schedule.Open(gate, filepath.Join(dir, "schedules"), &schedule.Options{Log: s.log, Shared: accessOf(store)}); err != nil {
		return err
	}
	s.closers = append(s.closers, s.scheduler.Close)
	s.k.OnCommit(s.scheduler.Committed)
	if s.notifier, err = notify.Open(s.k, filepath.Join(dir, "notify"), hooks, opts); err != nil {
		return err
	}
	s.closers = append(s.closers, s.notifier.Close)
	s.k.OnCommit(s.notifier.Committed)
	tracer, err := s.outbound.tracer(context.Background(), s)
	if err != nil {
		return err
	}
	if tracer != nil {
		s.closers = append(s.closers, tracer.Close)
		s.k.OnCommit(tracer.Committed)
	}
	if len(hooks) > 0 {
		names := make([]string, 0, len(hooks))
		for _, h := range hooks {
			names = append(names, h.Name)
		}
		slices.Sort(names)
		s.log.Info("hooks are told what happens", "hooks", strings.Join(names, ","))
	}
	return nil
}
