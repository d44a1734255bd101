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
		for k.watchOnce(ctx, id, &after, yield) {
			continue
		}
	}
}

// watchOnce watches until the session sleeps and then waits until it wakes. It
// reports whether to go on.
func (k *Kernel) watchOnce(ctx context.Context, id harness.SessionID, after *harness.Seq, yield func(harness.Update, error) bool) bool {
	woken, leave := k.sleeper(id) // before we look, so that no wake is missed
	defer leave()
	if leave := k.Attend(id); leave != nil {
		defer leave()
	}
	for up, err := range k.WatchAwake(ctx, id, *after) {
		if err != nil {
			yield(harness.Update{}, err)
			return false
		}
		*after = end(up, *after)
		if !yield(up, nil) {
			return false
		}
	}
	select {
	case <-woken:
		return true
	case <-ctx.Done():
		yield(harness.Update{}, context.Cause(ctx))
	case <-k.halt:
		yield(harness.Update{}, harness.ErrUnavailable)
	}
	return false
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
		if k.abroad != nil {
			k.abroad.watch(ctx, id, after, yield)
			return
		}
		for {
			s, err := k.awakeOr(ctx, id, after, yield)
			if err != nil {
				yield(harness.Update{}, err)
			}
			if s == nil || !s.watch(ctx, &after, yield) {
				return
			}
		}
	}
}

// awakeOr is the awake session. Of one that sleeps it yields the stored state
// instead, unless the watcher has it, or wakes it if it has work to do.
func (k *Kernel) awakeOr(ctx context.Context, id harness.SessionID, after harness.Seq, yield func(harness.Update, error) bool) (*session, error) {
	if s := k.peek(id); s != nil {
		select {
		case <-s.loaded:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		switch s.err {
		case nil:
			return s, nil
		case errGone: // it was not removed after all
		default:
			return nil, s.err
		}
	}
	st, _, err := k.load(ctx, id, 0)
	switch {
	case err != nil:
		return nil, err
	case after > st.Seq:
		return nil, future(after, st.Seq)
	case unfinished(st) && !k.isDraining(): // a failed store left it in the middle of something
		return k.wake(ctx, id)
	case after != st.Seq:
		yield(harness.Update{State: st}, nil)
	}
	return nil, nil
}

// unfinished reports whether a stored state needs its session awake: an engine
// was running, a prompt waits, or a question has a deadline.
func unfinished(st *harness.State) bool {
	for _, a := range st.Pending {
		if a.Deadline != nil {
			return true
		}
	}
	return st.Status != harness.Paused && (st.Turn != nil && len(st.Pending) == 0 || st.Turn == nil && len(st.Queue) > 0)
}

func future(after, end harness.Seq) error {
	return fmt.Errorf("watch after %d: the log ends at %d: %w", after, end, harness.ErrInvalid)
}

func (k *Kernel) peek(id harness.SessionID) *session {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.awake[id]
}

// watch follows the tail until the session ends. It reports whether the
// watcher still lacks something then and must look again.
func (s *session) watch(ctx context.Context, after *harness.Seq, yield func(harness.Update, error) bool) (again bool) {
	old := *after == 0
	for {
		if old {
			state, err := s.join(ctx)
			switch {
			case err == errGone && s.failed == nil:
				return true
			case err == errGone:
				err = s.failed
				fallthrough
			case err != nil:
				yield(harness.Update{}, err)
				return false
			}
			*after, old = state.Seq, false // before the state is the watcher's
			if !yield(harness.Update{State: state}, nil) {
				return false
			}
		}
		events, more, how := s.tail.after(*after)
		switch how {
		case tailMore:
			if !yield(harness.Update{Events: events}, nil) {
				return false
			}
			*after = events[len(events)-1].Seq
		case tailWait:
			select {
			case <-more:
			case <-ctx.Done():
				yield(harness.Update{}, context.Cause(ctx))
				return false
			}
		case tailOld:
			missed := s.k.missed(ctx, s.id, *after, s.tail.last())
			if old = len(missed) == 0; old {
				continue
			}
			if !yield(harness.Update{Events: missed}, nil) {
				return false
			}
			*after = missed[len(missed)-1].Seq
		case tailFuture:
			yield(harness.Update{}, future(*after, s.tail.last()))
			return false
		case tailClosed:
			if s.failed != nil {
				yield(harness.Update{}, s.failed)
			}
			return false
		}
	}
}

// missed is the events behind a cursor up to a position, from the store: what a
// watcher lacks that was there before the tail, because its session was run
// elsewhere until now. None if they would not fit into a tail: then a state is
// nearer.
func (k *Kernel) missed(ctx context.Context, id harness.SessionID, after, end harness.Seq) (events []harness.Event) {
	if after == 0 || end <= after || end-after > harness.Seq(k.opts.TailEvents) {
		return nil
	}
	bytes := 0
	for e, err := range k.store.Read(ctx, id, after) {
		if err != nil {
			return nil
		}
		if bytes += len(e.JSON()); bytes > maxTailBytes {
			return nil
		}
		if events = append(events, e); e.Seq == end {
			return events
		}
	}
	return nil
}

// join is the session's durable state, or errGone if the session ended before
// it could tell.
func (s *session) join(ctx context.Context) (*harness.State, error) {
	answer := make(chan snapshot, 1) // so that the session never waits for a watcher
	select {
	case s.commands <- joined{answer}:
	case <-s.done:
		return nil, errGone
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case snap := <-answer:
		return snap.state, snap.err
	case <-s.done:
		return nil, errGone
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
