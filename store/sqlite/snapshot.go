package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"iter"
	"math"

	"harness"
	"harness/internal/chunk"
)

// SaveSnapshot implements [harness.Snapshotter]. It waits behind appends. A
// snapshot ahead of the log is refused with ErrConflict. Saving again what has
// been damaged since repairs it. Old heads are thinned out: see thin.
func (s *Store) SaveSnapshot(ctx context.Context, snap harness.Snapshot) error {
	size := len(snap.State)
	for _, m := range snap.Sealed {
		size += len(m)
	}
	apply := func(w *writer) error { return w.saveSnapshot(snap) }
	if err := s.doLow(ctx, size, work{apply: apply}); err != nil {
		return fmt.Errorf("save snapshot of %s at %d: %w", snap.Session, snap.Seq, err)
	}
	return nil
}

func (w *writer) saveSnapshot(snap harness.Snapshot) error {
	k, err := w.session(snap.Session)
	switch {
	case err != nil:
		return err
	case k == nil:
		return harness.ErrNotFound
	case snap.Seq == 0 || snap.Seq > k.head:
		return fmt.Errorf("the log ends at %d: %w", k.head, harness.ErrConflict)
	}
	for i, m := range snap.Sealed {
		if _, err := w.exec("INSERT INTO messages(session, idx, sealed, crc, data) VALUES(?, ?, ?, ?, ?) "+
			"ON CONFLICT(session, idx) DO UPDATE SET crc = excluded.crc, data = excluded.data WHERE crc <> excluded.crc OR data <> excluded.data",
			k.n, int64(snap.First+i), int64(snap.Seq), chunk.Checksum(m), blob(m)); err != nil {
			return err
		}
	}
	if _, err := w.exec("INSERT INTO snapshots(session, seq, crc, state) VALUES(?, ?, ?, ?) "+
		"ON CONFLICT(session, seq) DO UPDATE SET crc = excluded.crc, state = excluded.state WHERE crc <> excluded.crc OR state <> excluded.state",
		k.n, int64(snap.Seq), chunk.Checksum(snap.State), blob(snap.State)); err != nil {
		return err
	}
	return w.thin(k.n)
}

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
	limit := harness.Seq(math.MaxInt64)
	if at != 0 {
		limit = min(limit, at)
	}
	err := s.read(ctx, func(c *conn) error {
		own, err := ownSnapshot(c, limit, &best)
		if err != nil || best.Seq > 0 || own.origin == 0 {
			return err
		}
		parts, err := s.ancestry(c, id)
		for i := 1; i < len(parts) && err == nil && best.Seq == 0; i++ {
			err = c.query(func(r []driver.Value) bool { return !sound(r, &best) },
				"SELECT seq, crc, state FROM snapshots WHERE session = ? AND seq <= ? ORDER BY seq DESC", parts[i].n, int64(min(limit, parts[i].limit)))
		}
		return err
	})
	if err == nil && best.Seq == 0 {
		err = fmt.Errorf("none: %w", harness.ErrNotFound)
	}
	if err != nil {
		return harness.Snapshot{}, fmt.Errorf("load snapshot of %s at %d: %w", id, at, err)
	}
	return best, nil
}

// ownSnapshot makes best the newest snapshot of its session up to limit, if there
// is one, with where the log ends. That is one query, because it is most of what
// waking a session asks of a store.
func ownSnapshot(c *conn, limit harness.Seq, best *harness.Snapshot) (own row, err error) {
	var broken error
	err = c.query(func(r []driver.Value) bool {
		if own, _, broken = scanRow(r); broken != nil {
			return false
		}
		best.End = own.head
		return !sound(r[rowWidth:], best)
	}, "SELECT n, id, head, origin, origin_seq, updated, s.crc, summary, seq, h.crc, state FROM sessions s "+
		"LEFT JOIN snapshots h ON h.session = n AND seq <= ? WHERE id = ? ORDER BY seq DESC", int64(limit), string(best.Session))
	if err = cmp.Or(err, broken); err == nil && own.n == 0 {
		err = harness.ErrNotFound
	}
	return own, err
}

// sound makes best the snapshot of a row, unless that is damaged or none.
func sound(r []driver.Value, best *harness.Snapshot) bool {
	state := bytesOf(r[2])
	if r[0] == nil || chunk.Checksum(state) != whole(r[1]) {
		return false
	}
	best.Seq, best.State = harness.Seq(whole(r[0])), state
	return true
}

// Messages implements [harness.Snapshotter].
func (s *Store) Messages(ctx context.Context, id harness.SessionID, from, to int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var parts []part
		err := s.read(ctx, func(c *conn) (err error) {
			parts, err = s.ancestry(c, id)
			return err
		})
		for at := from; at < to && err == nil; {
			var page [][]byte
			if page, err = s.messages(ctx, parts, at, to); err != nil {
				break
			}
			for _, data := range page {
				if !yield(data, nil) {
					return
				}
			}
			at += len(page)
		}
		if err != nil {
			yield(nil, fmt.Errorf("messages of %s: %w", id, err))
		}
	}
}

// messages returns a page of messages from an index on: at least one, or an
// error. The youngest session that has a message wins; an ancestor's counts only
// if it was sealed before the history left that ancestor.
func (s *Store) messages(ctx context.Context, parts []part, from, to int) (page [][]byte, err error) {
	err = s.read(ctx, func(c *conn) error {
		for _, p := range parts {
			var broken error
			size, next := 0, from
			err := c.query(func(r []driver.Value) bool {
				idx, data := int(whole(r[0])), bytesOf(r[2])
				if idx != next {
					if next == from {
						to = idx // older sessions fill the place before it
					}
					return false
				}
				if chunk.Checksum(data) != whole(r[1]) {
					broken = fmt.Errorf("message %d of %s: wrong checksum: %w", idx, p.id, harness.ErrCorrupt)
					return false
				}
				page = append(page, data)
				size += len(data)
				next++
				return size < pageBytes && len(page) < pageEvents
			}, "SELECT idx, crc, data FROM messages WHERE session = ? AND idx >= ? AND idx < ? AND sealed <= ? ORDER BY idx",
				p.n, int64(from), int64(to), int64(p.limit))
			if err = cmp.Or(err, broken); err != nil || len(page) > 0 {
				return err
			}
		}
		return fmt.Errorf("message %d is missing: %w", from, harness.ErrCorrupt)
	})
	return page, err
}
