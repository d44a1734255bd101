package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"iter"
	"slices"

	"harness"
	"harness/internal/chunk"
)

// Bounds of one page of a read: what is held in memory for one consumer.
const (
	pageEvents = 1000
	pageBytes  = 1 << 20
)

// part is the share of one session in a history: what it wrote after base and
// up to limit.
type part struct {
	n           int64
	id          harness.SessionID
	base, limit harness.Seq
}

// lineage is id and its ancestors, youngest first. A session with branches
// cannot be removed, so the chain holds while the youngest is there.
func lineage(c *conn, id harness.SessionID) ([]part, error) {
	var parts []part
	var broken error
	var at row
	add := func(v []driver.Value) bool {
		if at, _, broken = scanRow(v); broken != nil {
			return false
		}
		limit := at.head
		if len(parts) > 0 {
			last := parts[len(parts)-1]
			limit = min(last.base, last.limit)
		}
		parts = append(parts, part{at.n, at.id, at.originSeq, limit})
		return false
	}
	if err := c.query(add, rowColumns+"id = ?", string(id)); err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		return nil, cmp.Or(broken, error(harness.ErrNotFound))
	}
	for at.origin != 0 {
		have := len(parts)
		err := c.query(add, rowColumns+"n = ?", at.origin)
		if err = cmp.Or(err, broken); err != nil {
			return nil, err
		}
		if len(parts) == have {
			return nil, fmt.Errorf("the parent of %s is missing: %w", parts[have-1].id, harness.ErrCorrupt)
		}
	}
	return parts, nil
}

// Read implements [harness.Store]: as of the moment the iteration begins.
func (s *Store) Read(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error] {
	return func(yield func(harness.Event, error) bool) {
		var parts []part
		err := s.read(ctx, func(c *conn) (err error) {
			parts, err = lineage(c, id)
			return err
		})
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
	var chunks []chunk.Chunk
	err := s.read(ctx, func(c *conn) error {
		size := 0
		err := c.query(func(r []driver.Value) bool {
			ch := chunk.Chunk{First: harness.Seq(whole(r[0])), Last: harness.Seq(whole(r[1])), CRC: whole(r[2]), Data: bytesOf(r[3])}
			if ch.First > p.limit {
				return false
			}
			chunks = append(chunks, ch)
			size += len(ch.Data)
			return size < pageBytes && ch.Last < p.limit && ch.Last-after < pageEvents
		}, "SELECT first_seq, last_seq, crc, data FROM commits WHERE session = ? AND last_seq > ? ORDER BY last_seq", p.n, int64(after))
		if err != nil || len(chunks) > 0 {
			return err
		}
		if _, there, err := c.number("SELECT n FROM sessions WHERE n = ?", p.n); err != nil || !there {
			return cmp.Or(err, fmt.Errorf("removed meanwhile: %w", harness.ErrNotFound))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var page []harness.Event
	at := after
	for _, ch := range chunks {
		if ch.First > at+1 || ch.Last <= at {
			break
		}
		events, err := ch.Decode(p.id)
		if err != nil {
			return page, err
		}
		page = append(page, events[at+1-ch.First:min(ch.Last, p.limit)+1-ch.First]...)
		at = min(ch.Last, p.limit)
	}
	if len(page) == 0 {
		return nil, fmt.Errorf("session %s, event %d: missing: %w", p.id, after+1, harness.ErrCorrupt)
	}
	return page, nil
}
