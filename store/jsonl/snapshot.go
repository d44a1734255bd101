package jsonl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"harness"
)

// maxMessages bounds the index of a thread's messages.
const maxMessages = 1 << 28

// SaveSnapshot implements [harness.Snapshotter]. A snapshot ahead of the log is
// refused with ErrConflict. Its messages are durable before its head is there.
func (s *Store) SaveSnapshot(ctx context.Context, snap harness.Snapshot) error {
	err := s.use(ctx, func() error {
		if !s.owner {
			return errClosed
		}
		t, f, err := s.find(snap.Session)
		switch {
		case err != nil:
			return err
		case f.damage != nil:
			return f.damage
		case snap.Seq == 0 || snap.Seq > f.end.seq:
			return fmt.Errorf("the log ends at %d: %w", f.end.seq, harness.ErrConflict)
		case snap.First < 0 || snap.First+len(snap.Sealed) > maxMessages:
			return fmt.Errorf("%d messages from %d: %w", len(snap.Sealed), snap.First, harness.ErrInvalid)
		}
		t.files.Lock()
		defer t.files.Unlock()
		s.mu.Lock()
		removed := t.removed
		s.mu.Unlock()
		if removed {
			return harness.ErrNotFound
		}
		return save(filepath.Join(s.threadDir(t.id), snapshotsDir), snap)
	})
	if err != nil {
		return fmt.Errorf("save snapshot of %s at %d: %w", snap.Session, snap.Seq, err)
	}
	return nil
}

func save(dir string, snap harness.Snapshot) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if len(snap.Sealed) > 0 {
		shelf, err := openShelf(dir, os.O_RDWR|os.O_CREATE)
		if err != nil {
			return err
		}
		if err := errors.Join(shelf.add(snap), shelf.close()); err != nil {
			return err
		}
	}
	if _, _, there := readHead(dir, snap.Seq); there {
		return nil
	}
	return writeHead(dir, snap)
}

// LoadSnapshot implements [harness.Snapshotter]. A branch without a snapshot of
// its own is given its parent's: Session is then the branch and State still
// names the parent. A snapshot that is damaged, or whose messages are not there,
// counts as lost: the one before it is returned.
func (s *Store) LoadSnapshot(ctx context.Context, id harness.SessionID, at harness.Seq) (harness.Snapshot, error) {
	best := harness.Snapshot{Session: id}
	err := s.use(ctx, func() error {
		parts, err := s.lineage(id)
		if err != nil {
			return err
		}
		best.End = parts[0].limit
		for i, p := range parts {
			if at != 0 {
				p.limit = min(p.limit, at)
			}
			dir := filepath.Join(s.threadDir(p.t.id), snapshotsDir)
			all, err := heads(dir)
			if err != nil {
				return err
			}
			for _, seq := range slices.Backward(all) {
				if seq > p.limit {
					continue
				}
				if seq <= best.Seq {
					break
				}
				sealed, state, ok := readHead(dir, seq)
				if ok && (sealed == 0 || s.has(parts[i:], sealed-1)) {
					best.Seq, best.State = seq, state
					break
				}
			}
		}
		if best.Seq == 0 {
			return fmt.Errorf("none: %w", harness.ErrNotFound)
		}
		return nil
	})
	if err != nil {
		return harness.Snapshot{}, fmt.Errorf("load snapshot of %s at %d: %w", id, at, err)
	}
	return best, nil
}

// has reports whether a message is there.
func (s *Store) has(parts []part, n int) bool {
	page, err := s.messages(parts, n, n+1)
	return err == nil && len(page) == 1
}

// Messages implements [harness.Snapshotter].
func (s *Store) Messages(ctx context.Context, id harness.SessionID, from, to int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var parts []part
		err := s.use(ctx, func() (err error) {
			parts, err = s.lineage(id)
			return err
		})
		for at := from; at < to && err == nil; {
			var page [][]byte
			err = s.use(ctx, func() (err error) {
				page, err = s.messages(parts, at, to)
				return err
			})
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

// pageEntries bounds what is read of an index at once.
const pageEntries = 256

// messages returns a page of messages from an index on: at least one, or an
// error, or both if the page is damaged further on. The youngest thread that has
// a message wins; an ancestor's counts only if it was sealed before the history
// left that ancestor.
func (s *Store) messages(parts []part, from, to int) (page [][]byte, err error) {
	to = min(to, from+pageEntries)
	for _, p := range parts {
		shelf, err := openShelf(filepath.Join(s.threadDir(p.t.id), snapshotsDir), os.O_RDONLY)
		if err != nil {
			return nil, err
		}
		if shelf == nil {
			continue
		}
		page, to, err = shelf.page(p, from, to)
		if err = errors.Join(err, shelf.close()); err != nil || len(page) > 0 {
			return page, err
		}
	}
	return nil, fmt.Errorf("message %d is missing: %w", from, harness.ErrCorrupt)
}

// page returns the messages that p has from an index on, without a gap. If it
// has none there, upTo is where its first one is: older threads fill the place
// before it.
func (s *shelf) page(p part, from, to int) (page [][]byte, upTo int, err error) {
	index, err := s.entries(from, to-from)
	if err != nil {
		return nil, to, err
	}
	size := 0
	for n := from; n < to && size < pageBytes; n++ {
		e, ok := decodeEntry(index[(n-from)*entrySize:], n)
		here := ok && e.sealed <= p.limit
		switch {
		case here && n > from && len(page) == 0:
			return nil, n, nil
		case !here && len(page) > 0:
			return page, to, nil
		case !here:
			continue
		}
		data, err := s.message(e)
		if err != nil {
			return page, to, fmt.Errorf("message %d of %s: %w", n, p.t.id, err)
		}
		page = append(page, data)
		size += len(data)
	}
	return page, to, nil
}
