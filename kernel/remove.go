package kernel

import (
	"context"
	"fmt"

	"harness"
)

// Remove forgets a session for good, if the store can. One with a turn open or
// a prompt waiting is ErrBusy, one with branches ErrBranched. Whoever wants the
// session meanwhile waits and finds that there is none.
func (k *Kernel) Remove(ctx context.Context, id harness.SessionID) error {
	err := k.RemoveHere(ctx, id)
	if k.elsewhere(err) {
		return k.opts.Cluster.Remove(ctx, id)
	}
	return err
}

// RemoveHere is Remove, except that a session which another process runs is
// ErrLocked.
func (k *Kernel) RemoveHere(ctx context.Context, id harness.SessionID) error {
	return k.removeIf(ctx, id, func(harness.Summary) error { return nil })
}

// removeIf is RemoveHere, unless may has something against it. Nobody can change
// the session meanwhile.
func (k *Kernel) removeIf(ctx context.Context, id harness.SessionID, may func(harness.Summary) error) error {
	store, ok := k.store.(harness.Remover)
	if !ok {
		return fmt.Errorf("this store keeps sessions for ever: %w", harness.ErrUnsupported)
	}
	hole, err := k.hollow(ctx, id)
	if err != nil {
		return err
	}
	hole.err = errGone
	defer func() {
		k.forget(hole)
		close(hole.loaded)
		close(hole.done)
	}()
	release, err := k.claim(ctx, id)
	defer release()
	if err != nil {
		return err
	}
	directory := ""
	for sum, err := range k.store.List(ctx, harness.Filter{Session: id, Limit: 1}) {
		if err != nil {
			return err
		}
		directory = sum.Directory
		if err := may(sum); err != nil {
			return err
		}
		switch sum.Status {
		case harness.Queued, harness.Running, harness.AwaitingApproval, harness.Recovering:
			return harness.ErrBusy
		case harness.Idle, harness.Paused, harness.StatusCompleted, harness.StatusFailed, harness.StatusCancelled:
		}
	}
	if err := store.Remove(ctx, id); err != nil {
		return err
	}
	k.deisolate(ctx, id)
	if f := k.files(directory); f != nil {
		if err := f.Forget(id); err != nil { // they go when their room is needed
			k.log.Warn("snapshots of a removed session are left", "session", id, "err", err)
		}
	}
	if k.opts.Shelf == nil {
		return nil
	}
	return k.opts.Shelf.Forget(ctx, id)
}

// hollow puts a session of no use in the place of id, so that nobody else can
// wake it, when the one that was there has gone to sleep.
func (k *Kernel) hollow(ctx context.Context, id harness.SessionID) (*session, error) {
	for {
		k.mu.Lock()
		s := k.awake[id]
		if s == nil {
			if k.closed {
				k.mu.Unlock()
				return nil, harness.ErrUnavailable
			}
			hole := &session{k: k, id: id, done: make(chan struct{}), loaded: make(chan struct{})}
			k.awake[id] = hole
			k.mu.Unlock()
			return hole, nil
		}
		k.mu.Unlock()
		if err := s.end(ctx); err != nil {
			return nil, err
		}
	}
}

// end asks the session to end now, and returns when it has.
func (s *session) end(ctx context.Context) error {
	answer := make(chan error, 1) // so that the session never waits
	select {
	case s.away <- answer:
	case <-s.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-answer:
		if err != nil {
			return err
		}
	case <-s.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
