package postgres

import (
	"context"
	"fmt"
	"iter"

	"harness"
	"harness/internal/chunk"

	"github.com/jackc/pgx/v5"
)

// Messages implements [harness.Snapshotter].
func (s *Store) Messages(ctx context.Context, id harness.SessionID, from, to int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		parts, err := s.ancestry(ctx, id)
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
func (s *Store) messages(ctx context.Context, parts []part, from, to int) ([][]byte, error) {
	for _, p := range parts {
		page, first, err := s.sealed(ctx, p, from, to)
		if err != nil || len(page) > 0 && first == from {
			return page, err
		}
		if len(page) > 0 {
			to = first // older sessions fill the place before it
		}
	}
	return nil, fmt.Errorf("message %d is missing: %w", from, harness.ErrCorrupt)
}

// sealed is about a page of p's own messages, as far as they follow one another,
// and the index of the first.
func (s *Store) sealed(ctx context.Context, p part, from, to int) (page [][]byte, first int, err error) {
	err = s.query(ctx, func(ctx context.Context, q querier) error {
		rows, err := q.Query(ctx, `SELECT idx, crc, data FROM (
			SELECT idx, crc, data, sum(octet_length(data)) OVER (ORDER BY idx) - octet_length(data) AS size FROM (
				SELECT idx, crc, data FROM messages WHERE session = $1 AND idx >= $2 AND idx < $3 AND sealed <= $4 ORDER BY idx LIMIT $5) a) b
			WHERE size < $6 ORDER BY idx`, p.n, int64(from), int64(to), position(p.limit), pageEvents, pageBytes)
		if err != nil {
			return err
		}
		var idx, crc int64
		var data []byte
		_, err = pgx.ForEachRow(rows, []any{&idx, &crc, &data}, func() error {
			if len(page) == 0 {
				first = int(idx)
			}
			if int(idx) != first+len(page) {
				return nil // a gap: what is behind it is of a later page
			}
			if chunk.Checksum(data) != crc {
				return fmt.Errorf("message %d of %s: wrong checksum: %w", idx, p.id, harness.ErrCorrupt)
			}
			page = append(page, data)
			data = nil
			return nil
		})
		return err
	})
	return page, first, err
}
