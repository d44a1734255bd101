package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"harness"

	"github.com/jackc/pgx/v5"
)

// pageRows bounds a page of a list.
const pageRows = 1000

// listed is a row of a list with what orders it.
type listed struct {
	updated int64
	id      string
	summary []byte
}

// List implements [harness.Store]. The order is by Updated to the millisecond,
// which is the log's precision, then by id, both descending. Up to a thousand
// rows are of one moment; a longer list continues after its last row, so a
// session that is updated meanwhile may be missing from it.
func (s *Store) List(ctx context.Context, f harness.Filter) iter.Seq2[harness.Summary, error] {
	return func(yield func(harness.Summary, error) bool) {
		left := cmp.Or(f.Limit, int(^uint(0)>>1))
		var before *listed
		if f.Before != nil {
			before = &listed{updated: f.Before.Updated.UnixMilli(), id: word(string(f.Before.Session))}
		}
		for left > 0 {
			n := min(left, pageRows)
			rows, err := s.listPage(ctx, f, before, n)
			if err != nil {
				yield(harness.Summary{}, fmt.Errorf("list: %w", err))
				return
			}
			for _, r := range rows {
				var sum harness.Summary
				if err := json.Unmarshal(r.summary, &sum); err != nil {
					yield(harness.Summary{}, fmt.Errorf("list: summary of %s: %w: %w", r.id, err, harness.ErrCorrupt))
					return
				}
				if !yield(sum, nil) {
					return
				}
			}
			if len(rows) < n {
				return
			}
			left -= n
			before = &rows[n-1]
		}
	}
}

func (s *Store) listPage(ctx context.Context, f harness.Filter, before *listed, n int) (page []listed, err error) {
	sql, args := listQuery(f, before, n)
	err = s.query(ctx, func(ctx context.Context, q querier) error {
		rows, err := q.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		page, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (l listed, err error) {
			var head, crc int64
			if err := row.Scan(&l.id, &head, &l.updated, &crc, &l.summary); err != nil {
				return l, err
			}
			if rowSum(l.id, head, l.updated, l.summary) != crc {
				return l, brokenRow(l.id)
			}
			return l, nil
		})
		return err
	})
	return page, err
}

// listQuery is a walk of an index, newest first. The bound on minute is
// redundant, but is what the index has.
func listQuery(f harness.Filter, before *listed, n int) (string, []any) {
	var where []string
	var args []any
	add := func(condition string, values ...any) {
		for _, v := range values {
			args = append(args, v)
			condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(args)), 1)
		}
		where = append(where, condition)
	}
	for _, by := range []struct{ column, value string }{
		{"id", string(f.Session)}, {"parent", string(f.Parent)}, {"of_user", f.User}, {"kind", string(f.Kind)},
	} {
		if by.value != "" {
			add(by.column+" = ?", word(by.value))
		}
	}
	if f.Parent != "" {
		add("parent <> ''") // lets the server use the partial index
	}
	if len(f.Statuses) > 0 {
		words := make([]string, 0, len(f.Statuses))
		for _, status := range f.Statuses {
			words = append(words, word(string(status)))
		}
		add("status = ANY(?::text[])", words)
	}
	if before != nil {
		add("minute <= ? AND (updated, id) < (?, ?)", before.updated>>16, before.updated, before.id)
	}
	sql := "SELECT id, head, updated, crc, summary FROM sessions"
	if len(where) > 0 {
		sql += " WHERE " + strings.Join(where, " AND ")
	}
	args = append(args, n)
	return sql + fmt.Sprintf(" ORDER BY minute DESC, updated DESC, id DESC LIMIT $%d", len(args)), args
}

// Count implements [harness.Counter].
func (s *Store) Count(ctx context.Context) (map[harness.Status]int, error) {
	count := make(map[harness.Status]int)
	err := s.query(ctx, func(ctx context.Context, q querier) error {
		rows, err := q.Query(ctx, "SELECT status, count(*) FROM sessions GROUP BY status")
		if err != nil {
			return err
		}
		var status string
		var n int
		_, err = pgx.ForEachRow(rows, []any{&status, &n}, func() error {
			count[harness.Status(status)] = n
			return nil
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count sessions: %w", err)
	}
	return count, nil
}
