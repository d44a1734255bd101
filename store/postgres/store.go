package postgres

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"harness"
	"harness/internal/batch"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Options are the choices of Open. The zero value and nil are good.
type Options struct {
	Conns   int           // connections for everything but appends and listening; 0 is 8
	Timeout time.Duration // of one round trip, after which the outcome is unknown; 0 is 30 s

	tracer pgx.QueryTracer // of tests
}

// Store is a harness.Store with all its optional powers on one schema of a
// database.
type Store struct {
	config  *pgx.ConnConfig // for the connections that are nobody else's
	looking bool            // nothing may be written
	timeout time.Duration
	channel string       // of notifications
	silence atomic.Int64 // how long a transaction may wait for this process, a time.Duration

	pool    *pgxpool.Pool
	queue   *batch.Queue[*entry]
	hints   *hints
	bells   *bells
	life    context.Context // ends with Close, for what runs by itself
	end     context.CancelFunc
	writing sync.WaitGroup // the writer
	running sync.WaitGroup // the hinter, the listener, the feeds
	closing sync.Once

	mu        sync.Mutex // guards what follows
	closed    bool
	listening bool
	feeds     map[harness.SessionID]*feed
	moves     map[harness.SessionID][]*move
}

var errClosed = fmt.Errorf("the store is closed, or only open to look: %w", harness.ErrStorage)

// Open opens the store in the database that url names: its schema is the first
// of the search_path, made or brought to this build's version if need be. TLS is
// what the url says (sslmode and its kin). It returns ErrInvalid if the url is
// none or the schema is somebody else's, ErrUnsupported if a newer build wrote it
// or the server does not flush before it acknowledges, and ErrStorage if it
// cannot be reached or written.
func Open(ctx context.Context, url string, opts *Options) (*Store, error) {
	s, err := connect(ctx, url, opts, true)
	if err != nil {
		return nil, err
	}
	for range groups {
		s.writing.Go(func() { newWriter(s).run(s.queue) })
	}
	s.running.Go(func() { s.hint(s.life) })
	s.running.Go(func() { s.clear(s.life) })
	return s, nil
}

// Look opens the store to read it. Whatever writes is refused with ErrStorage. A
// place without a store is ErrNotFound, and none is made.
func Look(ctx context.Context, url string) (*Store, error) {
	s, err := connect(ctx, url, nil, false)
	if err != nil {
		return nil, err
	}
	s.queue.Close()
	return s, nil
}

func connect(ctx context.Context, url string, opts *Options, write bool) (*Store, error) {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	if o.Conns <= 0 {
		o.Conns = 8
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w: %w", err, harness.ErrInvalid)
	}
	config.MaxConns = int32(o.Conns)
	config.ConnConfig.Tracer = o.tracer
	config.ConnConfig.DialFunc = (&net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3}}).DialContext // who only listens would not notice
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = 10 * time.Second
	}
	s := &Store{
		config: config.ConnConfig.Copy(), looking: !write, timeout: o.Timeout, feeds: make(map[harness.SessionID]*feed), moves: make(map[harness.SessionID][]*move),
		queue: batch.New[*entry](batch.Bounds{Tasks: 4096, Bytes: 16 << 20}), hints: newHints(), bells: newBells(),
	}
	s.silence.Store(int64(s.timeout))
	fail := func(err error) (*Store, error) {
		return nil, fmt.Errorf("open the database %q at %s: %w", s.config.Database, s.config.Host, classify(err))
	}
	if err := s.prepare(ctx, write); err != nil {
		return fail(err)
	}
	if s.pool, err = pgxpool.NewWithConfig(context.WithoutCancel(ctx), config); err != nil {
		return fail(err)
	}
	s.life, s.end = context.WithCancel(context.WithoutCancel(ctx))
	return s, nil
}

// prepare checks the server and brings its schema up to date.
func (s *Store) prepare(ctx context.Context, write bool) error {
	c, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx))
	if s.channel, err = inspect(ctx, c, write); err != nil {
		return err
	}
	if write {
		return migrate(ctx, c)
	}
	_, err = version(ctx, c)
	return err
}

// Close waits for appends and reads in flight, ends every Follow and Receive,
// and then the connections. A consumer that is between two pages of a read gets
// an error for the next.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
		s.queue.Close()
		s.writing.Wait()
		s.end()
		s.running.Wait()
		s.pool.Close()
	})
	return nil
}

// open reports whether the store can still be used.
func (s *Store) open(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.life.Err() != nil {
		return errClosed
	}
	return nil
}

// query runs f on a connection of the pool. f loads one page and never waits for
// a consumer.
func (s *Store) query(ctx context.Context, f func(context.Context, querier) error) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	err := s.within(ctx, f)
	if lost(err) && s.open(ctx) == nil {
		s.pool.Reset() // what one connection met, the others did
		err = s.within(ctx, f)
	}
	return settle(ctx, err)
}

// within runs f on the pool for as long as the server may take for an answer.
func (s *Store) within(ctx context.Context, f func(context.Context, querier) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return f(ctx, s.pool)
}

// transact runs f in a transaction of its own, and again if its connection was
// lost before the end. If it is lost at the commit, the outcome is unknown.
func (s *Store) transact(ctx context.Context, f func(context.Context, pgx.Tx) error) error {
	return s.transactFor(ctx, s.timeout, time.Duration(s.silence.Load()), f)
}

// leastSilence is what a busy machine keeps a process waiting.
const leastSilence = 100 * time.Millisecond

// hushed bounds how long others wait for the locks of this process, should it be
// stopped or cut off between two statements: a part of its lease.
func (s *Store) hushed(ttl time.Duration) {
	s.silence.Store(int64(min(max(ttl/4, leastSilence), s.timeout)))
}

// transactFor is transact with a time of its own for the whole, and one after
// which the server undoes a transaction that nothing is heard of.
func (s *Store) transactFor(ctx context.Context, d, silence time.Duration, f func(context.Context, pgx.Tx) error) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	if s.looking {
		return errClosed
	}
	committing, err := s.attempt(ctx, d, silence, f)
	if lost(err) && !committing && s.open(ctx) == nil {
		s.pool.Reset()
		committing, err = s.attempt(ctx, d, silence, f)
	}
	if lost(err) && committing {
		err = fmt.Errorf("the connection was lost before the answer, the outcome is unknown: %w", err)
	}
	return settle(ctx, err)
}

// attempt is one transaction; committing says that it came as far as its end.
func (s *Store) attempt(ctx context.Context, d, silence time.Duration, f func(context.Context, pgx.Tx) error) (committing bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	begin := fmt.Sprintf("begin; set local idle_in_transaction_session_timeout = %d", silence.Milliseconds()) // one round trip
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{BeginQuery: begin})
	if err != nil {
		return false, err
	}
	defer func() { // nothing after a commit
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		tx.Rollback(ctx)
	}()
	if err := f(ctx, tx); err != nil {
		return false, err
	}
	return true, tx.Commit(ctx)
}
