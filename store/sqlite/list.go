package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"

	"harness"
)

// pageRows bounds a page of a list.
const pageRows = 1000

// listed is a row of a list with what orders it.
type listed struct {
	updated int64
	id      string
	summary []byte
}

func newestFirst(a, b listed) int {
	return cmp.Or(cmp.Compare(b.updated, a.updated), cmp.Compare(b.id, a.id))
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
			before = &listed{updated: f.Before.Updated.UnixMilli(), id: string(f.Before.Session)}
		}
		for left > 0 {
			n := min(left, pageRows)
			var rows []listed
			err := s.read(ctx, func(c *conn) (err error) {
				rows, err = listPage(c, f, before, n)
				return err
			})
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

// listPage returns the first n rows after before. Several statuses are several
// walks of the index, merged.
func listPage(c *conn, f harness.Filter, before *listed, n int) ([]listed, error) {
	statuses := slices.Compact(slices.Sorted(slices.Values(f.Statuses)))
	if len(statuses) == 0 {
		statuses = []harness.Status{""}
	}
	var rows []listed
	var broken error
	for _, status := range statuses {
		sql, args := listQuery(f, status, before, n)
		err := c.query(func(r []driver.Value) bool {
			var at row
			var data []byte
			if at, data, broken = scanRow(r); broken != nil {
				return false
			}
			rows = append(rows, listed{at.updated, string(at.id), data})
			return true
		}, sql, args...)
		if err = cmp.Or(err, broken); err != nil {
			return nil, err
		}
	}
	if len(statuses) > 1 {
		slices.SortFunc(rows, newestFirst)
	}
	return rows[:min(n, len(rows))], nil
}

// listQuery is one walk of one index, newest first.
func listQuery(f harness.Filter, status harness.Status, before *listed, n int) (string, []driver.Value) {
	if before == nil && f.Session != "" && f.Parent == "" && f.User == "" && status == "" && f.Kind == "" {
		return rowColumns + "id = ?", []driver.Value{string(f.Session)} // SQLite plans a range anew for every value
	}
	if before == nil {
		before = &listed{updated: math.MaxInt64}
	}
	// The bound on minute is redundant, but makes SQLite walk an index.
	sql := rowColumns + "minute <= ? AND (updated < ? OR updated = ? AND id < ?)"
	args := []driver.Value{minute(before.updated), before.updated, before.updated, before.id}
	for _, by := range []struct{ column, value string }{
		{"id", string(f.Session)}, {"parent", string(f.Parent)}, {"user", f.User}, {"status", string(status)}, {"kind", string(f.Kind)},
	} {
		if by.value != "" {
			sql += " AND " + by.column + " = ?"
			args = append(args, by.value)
		}
	}
	if f.Parent != "" {
		sql += " AND parent <> ''" // lets SQLite use the partial index
	}
	return sql + " ORDER BY minute DESC, updated DESC, id DESC LIMIT ?", append(args, int64(n))
}

// Count implements [harness.Counter].
func (s *Store) Count(ctx context.Context) (map[harness.Status]int, error) {
	n := make(map[harness.Status]int)
	err := s.read(ctx, func(c *conn) error {
		return c.query(func(v []driver.Value) bool {
			n[harness.Status(text(v[0]))] = int(whole(v[1]))
			return true
		}, "SELECT status, count(*) FROM sessions GROUP BY status")
	})
	if err != nil {
		return nil, fmt.Errorf("count sessions: %w", err)
	}
	return n, nil
}
