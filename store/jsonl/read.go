package jsonl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"

	"harness"
)

// pageBytes is what a read holds in memory for its consumer, unless one line is
// longer.
const pageBytes = 128 << 10

// part is the share of one thread in a history: what it wrote after base and up
// to limit.
type part struct {
	t           *thread
	base, limit harness.Seq
	size        int64 // of its log, as far as it is durable
	damage      error // what is known to be wrong with the log, somewhere
}

// lineage is id and its ancestors, youngest first. A thread with branches cannot
// be removed, so the chain holds while the youngest is there.
func (s *Store) lineage(id harness.SessionID) ([]part, error) {
	var parts []part
	seen := map[harness.SessionID]bool{}
	for {
		t, f, err := s.find(id)
		if err != nil && len(parts) > 0 {
			return nil, fmt.Errorf("the parent of %s: %s: %w: %w", parts[len(parts)-1].t.id, id, err, harness.ErrCorrupt)
		}
		if err != nil {
			return nil, err
		}
		p := part{t: t, limit: f.end.seq, size: f.end.at, damage: f.damage}
		if p.damage != nil { // what is before the damage can still be read
			p.limit, p.size = math.MaxUint64, math.MaxInt64
		}
		if len(parts) > 0 {
			last := parts[len(parts)-1]
			p.limit = min(last.base, last.limit)
		}
		if f.from != nil {
			p.base = f.from.Seq
		}
		if parts = append(parts, p); f.from == nil {
			return parts, nil
		}
		seen[id] = true
		if id = f.from.Session; seen[id] {
			return nil, fmt.Errorf("%s is its own ancestor: %w", id, harness.ErrCorrupt)
		}
	}
}

// Read implements [harness.Store]: as of the moment the iteration begins. Where
// it begins is found in a few reads, however long the log is.
func (s *Store) Read(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error] {
	return func(yield func(harness.Event, error) bool) {
		var parts []part
		err := s.use(ctx, func() (err error) {
			parts, err = s.lineage(id)
			return err
		})
		for _, p := range slices.Backward(parts) {
			if max(after, p.base) >= p.limit {
				continue
			}
			c := &cursor{s: s, part: p, next: max(after, p.base) + 1}
			if !errors.Is(p.damage, harness.ErrCorrupt) {
				err = p.damage
			}
			for c.next <= p.limit && err == nil {
				if err = c.page(ctx); err == nil {
					var stopped bool
					if stopped, err = c.yield(yield); stopped {
						return
					}
				}
			}
			if errors.Is(err, harness.ErrCorrupt) {
				s.quarantine(p.t, err)
			}
		}
		if err != nil {
			yield(harness.Event{}, fmt.Errorf("read %s: %w", id, err))
		}
	}
}

// quarantine refuses appends to a thread whose log is damaged.
func (s *Store) quarantine(t *thread, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.damage == nil {
		t.damage = why
	}
}

// cursor is a place in a part of a history.
type cursor struct {
	s *Store
	part
	next harness.Seq // the event to yield next
	at   int64       // the byte where it begins; the file is not open between pages
	file os.FileInfo // nil before the first page
	buf  []byte
	data []byte // what of buf is not yielded yet
}

// page loads the next lines: at least one whole one.
func (c *cursor) page(ctx context.Context) error {
	return c.s.use(ctx, func() error {
		log, err := os.Open(filepath.Join(c.s.threadDir(c.t.id), logFile))
		if errors.Is(err, fs.ErrNotExist) {
			return c.missing()
		}
		if err != nil {
			return err
		}
		defer log.Close()
		info, err := log.Stat()
		if err != nil {
			return err
		}
		c.s.mu.Lock()
		removed := c.t.removed
		c.s.mu.Unlock()
		if removed || c.file != nil && !os.SameFile(c.file, info) {
			return fmt.Errorf("removed meanwhile: %w", harness.ErrNotFound)
		}
		if c.file == nil && c.next > c.base+1 {
			if c.at, err = seek(log, min(c.size, info.Size()), c.t.id, c.base+1, c.next); err != nil {
				return err
			}
		}
		c.file = info
		if c.size = min(c.size, info.Size()); c.at == c.size && c.damage != nil {
			return c.damage
		}
		return c.fill(log)
	})
}

// missing explains a log that is not there.
func (c *cursor) missing() error {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.t.removed || c.t.damage == nil {
		return fmt.Errorf("removed meanwhile: %w", harness.ErrNotFound)
	}
	return c.t.damage
}

func (c *cursor) fill(log io.ReaderAt) error {
	for n := int64(pageBytes); ; n *= 2 {
		n = min(n, c.size-c.at)
		if int64(cap(c.buf)) < n {
			c.buf = make([]byte, n)
		}
		got, err := log.ReadAt(c.buf[:n], c.at)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		c.data = c.buf[:got]
		switch {
		case bytes.IndexByte(c.data, '\n') >= 0:
			return nil
		case int64(got) < n || n == c.size-c.at:
			return damaged(c.t.id, c.at, fmt.Sprintf("the log ends before event %d", c.next))
		case n > maxCommit:
			return damaged(c.t.id, c.at, "a line without an end")
		}
	}
}

// yield hands out the whole lines of the page, up to the part's limit.
func (c *cursor) yield(yield func(harness.Event, error) bool) (stopped bool, err error) {
	for c.next <= c.limit {
		n := bytes.IndexByte(c.data, '\n')
		if n < 0 {
			return false, nil
		}
		e, _, err := follows(bytes.Clone(c.data[:n]), c.t.id, c.next)
		if err != nil {
			return false, damagedBy(c.t.id, c.at, err)
		}
		if !yield(e, nil) {
			return true, nil
		}
		c.next++
		c.at += int64(n) + 1
		c.data = c.data[n+1:]
	}
	return false, nil
}
