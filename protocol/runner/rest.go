package runner

import (
	"context"
	"time"
)

// How long a runner that was started for a server stays when nobody asks it for
// anything. None of them lives for ever.
const (
	// IdleAfter is for one that has nothing to do: S2's idle timeout.
	IdleAfter = 5 * time.Minute
	// UnheardAfter is for one whose run is over and was never read to its end:
	// the server may be away for a while.
	UnheardAfter = time.Hour
	// AbandonAfter is for one whose run goes on, or waits for an answer, with
	// nobody there.
	AbandonAfter = 24 * time.Hour
)

// Rest returns nil when nobody has needed the runner for long enough, given idle
// in the place of [IdleAfter], or the context's cause.
func (r *Runner) Rest(ctx context.Context, idle time.Duration) error {
	for {
		left := r.patience(time.Now(), idle)
		if left <= 0 {
			return nil
		}
		t := time.NewTimer(min(left, idle)) // a run may end meanwhile
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		}
	}
}

// patience is how long the runner waits at least until somebody needs it.
func (r *Runner) patience(now time.Time, idle time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	limit := idle
	if r.attached > 0 {
		return limit
	}
	if run := r.run; run != nil {
		run.mu.Lock()
		defer run.mu.Unlock()
		switch {
		case run.state == Running:
			limit = max(limit, AbandonAfter)
		case !run.heard:
			limit = max(limit, UnheardAfter)
		}
	}
	return limit - now.Sub(r.used)
}
