// Package memory is a store that forgets everything when the process ends. It
// keeps every promise of [harness.Store] but that one, has all optional powers,
// and is what simulations crash: [Store.Clone] is the store as a crash at this
// moment would leave it.
package memory

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"harness"
)

// Store is a harness.Store, Snapshotter, Remover and Rulebook. Make one with
// New.
type Store struct {
	mu       sync.Mutex // guards the fields below and everything they reach
	closed   bool
	sessions map[harness.SessionID]*session
	rules    []harness.Rule // oldest first
}

type session struct {
	from      *harness.Branch
	events    []harness.Event // its own: those after from.Seq; only ever appended to
	summary   harness.Summary
	snapshots []harness.Snapshot // by Seq, without Sealed
	messages  map[int]message
}

type message struct {
	data   []byte
	sealed harness.Seq // the snapshot that brought it
}

// New returns an empty store.
func New() *Store { return &Store{sessions: map[harness.SessionID]*session{}} }

// Clone is a second store with exactly what s has acknowledged by now. The two
// share nothing that either can change.
func (s *Store) Clone() *Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := New()
	for id, from := range s.sessions {
		to := *from
		to.events, to.snapshots = slices.Clip(from.events), slices.Clone(from.snapshots)
		to.messages = make(map[int]message, len(from.messages))
		for i, m := range from.messages {
			to.messages[i] = m
		}
		c.sessions[id] = &to
	}
	c.rules = slices.Clone(s.rules)
	return c
}

func (s *session) base() harness.Seq {
	if s.from == nil {
		return 0
	}
	return s.from.Seq
}

func (s *session) head() harness.Seq { return s.base() + harness.Seq(len(s.events)) }

// Append implements [harness.Store].
func (s *Store) Append(ctx context.Context, c harness.Commit) error {
	fail := func(err error) error { return fmt.Errorf("append to %s after %d: %w", c.Session, c.After, err) }
	if err := ctx.Err(); err != nil {
		return fail(err)
	}
	if err := c.Check(); err != nil {
		return fail(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fail(errClosed)
	}
	have, ok := s.sessions[c.Session]
	switch {
	case !ok && c.From != nil:
		parent, ok := s.sessions[c.From.Session]
		if !ok {
			return fail(fmt.Errorf("parent %s: %w", c.From.Session, harness.ErrNotFound))
		}
		if parent.head() < c.From.Seq {
			return fail(fmt.Errorf("parent %s ends at %d: %w", c.From.Session, parent.head(), harness.ErrInvalid))
		}
		from := *c.From
		have = &session{from: &from}
	case !ok && c.After == 0:
		have = &session{}
	case !ok || c.From != nil || have.head() != c.After:
		return fail(harness.ErrConflict)
	}
	have.events = append(have.events, c.Events...)
	have.summary = c.Summary
	s.sessions[c.Session] = have
	s.keep(c.Rules)
	return nil
}

var errClosed = fmt.Errorf("the store is closed: %w", harness.ErrStorage)

// part is the share of one session in a history: its events up to limit.
type part struct {
	*session
	limit harness.Seq
}

// lineage is id and its ancestors, youngest first, each with how far its own
// events, snapshots and messages are part of id's history.
func (s *Store) lineage(id harness.SessionID) ([]part, error) {
	if s.closed {
		return nil, errClosed
	}
	at, ok := s.sessions[id]
	if !ok {
		return nil, harness.ErrNotFound
	}
	parts := []part{{at, at.head()}}
	for at.from != nil {
		limit := min(at.from.Seq, parts[len(parts)-1].limit)
		at = s.sessions[at.from.Session]
		parts = append(parts, part{at, limit})
	}
	return parts, nil
}

// Read implements [harness.Store]: as of the moment the iteration begins.
func (s *Store) Read(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error] {
	return func(yield func(harness.Event, error) bool) {
		s.mu.Lock()
		parts, err := s.lineage(id)
		runs := make([][]harness.Event, len(parts))
		for i, p := range parts {
			from, to := max(after, p.base()), p.limit
			if from < to {
				runs[i] = p.events[from-p.base() : to-p.base()]
			}
		}
		s.mu.Unlock()
		if err != nil {
			yield(harness.Event{}, fmt.Errorf("read %s: %w", id, err))
			return
		}
		for _, run := range slices.Backward(runs) {
			for _, e := range run {
				if err := ctx.Err(); err != nil {
					yield(harness.Event{}, fmt.Errorf("read %s: %w", id, err))
					return
				}
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// Remove implements [harness.Remover].
func (s *Store) Remove(ctx context.Context, id harness.SessionID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("remove %s: %w", id, errClosed)
	}
	if _, ok := s.sessions[id]; !ok {
		return fmt.Errorf("remove %s: %w", id, harness.ErrNotFound)
	}
	var branches []harness.SessionID
	for other, x := range s.sessions {
		if x.from != nil && x.from.Session == id {
			branches = append(branches, other)
		}
	}
	if len(branches) > 0 {
		return fmt.Errorf("remove %s: %w", id, harness.RefuseRemoval(branches))
	}
	delete(s.sessions, id)
	return nil
}

// Close implements [harness.Store].
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}
