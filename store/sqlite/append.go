package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"

	"harness"
	"harness/internal/chunk"
)

// known is a session's row as the writer remembers it.
type known struct {
	row
	keys keys
}

// keys are the columns that list indexes hold. Most appends change none.
type keys struct {
	parent, user, kind, status string
	minute                     int64
}

func keysOf(s harness.Summary) keys {
	return keys{string(s.Parent), s.User, string(s.Kind), string(s.Status), minute(s.Updated.UnixMilli())}
}

func minute(ms int64) int64 { return ms >> 16 }

// Append implements [harness.Store]. If ctx ends while the commit waits for its
// turn, it is withdrawn and has no effect.
func (s *Store) Append(ctx context.Context, c harness.Commit) error {
	fail := func(err error) error {
		if err == nil {
			return nil
		}
		return fmt.Errorf("append to %s after %d: %w", c.Session, c.After, err)
	}
	if err := c.Check(); err != nil {
		return fail(err)
	}
	data, err := chunk.Encode(c)
	if err != nil {
		return fail(err)
	}
	summary, err := json.Marshal(c.Summary)
	if err != nil {
		return fail(fmt.Errorf("summary: %w: %w", err, harness.ErrInvalid))
	}
	sum := chunk.Checksum(data)
	apply := func(w *writer) error { return w.append(c, data, sum, summary) }
	return fail(s.do(ctx, len(data)+len(summary), apply))
}

func (w *writer) append(c harness.Commit, data []byte, sum int64, summary []byte) error {
	k, err := w.session(c.Session)
	if err != nil {
		return err
	}
	head := c.After + harness.Seq(len(c.Events))
	switch {
	case k == nil:
		k, err = w.create(c, head, summary)
	case k.head != c.After || c.From != nil:
		return harness.ErrConflict
	default:
		err = w.update(k, c, head, summary)
	}
	if err != nil {
		return err
	}
	if _, err = w.exec("INSERT INTO commits(session, last_seq, first_seq, crc, data) VALUES(?, ?, ?, ?, ?)",
		k.n, int64(head), int64(c.After+1), sum, data); err != nil {
		return err
	}
	return w.keepRules(c.Rules)
}

// session returns what the table says about id, nil if it is not there.
func (w *writer) session(id harness.SessionID) (*known, error) {
	if k, ok := w.known[id]; ok {
		return k, nil
	}
	var k *known
	var broken error
	err := w.query(func(v []driver.Value) bool {
		r, summary, err := scanRow(v)
		var sum harness.Summary
		if broken = err; err == nil {
			broken = json.Unmarshal(summary, &sum)
		}
		k = &known{r, keysOf(sum)}
		return false
	}, rowColumns+"id = ?", string(id))
	if err = cmp.Or(err, broken); err != nil || k == nil {
		return nil, err
	}
	w.known[id] = k
	return k, nil
}

func (w *writer) create(c harness.Commit, head harness.Seq, summary []byte) (*known, error) {
	k := &known{row{id: c.Session, head: head, updated: c.Summary.Updated.UnixMilli()}, keysOf(c.Summary)}
	var origin driver.Value
	switch {
	case c.From != nil:
		parent, err := w.session(c.From.Session)
		if err != nil {
			return nil, err
		}
		if parent == nil {
			return nil, fmt.Errorf("parent %s: %w", c.From.Session, harness.ErrNotFound)
		}
		if parent.head < c.From.Seq {
			return nil, fmt.Errorf("parent %s ends at %d: %w", c.From.Session, parent.head, harness.ErrInvalid)
		}
		k.origin, k.originSeq, origin = parent.n, c.From.Seq, parent.n
	case c.After != 0:
		return nil, harness.ErrConflict
	}
	n, _, err := w.number(`INSERT INTO sessions(id, head, origin, origin_seq, parent, user, kind, status, minute, updated, crc, summary)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING n`,
		string(k.id), int64(k.head), origin, int64(k.originSeq), k.keys.parent, k.keys.user, k.keys.kind, k.keys.status, k.keys.minute, k.updated, k.sum(summary), summary)
	if err != nil {
		return nil, err
	}
	k.n = n
	w.known[c.Session] = k
	return k, nil
}

// update moves the row to its new head. The condition repeats in SQL what the
// caller knows, so that a mistake here could never damage a log.
func (w *writer) update(k *known, c harness.Commit, head harness.Seq, summary []byte) error {
	k.head, k.updated = head, c.Summary.Updated.UnixMilli()
	var changed int64
	var err error
	if now := keysOf(c.Summary); now == k.keys {
		changed, err = w.exec("UPDATE sessions SET head = ?, updated = ?, crc = ?, summary = ? WHERE n = ? AND head = ?",
			int64(head), k.updated, k.sum(summary), summary, k.n, int64(c.After))
	} else {
		k.keys = now
		changed, err = w.exec(`UPDATE sessions SET head = ?, updated = ?, crc = ?, summary = ?, parent = ?, user = ?, kind = ?, status = ?, minute = ?
			WHERE n = ? AND head = ?`,
			int64(head), k.updated, k.sum(summary), summary, now.parent, now.user, now.kind, now.status, now.minute, k.n, int64(c.After))
	}
	if err == nil && changed != 1 {
		return fmt.Errorf("sqlite: session %s does not end at %d as the writer believed", c.Session, c.After)
	}
	return err
}
