package postgres

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"harness"
)

// Bounds of what a feed keeps of a log's end: enough for followers that are a
// little behind the others, small enough for many sessions.
const (
	tailEvents = 512
	tailBytes  = 512 << 10
)

// feed reads the new events of a session once for all that follow it in this
// process. Followers have cursors into its tail.
type feed struct {
	id        harness.SessionID
	bell      chan struct{} // size 1: it is worth looking
	end       context.CancelFunc
	followers int          // guarded by the store's mu
	number    atomic.Int64 // of the session; 0 until it is known
	seen      atomic.Int64 // where the log ends, as far as was read

	mu      sync.Mutex // guards what follows
	tail    []harness.Event
	size    int           // of the tail, in bytes
	head    harness.Seq   // the tail's last, or where the log ended at first
	started bool          // head is known
	failed  error         // why there will be no more
	changed chan struct{} // closed when any of this changes
}

// join returns the feed of id, which the caller leaves.
func (s *Store) join(id harness.SessionID) (*feed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	s.listenLocked()
	f := s.feeds[id]
	if f == nil {
		ctx, end := context.WithCancel(s.life)
		f = &feed{id: id, bell: make(chan struct{}, 1), end: end, changed: make(chan struct{})}
		s.feeds[id] = f
		s.running.Go(func() { f.run(ctx, s) })
	}
	f.followers++
	return f, nil
}

// leave ends the feed with its last follower.
func (s *Store) leave(f *feed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.followers--; f.followers == 0 {
		f.end()
		s.forgetLocked(f)
	}
}

// forgetLocked makes the next follower start another feed.
func (s *Store) forgetLocked(f *feed) {
	if s.feeds[f.id] == f {
		delete(s.feeds, f.id)
	}
}

// run reads whenever the bell rings. What is about the way to the server it
// tries again; what is about the data it tells the followers, and ends.
func (f *feed) run(ctx context.Context, s *Store) {
	p, rung := part{}, false
	for ctx.Err() == nil {
		more, err := f.read(ctx, s, &p, rung)
		switch {
		case err != nil && (final(err) || s.life.Err() != nil):
			s.mu.Lock()
			s.forgetLocked(f)
			s.mu.Unlock()
			f.change(func() { f.failed = err })
			return
		case err != nil:
			pause(ctx)
		case more:
			rung = false
		default:
			select {
			case <-f.bell:
				rung = true
			case <-ctx.Done():
			}
		}
	}
}

// read takes the next events into the tail; more says that there were any. The
// first time it only finds out where the log ends. If somebody rang for nothing,
// the session may be gone.
func (f *feed) read(ctx context.Context, s *Store, p *part, rung bool) (more bool, err error) {
	if p.n == 0 {
		parts, err := s.ancestry(ctx, f.id)
		if err != nil {
			return false, err
		}
		*p = parts[0]
		head := p.limit
		p.limit = math.MaxInt64
		f.seen.Store(int64(head))
		f.number.Store(p.n)
		f.change(func() { f.head, f.started = head, true })
		return true, nil
	}
	chunks, err := s.chunks(ctx, *p, f.head) // only this goroutine changes head
	if err != nil {
		return false, err
	}
	events, err := decode(*p, f.head, chunks)
	switch {
	case err != nil:
		return false, err
	case len(events) > 0:
		f.add(events)
		return true, nil
	case len(chunks) > 0:
		return false, fmt.Errorf("session %s, event %d: missing: %w", p.id, f.head+1, harness.ErrCorrupt)
	case rung:
		if there, err := s.there(ctx, *p); err != nil || !there {
			if err == nil {
				err = fmt.Errorf("removed meanwhile: %w", harness.ErrNotFound)
			}
			return false, err
		}
	}
	return false, nil
}

// add moves the tail on.
func (f *feed) add(events []harness.Event) {
	head := events[len(events)-1].Seq
	f.seen.Store(int64(head))
	f.change(func() {
		f.tail = append(f.tail, events...)
		for _, e := range events {
			f.size += len(e.JSON())
		}
		for len(f.tail) > tailEvents || f.size > tailBytes && len(f.tail) > 1 {
			f.size -= len(f.tail[0].JSON())
			f.tail = f.tail[1:]
		}
		f.head = head
	})
}

// change wakes the followers.
func (f *feed) change(how func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	how()
	close(f.changed)
	f.changed = make(chan struct{})
}

// since is what the tail has after a position. If that is not enough, behind is
// true; if it is nothing, changed tells when to look again.
func (f *feed) since(at harness.Seq) (events []harness.Event, behind bool, changed <-chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := f.head - harness.Seq(len(f.tail))
	switch {
	case f.failed != nil:
		return nil, false, nil, f.failed
	case !f.started || at >= f.head:
		return nil, false, f.changed, nil
	case at < first:
		return nil, true, nil, nil
	}
	return f.tail[at-first:], false, nil, nil
}
