package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"harness"
	"harness/internal/batch"
	"harness/internal/flock"
)

// Options are the choices of Open. The zero value and nil are good.
type Options struct {
	Readers int // connections for reads; 0 is 4
	CacheKB int // page cache of the writer; 0 is 32 MB. A reader has a quarter
}

// Store is a harness.Store, Snapshotter, Remover and Rulebook on one database
// file.
type Store struct {
	path       string
	uri        string // what readers dial
	cacheKB    int
	lock       *flock.Lock
	queue      *batch.Queue[work]
	writer     *writer
	running    sync.WaitGroup // the writer's goroutine
	readers    chan *conn     // as many slots as readers; a nil one is not dialled yet
	closing    sync.Once
	ancestries ancestries
	closed     error // what Close returned
}

var errClosed = fmt.Errorf("the store is closed, or only open to look: %w", harness.ErrStorage)

// Open opens or creates the database at path for this process alone. The
// directory is created if it is missing. It returns ErrLocked if another
// process has the database, ErrCorrupt if the file is damaged, ErrInvalid if it
// is somebody else's, ErrUnsupported if a newer build wrote it, and ErrStorage
// if it cannot be written.
func Open(ctx context.Context, path string, opts *Options) (*Store, error) {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	if o.Readers <= 0 {
		o.Readers = 4
	}
	if o.CacheKB <= 0 {
		o.CacheKB = 32 << 10
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l, err := claim(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	s := &Store{path: path, uri: uri(path), cacheKB: o.CacheKB, lock: l, queue: newQueue(), readers: make(chan *conn, o.Readers)}
	for range o.Readers {
		s.readers <- nil
	}
	c, err := prepare(path, o.CacheKB)
	if err != nil {
		l.Release()
		return nil, fmt.Errorf("open %s: %w", path, classify(err))
	}
	s.writer = newWriter(c)
	if err := s.writer.watch(path); err != nil {
		l.Release()
		return nil, fmt.Errorf("open %s: %w", path, errors.Join(err, c.close()))
	}
	s.running.Go(func() { s.writer.run(s.queue) })
	return s, nil
}

// Close waits for appends and reads in flight, then releases the database. A
// consumer that is between two pages of a read gets an error for the next.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.queue.Close()
		s.running.Wait()
		var errs []error
		for range cap(s.readers) {
			if c := <-s.readers; c != nil {
				errs = append(errs, c.close())
			}
		}
		close(s.readers)
		if s.writer != nil { // not after Look
			errs = append(errs, s.writer.close(), s.lock.Release())
		}
		if err := errors.Join(errs...); err != nil {
			s.closed = fmt.Errorf("close %s: %w", s.path, classify(err))
		}
	})
	return s.closed
}

// read runs f on a connection that nobody else uses meanwhile. f is short: it
// loads one page and never waits for a consumer.
func (s *Store) read(ctx context.Context, f func(*conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var c *conn
	var open bool
	select {
	case c, open = <-s.readers:
	case <-ctx.Done():
		return ctx.Err()
	}
	if !open {
		return errClosed
	}
	var err error
	if c == nil {
		c, err = dialURI(s.uri, "busy_timeout=5000", "query_only=1", fmt.Sprintf("cache_size=-%d", s.cacheKB/4))
	}
	if err == nil {
		err = f(c)
	}
	s.readers <- c
	return classify(err)
}
