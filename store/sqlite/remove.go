package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"

	"harness"
)

// sweepRows is how many rows of a removed session one transaction deletes, so
// that an append never waits long behind it.
const sweepRows = 64

// Remove implements [harness.Remover]. When it returns the session is gone and
// its id is free; its rows are swept away later, between appends, and if need be
// after the next open.
func (s *Store) Remove(ctx context.Context, id harness.SessionID) error {
	if err := s.doLow(ctx, 0, s.removal(id)); err != nil {
		return fmt.Errorf("remove %s: %w", id, err)
	}
	return nil
}

func (s *Store) removal(id harness.SessionID) work {
	return work{apply: func(w *writer) error { return w.remove(id) }, after: func() { s.ancestries.removed(id) }}
}

func (w *writer) remove(id harness.SessionID) error {
	k, err := w.session(id)
	if err != nil {
		return err
	}
	if k == nil {
		return harness.ErrNotFound
	}
	var branches []harness.SessionID
	if err := w.query(func(v []driver.Value) bool {
		branches = append(branches, harness.SessionID(text(v[0])))
		return true
	}, "SELECT id FROM sessions WHERE origin = ? ORDER BY id LIMIT ?", k.n, int64(harness.MaxNamed+1)); err != nil {
		return err
	}
	if len(branches) > 0 {
		return harness.RefuseRemoval(branches)
	}
	if _, err := w.exec("INSERT INTO removed(n) VALUES(?)", k.n); err != nil {
		return err
	}
	if _, err := w.exec("DELETE FROM sessions WHERE n = ?", k.n); err != nil {
		return err
	}
	delete(w.known, id)
	w.sweeping = true
	return nil
}

// sweep deletes some rows of a removed session, in a transaction of its own. A
// failure leaves the rest for the next open. What to sweep is read from the
// table, inside the transaction: a removal that was rolled back is not there.
func (w *writer) sweep() {
	more := false
	_, err := w.transact([]*task{{Work: work{apply: func(w *writer) error {
		n, found, err := w.number("SELECT n FROM removed LIMIT 1")
		if err != nil || !found {
			return err
		}
		more = true
		rest := false
		for _, table := range []string{"commits", "snapshots", "messages"} {
			deleted, err := w.exec("DELETE FROM "+table+" WHERE rowid IN (SELECT rowid FROM "+table+" WHERE session = ? LIMIT ?)", n, int64(sweepRows))
			if err != nil {
				return err
			}
			rest = rest || deleted == sweepRows
		}
		if !rest {
			if _, err := w.exec("DELETE FROM removed WHERE n = ?", n); err != nil {
				return err
			}
		}
		return w.script("PRAGMA incremental_vacuum(64)")
	}}}})
	w.sweeping = more && err == nil
}
