package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"harness"
	"harness/internal/chunk"

	"github.com/jackc/pgx/v5"
)

// Bounds of one page of a read: what is held in memory for one consumer.
const (
	pageEvents = 1000
	pageBytes  = 1 << 20
)

// maxLineage bounds the walk to a session's ancestors: more than anybody
// branches, so that damage cannot make it endless.
const maxLineage = 1 << 16

// part is the share of one session in a history: what it wrote after base and
// up to limit.
type part struct {
	n           int64
	id          harness.SessionID
	base, limit harness.Seq
}

// lineage is id and its ancestors, youngest first. A session with branches
// cannot be removed, so the chain holds while the youngest is there.
func lineage(ctx context.Context, q querier, id harness.SessionID) ([]part, error) {
	rows, err := q.Query(ctx, `WITH RECURSIVE line AS (
		SELECT n, id, head, origin, origin_seq, born, updated, crc, summary, 1 AS depth FROM sessions WHERE id = $1
		UNION ALL
		SELECT p.n, p.id, p.head, p.origin, p.origin_seq, p.born, p.updated, p.crc, p.summary, depth + 1
		FROM line JOIN sessions p ON p.n = line.origin WHERE depth < $2)
		SELECT n, id, head, origin IS NOT NULL, origin_seq, born, updated, crc, summary FROM line ORDER BY depth`, word(string(id)), maxLineage)
	if err != nil {
		return nil, err
	}
	var parts []part
	var born int64
	var name string
	branched := false // the last part continues in a parent
	var n, head, seq, sum, updated, crc int64
	var summary []byte
	var bornNext int64
	var more bool
	_, err = pgx.ForEachRow(rows, []any{&n, &name, &head, &more, &seq, &bornNext, &updated, &crc, &summary}, func() error {
		if sum = rowSum(name, head, updated, summary); sum != crc {
			return brokenRow(name)
		}
		limit := harness.Seq(head)
		if len(parts) > 0 {
			last := parts[len(parts)-1]
			if bornSum(string(last.id), name, int64(last.base)) != born {
				return brokenRow(string(last.id))
			}
			limit = min(last.base, last.limit)
		}
		parts = append(parts, part{n, harness.SessionID(name), harness.Seq(seq), limit})
		born, branched = bornNext, more
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(parts) == 0:
		return nil, harness.ErrNotFound
	case branched:
		return nil, fmt.Errorf("the parent of %s is missing: %w", parts[len(parts)-1].id, harness.ErrCorrupt)
	}
	oldest := parts[len(parts)-1]
	if bornSum(string(oldest.id), "", int64(oldest.base)) != born {
		return nil, brokenRow(string(oldest.id))
	}
	return parts, nil
}

// ancestry is lineage on a connection of the pool.
func (s *Store) ancestry(ctx context.Context, id harness.SessionID) (parts []part, err error) {
	err = s.query(ctx, func(ctx context.Context, q querier) error {
		parts, err = lineage(ctx, q, id)
		return err
	})
	return parts, err
}

// Read implements [harness.Store]: as of the moment the iteration begins.
func (s *Store) Read(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error] {
	return func(yield func(harness.Event, error) bool) {
		parts, err := s.ancestry(ctx, id)
		for _, p := range slices.Backward(parts) {
			for at := max(after, p.base); at < p.limit && err == nil; {
				var events []harness.Event
				events, err = s.page(ctx, p, at)
				for _, e := range events {
					if !yield(e, nil) {
						return
					}
					at = e.Seq
				}
			}
		}
		if err != nil {
			yield(harness.Event{}, fmt.Errorf("read %s: %w", id, err))
		}
	}
}

// page returns the next events of p after a position: at least one, or an
// error, or both if the page is damaged further on.
func (s *Store) page(ctx context.Context, p part, after harness.Seq) ([]harness.Event, error) {
	chunks, err := s.chunks(ctx, p, after)
	if err != nil {
		return nil, err
	}
	page, err := decode(p, after, chunks)
	if err != nil || len(page) > 0 {
		return page, err
	}
	if there, err := s.there(ctx, p); err != nil || !there {
		return nil, errors.Join(err, fmt.Errorf("removed meanwhile: %w", harness.ErrNotFound))
	}
	return nil, fmt.Errorf("session %s, event %d: missing: %w", p.id, after+1, harness.ErrCorrupt)
}

// there reports whether p's session has not been removed.
func (s *Store) there(ctx context.Context, p part) (there bool, err error) {
	err = s.query(ctx, func(ctx context.Context, q querier) error {
		return q.QueryRow(ctx, "SELECT EXISTS (SELECT FROM sessions WHERE n = $1)", p.n).Scan(&there)
	})
	return there, err
}

// chunks returns the rows of p after a position, beginning with the one that
// has the next event: about a page, and at least one if there is any. The server
// counts the bytes before it fetches them.
func (s *Store) chunks(ctx context.Context, p part, after harness.Seq) (chunks []chunk.Chunk, err error) {
	err = s.query(ctx, func(ctx context.Context, q querier) error {
		rows, err := q.Query(ctx, `SELECT seq, last_seq, crc, data FROM (
			SELECT seq, last_seq, crc, data, sum(octet_length(data)) OVER (ORDER BY seq) - octet_length(data) AS size FROM (
				SELECT seq, last_seq, crc, data FROM commits
				WHERE session = $1 AND seq <= $3 AND last_seq > $2
				AND seq >= coalesce((SELECT max(seq) FROM commits WHERE session = $1 AND seq <= $2 + 1), 0)
				ORDER BY seq LIMIT $4) a) b
			WHERE size < $5 ORDER BY seq`, p.n, position(after), position(p.limit), pageEvents, pageBytes)
		if err != nil {
			return err
		}
		chunks, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (c chunk.Chunk, err error) {
			var first, last int64
			err = row.Scan(&first, &last, &c.CRC, &c.Data)
			c.First, c.Last = harness.Seq(first), harness.Seq(last)
			return c, err
		})
		return err
	})
	return chunks, err
}

// decode is the events of chunks after a position and up to p's limit, as far as
// they follow one another.
func decode(p part, after harness.Seq, chunks []chunk.Chunk) (page []harness.Event, err error) {
	for _, ch := range chunks {
		if ch.First > after+1 || ch.Last <= after {
			break
		}
		events, err := ch.Decode(p.id)
		if err != nil {
			return page, err
		}
		last := min(ch.Last, p.limit)
		page = append(page, events[after+1-ch.First:last+1-ch.First]...)
		after = last
	}
	return page, nil
}
