package postgres

import (
	"context"
	"errors"
	"fmt"

	"harness"

	"github.com/jackc/pgx/v5"
)

// Remove implements [harness.Remover]. The session's row is locked first: an
// append that comes meanwhile finds no session, and a branch no parent. With the
// row the session is gone; what it leaves goes in bounded transactions before
// Remove returns, or if that is cut off with the next removal or start of any
// process.
func (s *Store) Remove(ctx context.Context, id harness.SessionID) error {
	var places []string
	var err error
	for n := 0; n == 0 || n < deliverAttempts && passing(err); n++ {
		err = s.transact(ctx, func(ctx context.Context, tx pgx.Tx) (err error) {
			if err := remove(ctx, tx, id); err != nil {
				return err
			}
			places, err = forgetFiles(ctx, tx, id)
			return err
		})
	}
	if code(err) == codeForeignKey {
		err = fmt.Errorf("branched off meanwhile: %w", harness.ErrBranched)
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", id, err)
	}
	s.removed(id)
	for _, place := range places {
		s.announce(harness.AboutPlace(place))
	}
	s.clear(ctx)
	return nil
}

func remove(ctx context.Context, tx pgx.Tx, id harness.SessionID) error {
	var n int64
	err := tx.QueryRow(ctx, "SELECT n FROM sessions WHERE id = $1 FOR UPDATE", word(string(id))).Scan(&n)
	if errors.Is(err, pgx.ErrNoRows) {
		return harness.ErrNotFound
	}
	if err != nil {
		return err
	}
	rows, err := tx.Query(ctx, "SELECT id FROM sessions WHERE origin = $1 ORDER BY id LIMIT $2", n, harness.MaxNamed+1)
	if err != nil {
		return err
	}
	branches, err := pgx.CollectRows(rows, pgx.RowTo[harness.SessionID])
	if err != nil {
		return err
	}
	if len(branches) > 0 {
		return harness.RefuseRemoval(branches)
	}
	b := &pgx.Batch{}
	b.Queue("INSERT INTO leftovers(session) VALUES($1)", n)
	b.Queue("DELETE FROM orders WHERE session = $1", word(string(id)))
	b.Queue("DELETE FROM sessions WHERE n = $1", n)
	return tx.SendBatch(ctx, b).Close()
}
