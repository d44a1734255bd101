package postgres

import (
	"context"
	"slices"

	"harness"
)

// move is somebody who waits until a log ends elsewhere than at seen.
type move struct {
	seen harness.Seq
	f    func()
}

// OnMove implements [harness.Follower]. Who waits is a row of a table, and one of
// the parameters of each sweep.
func (s *Store) OnMove(ctx context.Context, id harness.SessionID, seen harness.Seq, f func()) (stop func()) {
	m := &move{seen, f}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return func() {}
	}
	s.listenLocked()
	s.moves[id] = append(s.moves[id], m)
	s.mu.Unlock()
	var head harness.Seq
	err := s.query(ctx, func(ctx context.Context, q querier) error { // it may have moved before
		return q.QueryRow(ctx, "SELECT coalesce((SELECT head FROM sessions WHERE id = $1), 0)", word(string(id))).Scan(&head)
	})
	if err == nil {
		s.hear(id, head)
	} // else a sweep asks
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.takeMoves(id, func(other *move) bool { return other == m })
	}
}

// movedLocked takes out who waits for a log that ends at head, except those that
// have seen it there. A hint may come late: what they have seen beyond it is no
// news. It holds s.mu.
func (s *Store) movedLocked(id harness.SessionID, head harness.Seq) []*move {
	if len(s.moves[id]) == 0 {
		return nil
	}
	return s.takeMoves(id, func(m *move) bool { return head == 0 && m.seen != 0 || head > m.seen })
}

// takeMoves takes out some of who waits for id. It holds s.mu.
func (s *Store) takeMoves(id harness.SessionID, which func(*move) bool) (taken []*move) {
	s.moves[id] = slices.DeleteFunc(s.moves[id], func(m *move) bool {
		if which(m) {
			taken = append(taken, m)
			return true
		}
		return false
	})
	if len(s.moves[id]) == 0 {
		delete(s.moves, id)
	}
	return taken
}
