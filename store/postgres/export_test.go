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
