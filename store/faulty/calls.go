package faulty

import (
	"context"
	"iter"

	"harness"
)

func (w *wrapper) Append(ctx context.Context, c harness.Commit) error {
	return w.call(ctx, Op{Method: Append, Session: c.Session, Commit: &c}, func() error { return w.inner.Append(ctx, c) })
}

func (w *wrapper) Read(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error] {
	return stream(ctx, w, Op{Method: Read, Session: id}, w.inner.Read(ctx, id, after))
}

func (w *wrapper) List(ctx context.Context, f harness.Filter) iter.Seq2[harness.Summary, error] {
	return stream(ctx, w, Op{Method: List}, w.inner.List(ctx, f))
}

// Close closes the store underneath, crashed or not.
func (w *wrapper) Close() error { return w.inner.Close() }

// stream plans each iteration as one call. The consumer's body runs outside the
// call: a consumer that calls the store again, or crashes it, waits for nobody.
func stream[T any](ctx context.Context, w *wrapper, op Op, inner iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		next, stop := iter.Pull2(inner)
		defer stop()
		var first T
		var firstErr error
		more := false
		err := w.call(ctx, op, func() error {
			first, firstErr, more = next()
			return nil
		})
		if err != nil && !more {
			yield(zero, err)
			return
		}
		for v, e := first, firstErr; more; {
			if !yield(v, e) {
				return
			}
			if gone := w.enter(func() error {
				v, e, more = next()
				return nil
			}); gone != nil {
				yield(zero, gone)
				return
			}
		}
		if err != nil {
			yield(zero, err)
		}
	}
}

type snapshotter struct {
	w     *wrapper
	inner harness.Snapshotter
}

func (s *snapshotter) SaveSnapshot(ctx context.Context, snap harness.Snapshot) error {
	return s.w.call(ctx, Op{Method: SaveSnapshot, Session: snap.Session}, func() error { return s.inner.SaveSnapshot(ctx, snap) })
}

func (s *snapshotter) LoadSnapshot(ctx context.Context, id harness.SessionID, at harness.Seq) (snap harness.Snapshot, err error) {
	err = s.w.call(ctx, Op{Method: LoadSnapshot, Session: id}, func() (err error) {
		snap, err = s.inner.LoadSnapshot(ctx, id, at)
		return err
	})
	if err != nil {
		return harness.Snapshot{}, err
	}
	return snap, nil
}

func (s *snapshotter) Messages(ctx context.Context, id harness.SessionID, from, to int) iter.Seq2[[]byte, error] {
	return stream(ctx, s.w, Op{Method: Messages, Session: id}, s.inner.Messages(ctx, id, from, to))
}

type remover struct {
	w     *wrapper
	inner harness.Remover
}

func (r *remover) Remove(ctx context.Context, id harness.SessionID) error {
	return r.w.call(ctx, Op{Method: Remove, Session: id}, func() error { return r.inner.Remove(ctx, id) })
}

type rulebook struct {
	w     *wrapper
	inner harness.Rulebook
}

func (b *rulebook) Rules(ctx context.Context, directory string) iter.Seq2[harness.Rule, error] {
	return stream(ctx, b.w, Op{Method: Rules}, b.inner.Rules(ctx, directory))
}

func (b *rulebook) RevokeRule(ctx context.Context, id harness.RuleID) error {
	return b.w.call(ctx, Op{Method: RevokeRule}, func() error { return b.inner.RevokeRule(ctx, id) })
}
