package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// OpenTraced is Open with somebody who listens to what is said to the server.
func OpenTraced(ctx context.Context, url string, tracer pgx.QueryTracer) (*Store, error) {
	return Open(ctx, url, &Options{tracer: tracer})
}

// Quiet reports whether the store has nothing under way in its pool.
func (s *Store) Quiet() bool {
	s.hints.mu.Lock()
	waiting := len(s.hints.lines)
	s.hints.mu.Unlock()
	return waiting == 0 && len(s.hints.wake) == 0 && s.pool.Stat().AcquiredConns() == 0
}

// Feeds is how many sessions are read for followers.
func (s *Store) Feeds() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.feeds)
}

// Stall holds an owner's row in a transaction, as a process does that is stopped
// or cut off between two statements, until the channel is closed.
func (s *Store) Stall(ctx context.Context, owner string, holds chan<- struct{}, until <-chan struct{}) error {
	return s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "UPDATE owners SET expires = expires WHERE name = $1", owner); err != nil {
			return err
		}
		select {
		case holds <- struct{}{}:
		default: // it is tried again
		}
		<-until
		return nil
	})
}
