package memory

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"harness"
)

// SaveSnapshot implements [harness.Snapshotter]. A snapshot ahead of the log is
// refused with ErrConflict.
func (s *Store) SaveSnapshot(ctx context.Context, snap harness.Snapshot) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	have, ok := s.sessions[snap.Session]
	switch {
	case s.closed:
		return fmt.Errorf("save snapshot of %s: %w", snap.Session, errClosed)
	case !ok:
		return fmt.Errorf("save snapshot of %s: %w", snap.Session, harness.ErrNotFound)
	case snap.Seq == 0 || snap.Seq > have.head():
		return fmt.Errorf("save snapshot of %s at %d: the log ends at %d: %w", snap.Session, snap.Seq, have.head(), harness.ErrConflict)
	}
	for i, data := range snap.Sealed {
		if _, ok := have.messages[snap.First+i]; !ok {
			if have.messages == nil {
				have.messages = map[int]message{}
			}
			have.messages[snap.First+i] = message{slices.Clone(data), snap.Seq}
		}
	}
	at, found := slices.BinarySearchFunc(have.snapshots, snap.Seq, bySeq)
	if !found {
		head := harness.Snapshot{Session: snap.Session, Seq: snap.Seq, State: slices.Clone(snap.State)}
		have.snapshots = slices.Insert(have.snapshots, at, head)
	}
	return nil
}

func bySeq(s harness.Snapshot, seq harness.Seq) int { return cmp.Compare(s.Seq, seq) }

// LoadSnapshot implements [harness.Snapshotter]. A branch without a snapshot of
// its own is given its parent's: Session is then the branch and State still
// names the parent.
func (s *Store) LoadSnapshot(ctx context.Context, id harness.SessionID, at harness.Seq) (harness.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	parts, err := s.lineage(id)
	if err != nil {
		return harness.Snapshot{}, fmt.Errorf("load snapshot of %s: %w", id, err)
	}
	var best harness.Snapshot
	for _, p := range parts {
		limit := p.limit
		if at != 0 {
			limit = min(limit, at)
		}
		n, _ := slices.BinarySearchFunc(p.snapshots, limit+1, bySeq)
		if n > 0 && p.snapshots[n-1].Seq > best.Seq {
			best = p.snapshots[n-1]
		}
	}
	if best.Seq == 0 {
		return harness.Snapshot{}, fmt.Errorf("load snapshot of %s at %d: none: %w", id, at, harness.ErrNotFound)
	}
	best.Session, best.State, best.End = id, slices.Clone(best.State), parts[0].limit
	return best, nil
}

// Messages implements [harness.Snapshotter].
func (s *Store) Messages(ctx context.Context, id harness.SessionID, from, to int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for i := from; i < to; i++ {
			data, err := s.message(id, i)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, fmt.Errorf("message %d of %s: %w", i, id, err))
				return
			}
			if !yield(data, nil) {
				return
			}
		}
	}
}

func (s *Store) message(id harness.SessionID, i int) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	parts, err := s.lineage(id)
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		if m, ok := p.messages[i]; ok && m.sealed <= p.limit {
			return slices.Clone(m.data), nil
		}
	}
	return nil, fmt.Errorf("missing: %w", harness.ErrCorrupt)
}
