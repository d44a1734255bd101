package kernel

import (
	"context"
	"fmt"
	"sync"

	"harness"
)

// Recover wakes every session that a crash may have left in the middle of
// something: open calls are closed, orphaned turns ended or tried again,
// waiting prompts started. Approvals that are pending stay so. Call it once,
// before clients are served. It returns how many sessions it woke; one that
// cannot be loaded is logged and does not keep the others from it.
func (k *Kernel) Recover(ctx context.Context) (int, error) {
	busy := []harness.Status{harness.Queued, harness.Running, harness.AwaitingApproval, harness.Recovering}
	var wg sync.WaitGroup
	atOnce := make(chan struct{}, cap(k.loads))
	n := 0
	k.queue.hold(true)
	defer func() { wg.Wait(); k.queue.hold(false) }()
	for sum, err := range k.store.List(ctx, harness.Filter{Statuses: busy}) {
		if err != nil {
			return n, fmt.Errorf("recover: %w", err)
		}
		n++
		if k.opts.Cluster == nil && k.queue.recover(sum) {
			continue
		}
		atOnce <- struct{}{}
		wg.Go(func() {
			defer func() { <-atOnce }()
			if err := k.Adopt(ctx, sum.Session); err != nil && !k.elsewhere(err) {
				k.log.Error("session not recovered", "session", sum.Session, "err", err)
			}
		})
	}
	wg.Wait()
	return n, k.queue.recall(ctx)
}

// Drain takes no new turns and waits until the running ones have ended or ctx
// is done.
func (k *Kernel) Drain(ctx context.Context) error {
	k.mu.Lock()
	if !k.draining {
		k.draining = true
		close(k.drain)
	}
	var wait []*session
	for _, s := range k.awake {
		wait = append(wait, s)
	}
	k.mu.Unlock()
	for _, s := range wait {
		select {
		case <-s.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Close ends all sessions and returns when nothing of the kernel runs any
// more. Turns that still run are told to stop and stay open in the log, as
// after a crash, so that the next start sees to them.
func (k *Kernel) Close() error {
	k.mu.Lock()
	if !k.closed {
		k.closed = true
		close(k.halt)
		close(k.term)
		k.end()
	}
	k.mu.Unlock()
	k.queue.stop()
	k.wg.Wait()
	return nil
}
