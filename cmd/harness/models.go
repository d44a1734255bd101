package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"harness"
	"harness/egress"
	"harness/model"
	"harness/model/anthropic"
	"harness/model/offline"
	"harness/model/openai"
)

// provider is a protocol that model servers speak.
type provider struct {
	key     string // the variable that usually holds a key
	model   string // asked for if none is named; empty: one must be
	needKey bool
	open    func(key, url, name string) model.Client // nil: the native engine does not speak it
	out     func(key func() string) egress.Provider  // nil: agents of others do not ask it through us
}

// providers by the name that --model begins with, and --key.
var providers = map[string]provider{
	"anthropic": {"ANTHROPIC_API_KEY", "claude-sonnet-4-5", true, func(key, url, name string) model.Client {
		return anthropic.New(key, &anthropic.Options{URL: url, Name: name})
	}, egress.Anthropic},
	"openai": {"OPENAI_API_KEY", "gpt-5", true, func(key, url, name string) model.Client {
		return openai.NewResponses(key, &openai.Options{URL: url, Name: name})
	}, egress.OpenAI},
	"google": {"GEMINI_API_KEY", "", true, nil, egress.Google},
	"chat": {"", "", false, func(key, url, name string) model.Client {
		return openai.NewChat(key, &openai.Options{URL: url, Name: name})
	}, nil},
}

// brain is the flags that say which model a native engine asks.
type brain struct {
	model *string
	keys  *pairs
	urls  *pairs
	pace  *time.Duration

	found map[string]string // keys by provider, once they were looked for
	unfit map[string]error  // why the value of a provider's variable is no key
}

func (f *flags) brain() *brain {
	b := &brain{keys: new(pairs), urls: new(pairs)}
	b.model = f.String("model", "auto", "`MODEL`: anthropic/NAME, openai/NAME, chat/NAME, offline; more with commas to fall back")
	f.Var(b.keys, "key", "where a provider's key is, as anthropic=file:PATH (`PROVIDER=SOURCE`; repeatable); else in its variable")
	f.Var(b.urls, "model-url", "another server for a provider (`PROVIDER=URL`; repeatable), such as chat=http://127.0.0.1:11434/v1")
	b.pace = f.Duration("pace", 25*time.Millisecond, "time that a word of the offline model takes")
	return b
}

// mind is what a native engine thinks with.
type mind struct {
	client   model.Client
	model    string
	provider string
	said     string // what was chosen, for people
}

// find reads the providers' keys, which become secrets of the process. Where one
// came from the environment it is not there any more afterwards.
func (b *brain) find(ctx context.Context, p *program, hidden secrets) (map[string]string, error) {
	if b.found != nil {
		return b.found, nil
	}
	for name := range *b.keys {
		if _, ok := providers[name]; !ok {
			return nil, fmt.Errorf("--key %s: unknown provider, want one of %s: %w", name, names(providers), harness.ErrInvalid)
		}
	}
	b.found, b.unfit = make(map[string]string), make(map[string]error)
	for name, pr := range providers {
		source := (*b.keys)[name]
		if source == "" && pr.key != "" && p.getenv(pr.key) != "" {
			source = "env:" + pr.key
		}
		if source == "" {
			continue
		}
		key, err := p.secret(ctx, source)
		if err == nil {
			err = hidden.Add(key)
		}
		switch {
		case err == nil:
			b.found[name] = key
		case (*b.keys)[name] == "": // nobody said that it is to be used
			b.unfit[name] = err
		default:
			return nil, fmt.Errorf("--key %s: %w", name, err)
		}
	}
	return b.found, nil
}

// lacking says that there is no key for a provider.
func (b *brain) lacking(name string) error {
	variable := providers[name].key
	if err := b.unfit[name]; err != nil {
		return fmt.Errorf("no key; $%s: %w", variable, err)
	}
	return fmt.Errorf("no key; set $%s or --key %s=SOURCE: %w", variable, name, harness.ErrInvalid)
}

// open makes a client of the models that were asked for.
func (b *brain) open(ctx context.Context, p *program, hidden secrets) (mind, error) {
	keys, err := b.find(ctx, p, hidden)
	if err != nil {
		return mind{}, err
	}
	specs := *b.model
	if specs == "auto" {
		specs = "offline"
		for _, name := range []string{"anthropic", "openai"} {
			if keys[name] != "" {
				specs = name
				break
			}
		}
	}
	var routes []model.Route
	var first mind
	for i, spec := range strings.Split(specs, ",") {
		m, err := b.route(strings.TrimSpace(spec), keys)
		if err != nil {
			return mind{}, err
		}
		if i == 0 {
			first = m
		}
		routes = append(routes, model.Route{Name: m.provider, Client: m.client, Model: m.model})
	}
	if len(routes) > 1 {
		routes[0].Model = "" // what a session asks for
		first.client = model.Fallback(routes...)
		first.said += ", else " + strings.Join(strings.Split(specs, ",")[1:], ", else ")
	}
	return first, nil
}

// route is one of the models to ask.
func (b *brain) route(spec string, keys map[string]string) (mind, error) {
	if spec == "offline" {
		return mind{stay{offline.New(&offline.Options{Pace: *b.pace})}, offline.Model, offline.Provider, "offline model, which is not a language model"}, nil
	}
	name, asked, _ := strings.Cut(spec, "/")
	pr, ok := providers[name]
	switch {
	case !ok:
		ours := maps.Clone(providers)
		maps.DeleteFunc(ours, func(_ string, p provider) bool { return p.open == nil })
		return mind{}, fmt.Errorf("--model %s: unknown provider %q, want one of %s, or offline: %w", spec, name, names(ours), harness.ErrInvalid)
	case pr.open == nil:
		return mind{}, fmt.Errorf("--model %s: the native engine does not speak to %s; agents do, such as --engine \"acp:gemini --acp\": %w", spec, name, harness.ErrInvalid)
	}
	if asked == "" {
		asked = pr.model
	}
	url := (*b.urls)[name]
	switch {
	case asked == "":
		return mind{}, fmt.Errorf("--model %s: which model? %s/NAME: %w", spec, name, harness.ErrInvalid)
	case name == "chat" && url == "":
		return mind{}, fmt.Errorf("--model %s: which server? --model-url chat=URL: %w", spec, harness.ErrInvalid)
	case pr.needKey && keys[name] == "":
		return mind{}, fmt.Errorf("--model %s: %w", spec, b.lacking(name))
	}
	client := model.Retry(pr.open(keys[name], url, ""), nil)
	return mind{client, asked, name, name + "/" + asked}, nil
}

// pairs is a flag of NAME=VALUE that may be given more than once.
type pairs map[string]string

func (p *pairs) String() string { return "" }

func (p *pairs) all() (list []string) {
	for _, name := range slices.Sorted(maps.Keys(*p)) {
		list = append(list, name+"="+(*p)[name])
	}
	return list
}

func (p *pairs) Set(s string) error {
	name, value, ok := strings.Cut(s, "=")
	if !ok || name == "" || value == "" {
		return fmt.Errorf("want NAME=VALUE, not %q", s)
	}
	if *p == nil {
		*p = make(pairs)
	}
	(*p)[name] = value
	return nil
}
