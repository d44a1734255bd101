package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"harness"

	"github.com/jackc/pgx/v5"
)

// Join implements [harness.Leaser]. It also forgets owners that are long gone,
// and orders for sessions that are.
func (s *Store) Join(ctx context.Context, owner string, ttl time.Duration) error {
	s.hushed(ttl)
	err := errors.Join(checkName("owner", owner), s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM owners o WHERE expires < clock_timestamp() - interval '1 day'
			AND NOT EXISTS (SELECT FROM leases l WHERE l.owner = o.name)`); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM orders o WHERE answered IS NULL AND NOT EXISTS (SELECT FROM sessions s WHERE s.id = o.session)
			AND NOT EXISTS (SELECT FROM leases l WHERE l.session = o.session)`); err != nil {
			return err
		}
		done, err := tx.Exec(ctx, "INSERT INTO owners(name, ttl, expires) VALUES($1, $2::interval, clock_timestamp() + $2::interval) ON CONFLICT DO NOTHING", owner, ttl)
		if err == nil && done.RowsAffected() == 0 {
			err = harness.ErrExists
		}
		return err
	}))
	if err != nil {
		return fmt.Errorf("join as %s: %w", owner, err)
	}
	return nil
}

// Beat implements [harness.Leaser]. An owner that is late but that nobody took
// for dead lives on.
func (s *Store) Beat(ctx context.Context, owner string) error {
	if s.looking {
		return errClosed
	}
	err := s.query(ctx, func(ctx context.Context, q querier) error { // one statement: whoever is cut off in it holds nothing
		var is bool
		err := q.QueryRow(ctx, "UPDATE owners SET expires = clock_timestamp() + ttl WHERE name = $1 AND NOT dead RETURNING true", word(owner)).Scan(&is)
		if errors.Is(err, pgx.ErrNoRows) {
			err = harness.ErrConflict
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("heartbeat of %s: %w", owner, err)
	}
	return nil
}

// Leave implements [harness.Leaser].
func (s *Store) Leave(ctx context.Context, owner string) error {
	err := s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "UPDATE owners SET dead = true WHERE name = $1", word(owner))
		return err
	})
	if err != nil {
		return fmt.Errorf("leave as %s: %w", owner, err)
	}
	s.announce(harness.AboutOrphans)
	return nil
}

// Claim implements [harness.Leaser].
func (s *Store) Claim(ctx context.Context, owner string, id harness.SessionID) (l harness.Lease, err error) {
	for n := 0; n < attempts; n++ {
		err = s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error {
			l, err = claim(ctx, tx, word(owner), word(string(id)), time.Duration(s.silence.Load())/2)
			return err
		})
		if !passing(err) && !errors.Is(err, errReleased) {
			break
		}
	}
	if err != nil {
		return l, fmt.Errorf("claim %s for %s: %w", id, owner, err)
	}
	s.bells.ring(aboutOrders) // some may wait for it
	return l, nil
}

// errReleased says that the lease that stood in the way is gone.
var errReleased = fmt.Errorf("released meanwhile: %w", harness.ErrLocked)

