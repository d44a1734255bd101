package main

import (
	"context"
	"sync"
	"time"

	"harness"
)

// retention is the flag that says for how long sessions are kept that nobody
// uses.
func (f *flags) retention() *time.Duration {
	return f.Duration("retention", 0, "remove a session that has ended or is idle when nothing has happened in it for this time; 0 keeps all")
}

// How often it is looked for what is old: ten times in the time it may have, but
// not all the time, and not so seldom that a night's work is missed.
const (
	retireOften  = 100 * time.Millisecond
	retireSeldom = time.Hour
)

// retire removes what is older than keep, now and then, until ctx ends or stop
// is called, which waits for it.
func (s *surface) retire(ctx context.Context, keep time.Duration) (stop func()) {
	if keep == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		every := time.NewTicker(min(max(keep/10, retireOften), retireSeldom))
		defer every.Stop()
		for {
			n := 0
			err := s.k.Retire(ctx, time.Now().Add(-keep), func(id harness.SessionID) {
				s.removed(id)
				n++
			})
			if n > 0 {
				s.log.Info("old sessions removed", "count", n, "older", keep)
			}
			if err != nil && ctx.Err() == nil {
				s.log.Warn("old sessions not removed", "err", err)
			}
			select {
			case <-every.C:
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}
