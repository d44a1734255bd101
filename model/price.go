package model

import (
	"maps"

	"harness/internal/lazy"
)

// Price is what a provider asks for a million tokens, in US dollars.
type Price struct {
	Input, CacheRead, CacheWrite, Output float64
	// UpTo is the longest prompt this price holds for; 0 is any.
	UpTo int64
}

// Fact is what is known about a model: how much it can read, and its price. A
// zero Window or a nil Price is unknown.
type Fact struct {
	Window int64
	Price  *Price
}

// Facts are keyed "provider/model". A server that speaks a provider's protocol
// under another name has its own rows or none: unknown is a state, never a guess.
type Facts map[string]Fact

// dated is how a model is called when its day is pinned.
var dated = lazy.Regexp{Expr: `-(?:20\d{6}|20\d\d-\d\d-\d\d|latest)$`}

// About finds what is known about a model, by its name or by its name without a date.
func (f Facts) About(provider, model string) (Fact, bool) {
	if fact, ok := f[provider+"/"+model]; ok {
		return fact, true
	}
	fact, ok := f[provider+"/"+dated.Get().ReplaceAllString(model, "")]
	return fact, ok
}

// Cost is what u costs in US dollars, or nil if that is not known.
func (f Facts) Cost(provider, model string, u Usage) *float64 {
	fact, _ := f.About(provider, model)
	p := fact.Price
	if p == nil || p.UpTo > 0 && u.Prompt() > p.UpTo {
		return nil
	}
	return new((float64(u.Input)*p.Input + float64(u.CacheRead)*p.CacheRead + float64(u.CacheWrite)*p.CacheWrite + float64(u.Output)*p.Output) / 1e6)
}

// With is f and more, which wins.
func (f Facts) With(more Facts) Facts {
	all := maps.Clone(f)
	maps.Copy(all, more)
	return all
}

// KnownFacts are list prices as published by the providers, without discounts,
// as of June 2026; those of Claude 4.6 and GPT-5 as of March.
// A model that is not here has no price until a configuration gives it one.
func KnownFacts() Facts {
	claude := func(window int64, in, out float64, upTo int64) Fact {
		return Fact{window, &Price{Input: in, CacheRead: in / 10, CacheWrite: in * 1.25, Output: out, UpTo: upTo}}
	}
	gpt := func(window int64, in, cached, out float64) Fact {
		return Fact{window, &Price{Input: in, CacheRead: cached, CacheWrite: in, Output: out}}
	}
	return Facts{
		"anthropic/claude-opus-4":     claude(200_000, 15, 75, 0),
		"anthropic/claude-opus-4-1":   claude(200_000, 15, 75, 0),
		"anthropic/claude-opus-4-5":   claude(200_000, 5, 25, 0),
		"anthropic/claude-opus-4-6":   claude(1_000_000, 5, 25, 0),
		"anthropic/claude-sonnet-4-6": claude(1_000_000, 3, 15, 0),
		"anthropic/claude-sonnet-4":   claude(200_000, 3, 15, 200_000),
		"anthropic/claude-sonnet-4-5": claude(200_000, 3, 15, 200_000),
		"anthropic/claude-haiku-4-5":  claude(200_000, 1, 5, 0),
		"anthropic/claude-3-5-haiku":  claude(200_000, 0.8, 4, 0),

		"openai/gpt-5":        gpt(400_000, 1.25, 0.125, 10),
		"openai/gpt-5-mini":   gpt(400_000, 0.25, 0.025, 2),
		"openai/gpt-5-nano":   gpt(400_000, 0.05, 0.005, 0.4),
		"openai/gpt-4.1":      gpt(1_047_576, 2, 0.5, 8),
		"openai/gpt-4.1-mini": gpt(1_047_576, 0.4, 0.1, 1.6),
		"openai/gpt-4.1-nano": gpt(1_047_576, 0.1, 0.025, 0.4),
		"openai/gpt-4o":       gpt(128_000, 2.5, 1.25, 10),
		"openai/gpt-4o-mini":  gpt(128_000, 0.15, 0.075, 0.6),
		"openai/o3":           gpt(200_000, 2, 0.5, 8),
		"openai/o4-mini":      gpt(200_000, 1.1, 0.275, 4.4),

		"offline/offline": {Window: 200_000, Price: &Price{}},
	}
}
