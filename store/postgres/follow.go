package postgres

import (
	"context"
	"fmt"
	"iter"

	"harness"
)

// Follow implements [harness.Follower]. While the server cannot be reached it
// waits.
func (s *Store) Follow(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error] {
	return func(yield func(harness.Event, error) bool) {
		more := func(e harness.Event) bool { return yield(e, nil) }
		if err := s.follow(ctx, id, after, more); err != nil {
			yield(harness.Event{}, fmt.Errorf("follow %s: %w", id, err))
		}
	}
}

// follow gives the events after a position until give wants no more or an error
// ends it.
func (s *Store) follow(ctx context.Context, id harness.SessionID, at harness.Seq, give func(harness.Event) bool) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	f, err := s.join(id)
	if err != nil {
		return err
	}
	defer s.leave(f)
	for {
		events, behind, changed, err := f.since(at)
		switch {
		case err != nil:
			return err
		case behind:
			more, err := s.catchUp(ctx, id, &at, give)
			if err != nil || !more {
				return err
			}
		case changed != nil:
			select {
			case <-changed:
			case <-ctx.Done():
				return ctx.Err()
			case <-s.life.Done():
				return errClosed
			}
		}
		for _, e := range events {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !give(e) {
				return nil
			}
			at = e.Seq
		}
	}
}

// catchUp gives what the log has after at, and moves at.
func (s *Store) catchUp(ctx context.Context, id harness.SessionID, at *harness.Seq, give func(harness.Event) bool) (more bool, err error) {
	for e, err := range s.Read(ctx, id, *at) {
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return false, ctx.Err()
		case final(err), s.life.Err() != nil:
			return false, err
		default:
			pause(ctx)
			return true, nil
		}
		if !give(e) {
			return false, nil
		}
		*at = e.Seq
	}
	return true, nil
}
