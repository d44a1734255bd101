package memory

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"harness"
)

// List implements [harness.Store]: as of the moment the iteration begins. The
// order is by Updated to the millisecond, which is the log's precision, then by
// id, both descending.
func (s *Store) List(ctx context.Context, f harness.Filter) iter.Seq2[harness.Summary, error] {
	return func(yield func(harness.Summary, error) bool) {
		rows, err := s.rows(f)
		if err != nil {
			yield(harness.Summary{}, fmt.Errorf("list: %w", err))
			return
		}
		for _, r := range rows {
			if err := ctx.Err(); err != nil {
				yield(harness.Summary{}, fmt.Errorf("list: %w", err))
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (s *Store) rows(f harness.Filter) ([]harness.Summary, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	var rows []harness.Summary
	for _, x := range s.sessions {
		if chosen(f, x.summary) {
			rows = append(rows, x.summary)
		}
	}
	slices.SortFunc(rows, newestFirst)
	if f.Limit > 0 {
		rows = rows[:min(f.Limit, len(rows))]
	}
	return rows, nil
}

func chosen(f harness.Filter, r harness.Summary) bool {
	return (f.Session == "" || f.Session == r.Session) &&
		(f.User == "" || f.User == r.User) &&
		(f.Kind == "" || f.Kind == r.Kind) &&
		(f.Parent == "" || f.Parent == r.Parent) &&
		(len(f.Statuses) == 0 || slices.Contains(f.Statuses, r.Status)) &&
		(f.Before == nil || newestFirst(*f.Before, r) < 0)
}

func newestFirst(a, b harness.Summary) int {
	return cmp.Or(cmp.Compare(b.Updated.UnixMilli(), a.Updated.UnixMilli()), cmp.Compare(b.Session, a.Session))
}

// Count implements [harness.Counter].
func (s *Store) Count(context.Context) (map[harness.Status]int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fmt.Errorf("count sessions: %w", errClosed)
	}
	n := make(map[harness.Status]int)
	for _, x := range s.sessions {
		n[x.summary.Status]++
	}
	return n, nil
}
