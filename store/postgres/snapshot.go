package postgres

import (
	"context"
	"errors"
	"fmt"

	"harness"
	"harness/internal/chunk"
	"harness/internal/thin"

	"github.com/jackc/pgx/v5"
)

// SaveSnapshot implements [harness.Snapshotter], in a transaction of its own
// beside the appends. A snapshot ahead of the log is refused with ErrConflict.
// Saving again what has been damaged since repairs it. Old heads are thinned out.
func (s *Store) SaveSnapshot(ctx context.Context, snap harness.Snapshot) error {
	if err := s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error { return save(ctx, tx, snap) }); err != nil {
		return fmt.Errorf("save snapshot of %s at %d: %w", snap.Session, snap.Seq, err)
	}
	return nil
}

func save(ctx context.Context, tx pgx.Tx, snap harness.Snapshot) error {
	var n, head int64
	err := tx.QueryRow(ctx, "SELECT n, head FROM sessions WHERE id = $1 FOR KEY SHARE", word(string(snap.Session))).Scan(&n, &head)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return harness.ErrNotFound
	case err != nil:
		return err
	case snap.Seq == 0 || position(snap.Seq) > head:
		return fmt.Errorf("the log ends at %d: %w", head, harness.ErrConflict)
	}
	crcs, first := make([]int64, 0, len(snap.Sealed)), int64(snap.First)
	for _, m := range snap.Sealed {
		crcs = append(crcs, chunk.Checksum(m))
	}
	b := &pgx.Batch{}
	if len(crcs) > 0 {
		b.Queue(`INSERT INTO messages(session, idx, sealed, crc, data)
			SELECT $1, $2::bigint + m.place - 1, $3, m.crc, m.data FROM unnest($4::bigint[], $5::bytea[]) WITH ORDINALITY AS m(crc, data, place)
			ON CONFLICT (session, idx) DO UPDATE SET crc = excluded.crc, data = excluded.data
			WHERE messages.crc <> excluded.crc OR messages.data <> excluded.data`, n, first, int64(snap.Seq), crcs, snap.Sealed)
	}
	b.Queue(`INSERT INTO snapshots(session, seq, crc, state) VALUES($1, $2, $3, $4)
		ON CONFLICT (session, seq) DO UPDATE SET crc = excluded.crc, state = excluded.state
		WHERE snapshots.crc <> excluded.crc OR snapshots.state <> excluded.state`, n, int64(snap.Seq), chunk.Checksum(snap.State), blob(snap.State))
	var have []harness.Seq // newest first
	b.Queue("SELECT seq FROM snapshots WHERE session = $1 ORDER BY seq DESC LIMIT $2", n, thinLimit).Query(func(rows pgx.Rows) error {
		have, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (harness.Seq, error) {
			var seq int64
			err := row.Scan(&seq)
			return harness.Seq(seq), err
		})
		return err
	})
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	var gone []int64
	for _, seq := range thin.Out(have) {
		gone = append(gone, int64(seq))
	}
	if len(gone) > 0 {
		_, err = tx.Exec(ctx, "DELETE FROM snapshots WHERE session = $1 AND seq = ANY($2::bigint[])", n, gone)
	}
	return err
}

// thinLimit is how many heads are looked at when old ones are thinned out.
const thinLimit = 256

// blob is b, never NULL.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// LoadSnapshot implements [harness.Snapshotter]. A branch without a snapshot of
// its own is given its parent's: Session is then the branch and State still
// names the parent. A damaged snapshot counts as lost: the one before it is
// returned.
func (s *Store) LoadSnapshot(ctx context.Context, id harness.SessionID, at harness.Seq) (harness.Snapshot, error) {
	best := harness.Snapshot{Session: id}
	parts, err := s.ancestry(ctx, id)
	for _, p := range parts {
		limit := p.limit
		if at != 0 {
			limit = min(limit, at)
		}
		if err == nil && best.Seq < limit {
			err = s.newest(ctx, p.n, limit, &best)
		}
	}
	if err == nil && best.Seq == 0 {
		err = fmt.Errorf("none: %w", harness.ErrNotFound)
	}
	if err != nil {
		return harness.Snapshot{}, fmt.Errorf("load snapshot of %s at %d: %w", id, at, err)
	}
	return best, nil
}

// newest makes best the newest sound snapshot of a session up to limit, if that
// is newer than best.
func (s *Store) newest(ctx context.Context, n int64, limit harness.Seq, best *harness.Snapshot) error {
	for {
		var seq, crc int64
		var state []byte
		err := s.query(ctx, func(ctx context.Context, q querier) error {
			return q.QueryRow(ctx, "SELECT seq, crc, state FROM snapshots WHERE session = $1 AND seq <= $2 AND seq > $3 ORDER BY seq DESC LIMIT 1",
				n, position(limit), position(best.Seq)).Scan(&seq, &crc, &state)
		})
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return nil
		case err != nil:
			return err
		case chunk.Checksum(state) == crc:
			best.Seq, best.State = harness.Seq(seq), state
			return nil
		}
		limit = harness.Seq(seq) - 1
	}
}
