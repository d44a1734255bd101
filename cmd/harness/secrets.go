package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"harness"
	"harness/gateway/secret"
	"harness/internal/redact"
	"harness/kernel"
)

// secrets are the values that the process knows and that nobody is to see. They
// stand before the kernel and before every log. Whoever reads a key adds it.
type secrets struct{ *redact.Redactor }

// Stream is for the kernel.
func (s secrets) Stream() kernel.TextStream { return s.Redactor.Stream() }

// refuse is ErrSecret if one of the events holds a value that is known. They
// are to be kept as they are, so nothing can be taken out of them.
func (s secrets) refuse(events []harness.Event) error {
	for _, e := range events {
		if s.holds(string(e.JSON())) {
			return fmt.Errorf("event %d: %w", e.Seq, harness.ErrSecret)
		}
	}
	return nil
}

// holds reports whether a JSON text has a known value in it, however that is
// written.
func (s secrets) holds(text string) bool {
	if s.Known(text) != text {
		return true
	}
	if !strings.Contains(text, `\u`) && !strings.Contains(text, `\/`) {
		return false
	}
	var v any
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return true // nobody can tell
	}
	b, err := json.Marshal(v)
	return err != nil || s.Known(string(b)) != string(b)
}

// secretSources is the flag --secret, which may be given more than once.
type secretSources []string

func (s *secretSources) String() string { return "" }

func (s *secretSources) all() []string { return *s }

func (s *secretSources) Set(source string) error {
	*s = append(*s, source)
	return nil
}

func (f *flags) secrets() *secretSources {
	s := new(secretSources)
	f.Var(s, "secret", "where a secret is that nobody is to see (`SOURCE`; repeatable): file:PATH, command:ARGV or env:NAME")
	return s
}

// ownVariables are those of ours that are for clients: no engine and no tool of
// one is to have them.
var ownVariables = []string{"HARNESS_TOKEN", "HARNESS_TOKEN_FILE"}

// hide reads the secrets of a process that runs engines, takes them out of its
// environment, and keeps others of the same user from looking into it.
func (p *program) hide(ctx context.Context, sources *secretSources) (secrets, error) {
	r, err := redact.New()
	if err != nil {
		return secrets{}, err
	}
	s := secrets{r}
	if token := p.getenv(ownVariables[0]); len(token) >= redact.MinSecret {
		if err := s.Add(token); err != nil {
			return s, err
		}
	}
	if err := secret.Erase(p.environment(), ownVariables...); err != nil {
		return s, err
	}
	inEnv := func(source string) bool { return strings.HasPrefix(source, "env:") }
	first, then := slices.Clone(*sources), slices.Clone(*sources)
	first = slices.DeleteFunc(first, func(s string) bool { return !inEnv(s) })
	for _, source := range append(first, slices.DeleteFunc(then, inEnv)...) { // so that no command inherits one
		value, err := p.secret(ctx, source)
		if err == nil {
			err = s.Add(value)
		}
		if err != nil {
			return s, fmt.Errorf("--secret: %w", err)
		}
	}
	return s, secret.Undumpable()
}

// secret reads one from where the flags say.
func (p *program) secret(ctx context.Context, source string) (string, error) {
	return secret.Load(ctx, source, p.environment())
}

func (p *program) environment() secret.Environment {
	return secret.Environment{Get: p.getenv, Unset: os.Unsetenv}
}
