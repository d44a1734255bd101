package jsonl

import (
	"context"
	"fmt"

	"harness"
)

// Append implements [harness.Store]. If ctx ends while the commit waits for its
// turn, it is withdrawn and has no effect. A thread whose log is damaged is
// refused with ErrCorrupt, one whose last flush failed with ErrStorage.
func (s *Store) Append(ctx context.Context, c harness.Commit) error {
	fail := func(err error) error {
		if err == nil {
			return nil
		}
		return fmt.Errorf("append to %s after %d: %w", c.Session, c.After, err)
	}
	if err := c.Check(); err != nil {
		return fail(err)
	}
	if err := harness.CheckID("thread", string(c.Session)); err != nil {
		return fail(err)
	}
	lines, err := encode(c)
	if err != nil {
		return fail(err)
	}
	apply := func(w *writer, t *task) {
		if err := w.append(c, lines, t); err != nil {
			t.Answer(err)
		}
	}
	return fail(s.do(ctx, len(lines), apply))
}

// append adds a commit to the batch, or refuses it.
func (w *writer) append(c harness.Commit, lines []byte, t *task) error {
	ch := w.batch[c.Session]
	if ch == nil {
		var err error
		if ch, err = w.change(c); err != nil {
			return err
		}
		ch.data = lines
	} else {
		if ch.head != c.After || c.From != nil {
			return harness.ErrConflict
		}
		ch.data = append(ch.data, lines...)
	}
	ch.head, ch.row = c.After+harness.Seq(len(c.Events)), c.Summary
	ch.rules, ch.tasks = append(ch.rules, c.Rules...), append(ch.tasks, t)
	return nil
}

// change begins the batch's change of a thread with its first commit.
func (w *writer) change(c harness.Commit) (*change, error) {
	t, f, err := w.s.find(c.Session)
	ch := &change{t: t, was: f.end.at}
	switch {
	case err == nil && f.damage != nil:
		return nil, f.damage
	case err == nil && (f.end.seq != c.After || c.From != nil):
		return nil, harness.ErrConflict
	case err == nil:
		w.s.mu.Lock()
		err = t.failed
		w.s.mu.Unlock()
	case harness.AsError(err) == harness.ErrNotFound:
		if ch, err = w.begin(c); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	w.batch[c.Session] = ch
	w.queued = append(w.queued, ch)
	return ch, nil
}
