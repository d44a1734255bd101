package kernel

import (
	"context"
	"fmt"
	"iter"

	"harness"
)

// Watch yields a session's durable changes after a position: the events, or
// first the state if after is 0 or too far back. It goes on across sleeps,
// without keeping the session awake, until ctx is done or the kernel closes;
// its last pair carries the error.
func (k *Kernel) Watch(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Update, error] {
	return func(yield func(harness.Update, error) bool) {
		for {
			s, woken := k.asleep(id)
			if s != nil {
				woken = nil
			}
			for up, err := range k.WatchAwake(ctx, id, after) {
				if err != nil {
					yield(harness.Update{}, err)
					return
				}
				after = end(up, after)
				if !yield(up, nil) {
					return
				}
			}
			if s != nil {
				continue // it ended while we watched; it may be awake again
			}
			select {
			case <-woken:
			case <-ctx.Done():
				yield(harness.Update{}, context.Cause(ctx))
				return
			case <-k.halt:
				yield(harness.Update{}, harness.ErrUnavailable)
				return
			}
		}
	}
}

// end is the cursor behind an update.
func end(up harness.Update, after harness.Seq) harness.Seq {
	if n := len(up.Events); n > 0 {
		return up.Events[n-1].Seq
	}
	if up.State != nil {
		return up.State.Seq
	}
	return after
}

// WatchAwake is Watch for as long as the session is awake: it ends, without an
// error, when the session goes to sleep, and OnWake tells when it is time to
// watch again. Of a sleeping session it yields the stored state, if after is
// not its end, and does not wake it.
func (k *Kernel) WatchAwake(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Update, error] {
	return func(yield func(harness.Update, error) bool) {
		s, _ := k.peek(id)
		if s == nil {
			st, _, err := k.load(ctx, id, 0)
			switch {
			case err != nil:
				yield(harness.Update{}, err)
				return
			case after > st.Seq:
				yield(harness.Update{}, future(after, st.Seq))
				return
			case !unfinished(st):
				if after != st.Seq {
					yield(harness.Update{State: st}, nil)
				}
				return
			}
			if s, err = k.wake(ctx, id); err != nil { // a failed store left it in the middle of something
				yield(harness.Update{}, err)
				return
			}
		}
		select {
		case <-s.loaded:
		case <-ctx.Done():
			yield(harness.Update{}, context.Cause(ctx))
			return
		}
		if s.err != nil {
			yield(harness.Update{}, s.err)
			return
		}
		s.watch(ctx, after, yield)
	}
}

// unfinished reports whether a stored state needs its session awake: an engine
// was running, or a prompt waits.
func unfinished(st *harness.State) bool {
	return st.Turn != nil && len(st.Pending) == 0 || st.Turn == nil && len(st.Queue) > 0 && st.Status != harness.Paused
}

func future(after, end harness.Seq) error {
	return fmt.Errorf("watch after %d: the log ends at %d: %w", after, end, harness.ErrInvalid)
}

func (k *Kernel) peek(id harness.SessionID) (*session, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, ok := k.awake[id]
	return s, ok
}

// watch follows the tail until the session ends.
func (s *session) watch(ctx context.Context, after harness.Seq, yield func(harness.Update, error) bool) {
	if after == 0 && !s.join(ctx, &after, yield) {
		return
	}
	for {
		events, more, how := s.tail.after(after)
		switch how {
		case tailMore:
			if !yield(harness.Update{Events: events}, nil) {
				return
			}
			after = events[len(events)-1].Seq
		case tailWait:
			select {
			case <-more:
			case <-ctx.Done():
				yield(harness.Update{}, context.Cause(ctx))
				return
			}
		case tailOld:
			if !s.join(ctx, &after, yield) {
				return
			}
		case tailFuture:
			yield(harness.Update{}, future(after, s.tail.last()))
			return
		case tailClosed:
			if s.failed != nil {
				yield(harness.Update{}, s.failed)
			}
			return
		}
	}
}

// join yields the session's durable state and moves the cursor there. It
// reports whether to go on.
func (s *session) join(ctx context.Context, after *harness.Seq, yield func(harness.Update, error) bool) bool {
	answer := make(chan snapshot, 1) // so that the session never waits for a watcher
	select {
	case s.commands <- joined{answer}:
	case <-s.done:
		return false
	case <-ctx.Done():
		yield(harness.Update{}, context.Cause(ctx))
		return false
	}
	select {
	case snap := <-answer:
		if snap.err != nil {
			return false // the session ended; whoever watches tries again
		}
		*after = snap.state.Seq
		return yield(harness.Update{State: snap.state}, nil)
	case <-s.done:
		return false
	case <-ctx.Done():
		yield(harness.Update{}, context.Cause(ctx))
		return false
	}
}
