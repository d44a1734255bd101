package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"harness"
	"harness/internal/batch"
	"harness/internal/chunk"
)

// entry is a commit on its way, in the form of its rows.
type entry struct {
	id            string
	after, head   int64
	origin        string // of a branch's first commit
	data, summary []byte
	crc           int64 // of data
	of            harness.Summary
	rules         []ruleRow
	fresh         bool // it makes its session
}

type ruleRow struct {
	id, directory string
	data          []byte
}

// Append implements [harness.Store]. If ctx ends while the commit waits for its
// turn, it is withdrawn and has no effect.
func (s *Store) Append(ctx context.Context, c harness.Commit) error {
	e, err := newEntry(c)
	if err == nil {
		err = s.queue.Do(ctx, batch.NewTask(e, len(e.data)+len(e.summary)))
	}
	if errors.Is(err, batch.ErrClosed) {
		err = errClosed
	}
	if err != nil {
		return fmt.Errorf("append to %s after %d: %w", c.Session, c.After, err)
	}
	return nil
}

// newEntry refuses what no log can take.
func newEntry(c harness.Commit) (*entry, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := checkName("session", string(c.Session)); err != nil {
		return nil, err
	}
	e := &entry{id: string(c.Session), after: position(c.After), of: c.Summary, fresh: c.After == 0 || c.From != nil}
	e.head = e.after + int64(len(c.Events))
	if c.From != nil {
		e.origin = word(string(c.From.Session))
	}
	var err error
	if e.data, err = chunk.Encode(c); err != nil {
		return nil, err
	}
	e.crc = chunk.Checksum(e.data)
	if e.summary, err = json.Marshal(c.Summary); err != nil {
		return nil, fmt.Errorf("summary: %w: %w", err, harness.ErrInvalid)
	}
	for _, r := range c.Rules {
		data, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w: %w", r.ID, err, harness.ErrInvalid)
		}
		e.rules = append(e.rules, ruleRow{string(r.ID), word(r.Directory), data})
	}
	return e, nil
}

// columns are entries as the server takes them: an array for each column.
type columns struct {
	id, parent, user, kind, status, origin []string
	after, head, updated, row, crc, born   []int64
	summary, data                          [][]byte
	rules
}

type rules struct {
	session, id, directory []string
	crc                    []int64
	data                   [][]byte
}

func (c *columns) add(e *entry) {
	updated := e.of.Updated.UnixMilli()
	c.id = append(c.id, e.id)
	c.after, c.head, c.updated = append(c.after, e.after), append(c.head, e.head), append(c.updated, updated)
	c.row, c.summary = append(c.row, rowSum(e.id, e.head, updated, e.summary)), append(c.summary, e.summary)
	c.parent, c.user = append(c.parent, word(string(e.of.Parent))), append(c.user, word(e.of.User))
	c.kind, c.status = append(c.kind, word(string(e.of.Kind))), append(c.status, word(string(e.of.Status)))
	c.crc, c.data = append(c.crc, e.crc), append(c.data, e.data)
	if e.fresh {
		c.origin, c.born = append(c.origin, e.origin), append(c.born, bornSum(e.id, e.origin, e.after))
	}
	for _, r := range e.rules {
		c.rules.session, c.rules.id, c.rules.directory = append(c.rules.session, e.id), append(c.rules.id, r.id), append(c.rules.directory, r.directory)
		c.rules.crc, c.rules.data = append(c.rules.crc, chunk.Checksum(r.data)), append(c.rules.data, r.data)
	}
}

// Both statements return the sessions that took their commits. Under READ
// COMMITTED the server looks at a row again after it has waited for somebody
// else's change of it, so the condition on head holds at the moment of the
// change.
const (
	given = `WITH h AS (SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bytea[], $7::text[], $8::text[], $9::text[], $10::text[], $11::bigint[], $12::bytea[]`

	extending = given + `) AS h(id, after, head, updated, crc, summary, parent, of_user, kind, status, sum, data)),
u AS (UPDATE sessions s SET head = h.head, updated = h.updated, minute = h.updated >> 16, crc = h.crc, summary = h.summary,
		parent = h.parent, of_user = h.of_user, kind = h.kind, status = h.status
	FROM h WHERE s.id = h.id AND s.head = h.after
	RETURNING s.id, s.n, h.after, h.head, h.sum, h.data),
i AS (INSERT INTO commits(session, seq, last_seq, crc, data) SELECT n, after + 1, head, sum, data FROM u)`

	creating = given + `, $13::text[], $14::bigint[]) AS h(id, after, head, updated, crc, summary, parent, of_user, kind, status, sum, data, origin, born)),
u AS (INSERT INTO sessions(id, head, origin, origin_seq, born, parent, of_user, kind, status, minute, updated, crc, summary)
	SELECT h.id, h.head, p.n, h.after, h.born, h.parent, h.of_user, h.kind, h.status, h.updated >> 16, h.updated, h.crc, h.summary
	FROM h LEFT JOIN sessions p ON p.id = h.origin WHERE h.origin = '' OR p.head >= h.after
	ON CONFLICT (id) DO NOTHING RETURNING id, n),
i AS (INSERT INTO commits(session, seq, last_seq, crc, data) SELECT u.n, h.after + 1, h.head, h.sum, h.data FROM u JOIN h ON h.id = u.id)`

	took = ` SELECT id FROM u`
)

// ruling is the part of a statement that keeps the rules of the commits that
// were taken; its parameters come behind n others.
func ruling(n int) string {
	return fmt.Sprintf(`,
r AS (INSERT INTO rules(id, directory, crc, data)
	SELECT r.id, r.directory, r.crc, r.data
	FROM unnest($%d::text[], $%d::text[], $%d::text[], $%d::bigint[], $%d::bytea[]) WITH ORDINALITY AS r(session, id, directory, crc, data, place)
	JOIN u ON u.id = r.session ORDER BY r.place ON CONFLICT (id) DO NOTHING)`, n+1, n+2, n+3, n+4, n+5)
}

// statement is the one that appends all of c: to sessions that are there, or
// with the sessions.
func (c *columns) statement(fresh bool) (sql string, args []any) {
	sql = extending
	args = []any{c.id, c.after, c.head, c.updated, c.row, c.summary, c.parent, c.user, c.kind, c.status, c.crc, c.data}
	if fresh {
		sql, args = creating, append(args, c.origin, c.born)
	}
	if len(c.rules.id) > 0 {
		sql += ruling(len(args))
		args = append(args, c.rules.session, c.rules.id, c.rules.directory, c.rules.crc, c.rules.data)
	}
	return sql + took, args
}