// claim holds owner's own row, so that it cannot be taken for dead meanwhile,
// then the lease's, then the holder's. Taking a holder for dead and its
// heartbeat exclude one another; it waits at most patience for a holder that went
// away in the midst of something, because owner's heart does not beat meanwhile.
func claim(ctx context.Context, tx pgx.Tx, owner, id string, patience time.Duration) (harness.Lease, error) {
	l := harness.Lease{Session: harness.SessionID(id), Owner: owner}
	var alive bool
	err := tx.QueryRow(ctx, "SELECT NOT dead AND expires > clock_timestamp() FROM owners WHERE name = $1 FOR SHARE", owner).Scan(&alive)
	switch {
	case errors.Is(err, pgx.ErrNoRows), err == nil && !alive:
		return l, fmt.Errorf("%s is not alive: %w", owner, harness.ErrConflict)
	case err != nil:
		return l, err
	}
	err = tx.QueryRow(ctx, "INSERT INTO leases(session, owner, epoch) VALUES($1, $2, nextval('epochs')) ON CONFLICT DO NOTHING RETURNING epoch", id, owner).Scan(&l.Epoch)
	if !errors.Is(err, pgx.ErrNoRows) {
		return l, err
	}
	err = tx.QueryRow(ctx, "SELECT owner, epoch FROM leases WHERE session = $1 FOR UPDATE", id).Scan(&l.Owner, &l.Epoch)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return l, errReleased
	case err != nil, l.Owner == owner:
		return l, err
	}
	if _, err := tx.Exec(ctx, fmt.Sprintf("SET LOCAL lock_timeout = %d", patience.Milliseconds())); err != nil {
		return l, err
	}
	done, err := tx.Exec(ctx, "UPDATE owners SET dead = true WHERE name = $1 AND (dead OR expires <= clock_timestamp())", l.Owner)
	if code(err) == codeLockWait {
		return l, fmt.Errorf("%s is silent in a transaction: %w", l.Owner, harness.ErrLocked)
	}
	if err != nil {
		return l, err
	}
	if done.RowsAffected() == 0 {
		return l, fmt.Errorf("%s has it: %w", l.Owner, harness.ErrLocked)
	}
	err = tx.QueryRow(ctx, "UPDATE leases SET owner = $2, epoch = nextval('epochs') WHERE session = $1 RETURNING owner, epoch", id, owner).Scan(&l.Owner, &l.Epoch)
	return l, err
}

// Release implements [harness.Leaser].
func (s *Store) Release(ctx context.Context, l harness.Lease) error {
	err := s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "DELETE FROM leases WHERE session = $1 AND owner = $2 AND epoch = $3", word(string(l.Session)), word(l.Owner), int64(l.Epoch))
		return err
	})
	if err != nil {
		return fmt.Errorf("release %s: %w", l.Session, err)
	}
	return nil
}

// Orphans implements [harness.Leaser], by name and in pages, so that whoever
// takes over on the way leaves nothing out.
func (s *Store) Orphans(ctx context.Context) iter.Seq2[harness.Lease, error] {
	return func(yield func(harness.Lease, error) bool) {
		for after := ""; ; {
			page, err := s.orphans(ctx, after)
			for _, l := range page {
				if !yield(l, nil) {
					return
				}
				after = string(l.Session)
			}
			if err != nil {
				yield(harness.Lease{}, fmt.Errorf("orphans: %w", err))
				return
			}
			if len(page) < pageRows {
				return
			}
		}
	}
}

// setRight gives owners that would live for longer than anybody may at most that:
// the clock was set back, and one that is dead since would keep what it has for as
// long.
const setRight = "WITH late AS (UPDATE owners SET expires = clock_timestamp() + ttl WHERE NOT dead AND expires > clock_timestamp() + ttl) "

func (s *Store) orphans(ctx context.Context, after string) (page []harness.Lease, err error) {
	err = s.query(ctx, func(ctx context.Context, q querier) error {
		rows, err := q.Query(ctx, setRight+`SELECT l.session, l.owner, l.epoch FROM leases l JOIN owners o ON o.name = l.owner
			WHERE (o.dead OR o.expires <= clock_timestamp()) AND l.session > $1
			UNION
			SELECT o.session, '', 0 FROM orders o JOIN sessions s ON s.id = o.session
			WHERE o.answered IS NULL AND o.session > $1 AND NOT EXISTS (SELECT FROM leases l WHERE l.session = o.session)
			ORDER BY session LIMIT $2`, after, pageRows)
		if err != nil {
			return err
		}
		page, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (l harness.Lease, err error) {
			err = row.Scan(&l.Session, &l.Owner, &l.Epoch)
			return l, err
		})
		return err
	})
	return page, err
}
