package jsonl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"harness"
	"harness/internal/batch"
	"harness/internal/flock"
)

// Options are the choices of Open. The zero value and nil are good.
type Options struct {
	OpenFiles int // logs kept open for appending; 0 is 256
}

// users is how many reads touch files at the same time; each has at most two
// open.
const users = 64

// Store is a harness.Store, Snapshotter, Remover and Rulebook on one directory.
type Store struct {
	dir     string
	owner   bool // the lock is ours; false after Look
	lock    *flock.Lock
	queue   *batch.Queue[work]
	keeper  *keeper
	running sync.WaitGroup // the writer's goroutine and the keeper's
	slots   chan struct{}  // a token for each user of files
	closing sync.Once
	closed  error // what Close returned

	walk   sync.Mutex // one goroutine at a time walks all threads; held across that
	walked bool       // guarded by walk: every thread of the directory is in threads

	mu      sync.Mutex // guards the fields below and those of threads that say so
	threads map[harness.SessionID]*thread
	order   order
	dirty   map[*thread]bool // whose meta.json lags
	rules   rulebook
}

var errClosed = fmt.Errorf("the store is closed, or only open to look: %w", harness.ErrStorage)

func newStore(dir string) *Store {
	s := &Store{dir: dir, queue: newQueue(), slots: make(chan struct{}, users), threads: map[harness.SessionID]*thread{}, dirty: map[*thread]bool{}}
	for range users {
		s.slots <- struct{}{}
	}
	return s
}

// Open opens or creates the directory for this process alone. It returns
// ErrLocked if another process writes it, and ErrStorage if it cannot be
// written. It looks at no thread: its cost does not grow with their number.
func Open(ctx context.Context, dir string, opts *Options) (*Store, error) {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l, err := claim(dir)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	s := newStore(dir)
	s.owner, s.lock = true, l
	if err := s.openRules(); err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, errors.Join(err, l.Release()))
	}
	s.keeper = newKeeper(s)
	w := newWriter(s, cmp.Or(max(o.OpenFiles, 0), 256))
	s.running.Go(func() { w.run(s.queue) })
	s.running.Go(s.keeper.run)
	return s, nil
}

// Close waits for appends and reads in flight, brings every meta.json up to
// date and releases the directory.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.queue.Close()
		if s.keeper != nil {
			s.keeper.stop()
		}
		s.running.Wait()
		for range users {
			<-s.slots
		}
		close(s.slots)
		if !s.owner {
			return
		}
		err := errors.Join(s.keeper.flush(), s.lock.Release())
		if err != nil {
			s.closed = fmt.Errorf("close %s: %w: %w", s.dir, err, harness.ErrStorage)
		}
	})
	return s.closed
}

// use runs f, which touches files for a short time and never waits for a
// consumer.
func (s *Store) use(ctx context.Context, f func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case _, open := <-s.slots:
		if !open {
			return errClosed
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { s.slots <- struct{}{} }()
	err := f()
	if err != nil && !errors.As(err, new(*harness.Error)) {
		err = fmt.Errorf("%w: %w", err, harness.ErrStorage)
	}
	return err
}

func (s *Store) threadDir(id harness.SessionID) string {
	return filepath.Join(s.dir, threadsDir, string(id))
}
