package native

import (
	"cmp"
	"context"

	"harness"
	"harness/model"
)

// gauge knows how full the model's window is: what the provider counted last,
// and an estimate of what has changed since.
type gauge struct {
	counted   int64 // by the provider; 0 if it has not
	estimated int64 // for the same request
	provider  string
	model     string
	aside     model.Usage // of answers that were not the turn's own
	costAside *float64
	unpriced  bool
}

// size is how many tokens the request takes.
func (g *gauge) size(req *model.Request) int64 {
	n := model.Estimate(req)
	if g.counted == 0 {
		return n
	}
	return max(0, g.counted+n-g.estimated)
}

// window is how much the model can read; 0 if that is not known.
func (r *turn) window(req *model.Request) int64 {
	name := cmp.Or(req.Model, r.gauge.model)
	if fact, ok := r.e.opts.Facts.About(r.gauge.provider, name); ok && r.gauge.provider != "" {
		return fact.Window
	}
	fact, _ := r.e.opts.Facts.About(r.e.opts.Provider, name) // at another address a model has another price, not another window
	return fact.Window
}

// weigh takes over what the provider counted in an earlier turn.
func (r *turn) weigh() {
	req := r.request()
	if window := r.window(req); r.conv.full > 0 && window > 0 && r.conv.weighed <= len(r.conv.rounds) {
		r.gauge.counted = int64(r.conv.full * float64(window) / 100)
		r.gauge.estimated = model.Estimate(req) - estimate(r.conv.rounds[r.conv.weighed:])
	}
}

// count reports what the turn has cost so far.
func (r *turn) count(ctx context.Context, req *model.Request, a *model.Answer) error {
	g := &r.gauge
	g.provider, g.model = a.Provider, a.Model
	g.counted, g.estimated = a.Usage.Prompt(), model.Estimate(req)
	u := harness.Usage{Model: cmp.Or(a.Model, req.Model)}
	before := r.conv.turn.usage
	all := a.Usage.Add(g.aside)
	u.InputTokens, u.OutputTokens, u.CachedTokens = before.InputTokens+all.Prompt(), before.OutputTokens+all.Output, before.CachedTokens+all.CacheRead
	cost := r.cost(a)
	switch {
	case cost == nil || g.unpriced || r.conv.turn.answers > 0 && before.CostUSD == nil:
		u.CostUSD = nil
	default:
		u.CostUSD = new(*cost + deref(before.CostUSD) + deref(g.costAside))
	}
	g.aside, g.costAside = model.Usage{}, nil
	if w := r.window(req); w > 0 && a.Usage.Total() > 0 {
		u.ContextPct = new(100 * float64(a.Usage.Total()) / float64(w))
	}
	return r.emit(ctx, &u)
}

// countAside remembers what an answer cost that is not the turn's own, such as a
// summary.
func (r *turn) countAside(a *model.Answer) {
	g := &r.gauge
	g.aside = g.aside.Add(a.Usage)
	if cost := r.cost(a); cost != nil {
		g.costAside = new(deref(g.costAside) + *cost)
		return
	}
	g.unpriced = true
}

func (r *turn) cost(a *model.Answer) *float64 {
	return r.e.opts.Facts.Cost(a.Provider, a.Model, a.Usage)
}

func deref(f *float64) float64 {
	if f == nil {
		return 0
	}
	return *f
}
