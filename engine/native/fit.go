package native

import (
	"context"
	"errors"
	"fmt"

	"harness"
	"harness/model"
)

// When the window fills up, in hundredths: people are warned, then old results
// become stubs, then the model writes a summary.
const (
	warnAt    = 70
	shortenAt = 80
	compactAt = 90
	// worthIt is how much of the window stubs must free: each change of the
	// past costs the provider's cache.
	worthIt = 3
)

// fit makes the conversation fit the model's window. Where the window is not
// known, the provider has to say that it is too long.
func (r *turn) fit(ctx context.Context) error {
	req := r.request()
	window := r.window(req)
	if window == 0 {
		return nil
	}
	size := r.gauge.size(req)
	if size*100 >= warnAt*window && !r.conv.turn.warned {
		w := &harness.ContextWarning{UsedTokens: size, LimitTokens: window, Pct: 100 * float64(size) / float64(window)}
		if err := r.emit(ctx, w); err != nil {
			return err
		}
	}
	if size*100 >= shortenAt*window {
		saved, err := r.shorten(ctx, window)
		if err != nil {
			return err
		}
		size -= saved
	}
	if size*100 < compactAt*window {
		return nil
	}
	switch err := r.compact(ctx, fmt.Sprintf("%d of %d tokens are used", size, window), false); {
	case err == nil, errors.Is(err, errNothingToCompact):
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	default: // the turn goes on with what there is
		return r.emit(ctx, &harness.TransportDiagnostic{Status: "degraded", Kind: "compaction_failed", Reason: err.Error(), ProviderRequested: r.gauge.provider})
	}
}

// shorten replaces old results by stubs if that frees enough.
func (r *turn) shorten(ctx context.Context, window int64) (saved int64, err error) {
	trial := r.conv.clone()
	trial.shorten()
	saved = r.conv.estimate() - trial.estimate()
	if saved*100 < worthIt*window {
		return 0, nil
	}
	return saved, r.emit(ctx, &harness.HookEvent{Kind: hookStubs, Status: "applied", Reason: fmt.Sprintf("about %d tokens of old results were left out", saved)})
}

// estimate is roughly how many tokens rounds take.
func estimate(rounds []*round) int64 { return model.Estimate(&model.Request{Messages: render(rounds)}) }

func (c *conversation) estimate() int64 { return estimate(c.summarised(c.rounds)) }
