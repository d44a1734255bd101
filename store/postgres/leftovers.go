package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// leftoverRows bounds how many rows of each table one transaction deletes.
const leftoverRows = 1000

// clear deletes what removed sessions have left, until there is nothing more, or
// somebody else is at it, or it does not work: then the next one goes on.
func (s *Store) clear(ctx context.Context) {
	for more := true; more; {
		more = false
		err := s.transact(ctx, func(ctx context.Context, tx pgx.Tx) (err error) {
			more, err = clearSome(ctx, tx)
			return err
		})
		if err != nil {
			return
		}
	}
}

// clearSome deletes a bounded number of rows of one removed session, which no
// other process is at. more says that it is worth looking again.
func clearSome(ctx context.Context, tx pgx.Tx) (more bool, err error) {
	var n int64
	err = tx.QueryRow(ctx, "SELECT session FROM leftovers ORDER BY session LIMIT 1 FOR UPDATE SKIP LOCKED").Scan(&n)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	full := false
	for _, t := range []struct{ table, key string }{{"commits", "seq"}, {"messages", "idx"}, {"snapshots", "seq"}} {
		done, err := tx.Exec(ctx, "DELETE FROM "+t.table+" WHERE session = $1 AND "+t.key+` <=
			(SELECT max(`+t.key+") FROM (SELECT "+t.key+" FROM "+t.table+" WHERE session = $1 ORDER BY "+t.key+" LIMIT $2) a)", n, leftoverRows)
		if err != nil {
			return false, err
		}
		full = full || done.RowsAffected() == leftoverRows
	}
	if !full {
		_, err = tx.Exec(ctx, "DELETE FROM leftovers WHERE session = $1", n)
	}
	return true, err
}
