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
	return fail(s.do(ctx, len(data)+len(summary), entryOf(c, data, summary).write))
}

// entry is what the writer needs of a commit, which is larger.
type entry struct {
	id            harness.SessionID
	after, head   harness.Seq
	from          *harness.Branch
	rules         []harness.Rule
	keys          keys
	updated       int64
	data, summary []byte
	sum           int64 // of data
}

func entryOf(c harness.Commit, data, summary []byte) *entry {
	return &entry{
		id: c.Session, after: c.After, head: c.After + harness.Seq(len(c.Events)), from: c.From, rules: c.Rules,
		keys: keysOf(c.Summary), updated: c.Summary.Updated.UnixMilli(), data: data, sum: chunk.Checksum(data), summary: summary,
	}
}

func (e *entry) write(w *writer) error {
	k, err := w.session(e.id)
	if err != nil {
		return err
	}
	switch {
	case k == nil:
		k, err = w.create(e)
	case k.head != e.after || e.from != nil:
		return harness.ErrConflict
	default:
		err = w.update(k, e)
	}
	if err != nil {
		return err
	}
	if _, err = w.exec("INSERT INTO commits(session, last_seq, first_seq, crc, data) VALUES(?, ?, ?, ?, ?)",
		k.n, int64(e.head), int64(e.after+1), e.sum, e.data); err != nil {
		return err
	}
	return w.keepRules(e.rules)
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

func (w *writer) create(e *entry) (*known, error) {
	k := &known{row{id: e.id, head: e.head, updated: e.updated}, e.keys}
	var origin driver.Value
	switch {
	case e.from != nil:
		parent, err := w.session(e.from.Session)
		if err != nil {
			return nil, err
		}
		if parent == nil {
			return nil, fmt.Errorf("parent %s: %w", e.from.Session, harness.ErrNotFound)
		}
		if parent.head < e.from.Seq {
			return nil, fmt.Errorf("parent %s ends at %d: %w", e.from.Session, parent.head, harness.ErrInvalid)
		}
		k.origin, k.originSeq, origin = parent.n, e.from.Seq, parent.n
	case e.after != 0:
		return nil, harness.ErrConflict
	}
	n, _, err := w.number(`INSERT INTO sessions(id, head, origin, origin_seq, parent, user, kind, status, minute, updated, crc, summary)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING n`,
		string(k.id), int64(k.head), origin, int64(k.originSeq), k.keys.parent, k.keys.user, k.keys.kind, k.keys.status, k.keys.minute, k.updated, k.sum(e.summary), e.summary)
	if err != nil {
		return nil, err
	}
	k.n = n
	w.known[e.id] = k
	return k, nil
}

// update moves the row to its new head. The condition repeats in SQL what the
// caller knows, so that a mistake here could never damage a log.
func (w *writer) update(k *known, e *entry) error {
	k.head, k.updated = e.head, e.updated
	var changed int64
	var err error
	if e.keys == k.keys {
		changed, err = w.exec("UPDATE sessions SET head = ?, updated = ?, crc = ?, summary = ? WHERE n = ? AND head = ?",
			int64(e.head), k.updated, k.sum(e.summary), e.summary, k.n, int64(e.after))
	} else {
		k.keys = e.keys
		changed, err = w.exec(`UPDATE sessions SET head = ?, updated = ?, crc = ?, summary = ?, parent = ?, user = ?, kind = ?, status = ?, minute = ?
			WHERE n = ? AND head = ?`,
			int64(e.head), k.updated, k.sum(e.summary), e.summary, e.keys.parent, e.keys.user, e.keys.kind, e.keys.status, e.keys.minute, k.n, int64(e.after))
	}
	if err == nil && changed != 1 {
		return fmt.Errorf("sqlite: session %s does not end at %d as the writer believed", e.id, e.after)
	}
	return err
}
