package jsonl

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"harness"
)

// pageRows bounds a page of a list.
const pageRows = 1000

// List implements [harness.Store]. The first list of an opened store reads every
// meta.json, and of the logs only those that have grown since theirs was
// written; later ones touch no file. The order is by Updated to the millisecond,
// then by id, both descending. Up to a thousand rows are of one moment; a longer
// list continues after its last row, so a thread that is updated meanwhile may
// be missing from it.
func (s *Store) List(ctx context.Context, f harness.Filter) iter.Seq2[harness.Summary, error] {
	return func(yield func(harness.Summary, error) bool) {
		ix, err := s.index(ctx)
		left := cmp.Or(f.Limit, int(^uint(0)>>1))
		for left > 0 && err == nil {
			n := min(left, pageRows)
			var rows []harness.Summary
			if rows, err = ix.page(ctx, f, n); err != nil {
				break
			}
			for _, r := range rows {
				if !yield(r, nil) {
					return
				}
			}
			if len(rows) < n {
				return
			}
			left -= n
			f.Before = &rows[n-1]
		}
		if err != nil {
			yield(harness.Summary{}, fmt.Errorf("list: %w", err))
		}
	}
}

// index returns a store that knows every thread: s, or for one that only looks
// a copy of this moment.
func (s *Store) index(ctx context.Context) (*Store, error) {
	if err := s.use(ctx, func() error { return nil }); err != nil {
		return nil, err
	}
	if s.owner {
		return s, s.all(ctx)
	}
	found, err := s.each(ctx)
	if err != nil {
		return nil, err
	}
	ix := newStore(s.dir)
	for _, t := range found {
		if err := s.refresh(ctx, t); err != nil {
			return nil, err
		}
		ix.threads[t.id] = t
		ix.order.insert(keyOf(t.row))
	}
	return ix, nil
}

// page returns the first n rows of a list.
func (s *Store) page(ctx context.Context, f harness.Filter, n int) (rows []harness.Summary, err error) {
	err = s.use(ctx, func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if f.Session != "" {
			if t, ok := s.threads[f.Session]; ok && t.there && chosen(f, t.row) {
				rows = append(rows, t.row)
			}
			return nil
		}
		var from *key
		if f.Before != nil {
			from = new(keyOf(*f.Before))
		}
		s.order.after(from, func(k key) bool {
			if r := s.threads[k.id].row; chosen(f, r) {
				rows = append(rows, r)
			}
			return len(rows) < n
		})
		return nil
	})
	return rows, err
}

func chosen(f harness.Filter, r harness.Summary) bool {
	return (f.User == "" || f.User == r.User) &&
		(f.Kind == "" || f.Kind == r.Kind) &&
		(f.Parent == "" || f.Parent == r.Parent) &&
		(len(f.Statuses) == 0 || slices.Contains(f.Statuses, r.Status)) &&
		(f.Before == nil || newestFirst(keyOf(*f.Before), keyOf(r)) < 0)
}
