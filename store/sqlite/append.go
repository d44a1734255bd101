package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"

	"harness"
)

// known is a session's row as far as the writer needs it.
type known struct {
	n    int64
	head harness.Seq
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
	switch {
	case c.Session == "", len(c.Events) == 0, c.Summary.Session != c.Session:
		return fail(fmt.Errorf("a commit has a session, its summary and events: %w", harness.ErrInvalid))
	case c.From != nil && (c.From.Seq == 0 || c.From.Seq != c.After || c.From.Session == c.Session):
		return fail(fmt.Errorf("a branch starts at a position of another session: %w", harness.ErrInvalid))
	}
	data, err := encodeChunk(c)
	if err != nil {
		return fail(err)
	}
	summary, err := json.Marshal(c.Summary)
	if err != nil {
		return fail(fmt.Errorf("summary: %w: %w", err, harness.ErrInvalid))
	}
	sum := checksum(data)
	apply := func(w *writer) error { return w.append(c, data, sum, summary) }
	return fail(s.queue.do(ctx, &task{apply: apply, size: len(data) + len(summary)}, false))
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
	_, err = w.exec("INSERT INTO commits(session, last_seq, first_seq, crc, data) VALUES(?, ?, ?, ?, ?)",
		k.n, int64(head), int64(c.After+1), sum, data)
	k.head = head
	return err
}

// session returns what the table says about id, nil if it is not there.
func (w *writer) session(id harness.SessionID) (*known, error) {
	if k, ok := w.known[id]; ok {
		return k, nil
	}
	var k *known
	err := w.query(func(r []driver.Value) bool {
		text := func(i int) string { s, _ := r[i].(string); return s }
		k = &known{n: r[0].(int64), head: harness.Seq(r[1].(int64)), keys: keys{text(2), text(3), text(4), text(5), r[6].(int64)}}
		return false
	}, "SELECT n, head, parent, user, kind, status, minute FROM sessions WHERE id = ?", string(id))
	if k != nil {
		w.known[id] = k
	}
	return k, err
}

func (w *writer) create(c harness.Commit, head harness.Seq, summary []byte) (*known, error) {
	var origin driver.Value
	var originSeq int64
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
		origin, originSeq = parent.n, int64(c.From.Seq)
	case c.After != 0:
		return nil, harness.ErrConflict
	}
	k := keysOf(c.Summary)
	n, _, err := w.number(`INSERT INTO sessions(id, head, origin, origin_seq, parent, user, kind, status, minute, updated, summary)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING n`,
		string(c.Session), int64(head), origin, originSeq, k.parent, k.user, k.kind, k.status, k.minute, c.Summary.Updated.UnixMilli(), summary)
	if err != nil {
		return nil, err
	}
	row := &known{n: n, head: head, keys: k}
	w.known[c.Session] = row
	return row, nil
}

// update moves the row to its new head. The condition repeats in SQL what the
// caller knows, so that a mistake here could never damage a log.
func (w *writer) update(k *known, c harness.Commit, head harness.Seq, summary []byte) error {
	updated := c.Summary.Updated.UnixMilli()
	var changed int64
	var err error
	if now := keysOf(c.Summary); now == k.keys {
		changed, err = w.exec("UPDATE sessions SET head = ?, updated = ?, summary = ? WHERE n = ? AND head = ?",
			int64(head), updated, summary, k.n, int64(c.After))
	} else {
		changed, err = w.exec(`UPDATE sessions SET head = ?, updated = ?, summary = ?, parent = ?, user = ?, kind = ?, status = ?, minute = ?
			WHERE n = ? AND head = ?`,
			int64(head), updated, summary, now.parent, now.user, now.kind, now.status, now.minute, k.n, int64(c.After))
		k.keys = now
	}
	if err == nil && changed != 1 {
		return fmt.Errorf("sqlite: session %s does not end at %d as the writer believed", c.Session, c.After)
	}
	return err
}
