package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"harness"
	"harness/internal/batch"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

type task = batch.Task[*entry]

// groups is how many groups of commits are under way at a time, each on a
// connection of its own: while one is being flushed the next is on its way, and
// the server flushes them together. With one, half of those who wait are always
// the half that came too late. A session's commits follow one another, because
// each waits for the one before it.
const groups = 2

// writer owns a writing connection. Only its goroutine calls its methods.
type writer struct {
	store *Store
	conn  *pgx.Conn // nil if there is none at the moment
	used  time.Time // when it last worked
}

// stale is after how much idleness a connection is tried before it is trusted
// with a commit: one that the server has closed would make its outcome unknown.
const stale = time.Second

// attempts is how often a commit is tried that the server undid because of what
// others did.
const attempts = 5

func newWriter(s *Store) *writer { return &writer{store: s} }

// run serves q until it is closed and empty.
func (w *writer) run(q *batch.Queue[*entry]) {
	defer w.drop()
	var group []*task
	for {
		var closed bool
		group, closed = q.Take(group)
		switch {
		case len(group) > 0:
			for rest := group; len(rest) > 0; {
				var wave []*task
				wave, rest = split(rest)
				w.serve(wave)
			}
			clear(group)
		case closed:
			return
		default:
			q.Await()
		}
	}
}

// split takes the first commit of each session, in the order of their names, so
// that no two processes wait for each other. The rest keep their order.
func split(group []*task) (wave, rest []*task) {
	seen := make(map[string]bool, len(group))
	for _, t := range group {
		if seen[t.Work.id] {
			rest = append(rest, t)
			continue
		}
		seen[t.Work.id] = true
		wave = append(wave, t)
	}
	slices.SortFunc(wave, func(a, b *task) int { return cmp.Compare(a.Work.id, b.Work.id) })
	return wave, rest
}

// serve gives every task its outcome. If the server refuses all of them for a
// reason that may be one task's own, each is tried by itself.
func (w *writer) serve(wave []*task) {
	answers, err := w.transact(wave)
	for n := 1; n < attempts && passing(err); n++ {
		answers, err = w.transact(wave)
	}
	if err != nil && w.conn != nil && len(wave) > 1 {
		for _, t := range wave {
			w.serve([]*task{t})
		}
		return
	}
	if err != nil {
		for _, t := range wave {
			t.Answer(err)
		}
		return
	}
	for i, t := range wave {
		if answers[i] == nil {
			w.store.appended(harness.SessionID(t.Work.id), harness.Seq(t.Work.head))
			if len(t.Work.rules) > 0 {
				w.store.announce(harness.AboutRules)
			}
		}
		t.Answer(answers[i])
	}
}

// transact sends the wave as one transaction in one round trip and returns the
// answer of each task, valid if the error is nil: then everything is durable.
// Otherwise nothing of it has happened, unless the error says that this is
// unknown: then the connection is gone. A connection that turns out to be gone
// before it took a byte is replaced once.
func (w *writer) transact(wave []*task) (answers []error, err error) {
	answers, err = w.try(wave)
	if pgconn.SafeToRetry(err) {
		answers, err = w.try(wave)
	}
	return answers, err
}

func (w *writer) try(wave []*task) (answers []error, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), w.store.timeout)
	defer cancel()
	if err := w.ready(ctx); err != nil {
		return nil, fmt.Errorf("no connection, nothing was written: %w", classify(err))
	}
	var some [2]columns // those to extend, those to create
	for _, t := range wave {
		i := 0
		if t.Work.fresh {
			i = 1
		}
		some[i].add(t.Work)
	}
	b := &pgx.Batch{} // without BEGIN, all of it is one transaction
	took := make(map[string]bool, len(wave))
	for i := range some {
		if len(some[i].id) > 0 {
			sql, args := some[i].statement(i == 1)
			b.Queue(sql, args...).Query(func(rows pgx.Rows) error {
				for rows.Next() {
					var id string
					if err := rows.Scan(&id); err != nil {
						return err
					}
					took[id] = true
				}
				return rows.Err()
			})
		}
	}
	if err := w.conn.SendBatch(ctx, b).Close(); err != nil {
		return nil, w.failed(err)
	}
	w.used = time.Now()
	answers = make([]error, len(wave))
	for i, t := range wave {
		if !took[t.Work.id] {
			answers[i] = w.refusal(ctx, t.Work)
		}
	}
	return answers, nil
}

// refusal is why a commit was not taken.
func (w *writer) refusal(ctx context.Context, e *entry) error {
	if e.origin == "" {
		return harness.ErrConflict
	}
	if w.conn == nil {
		return fmt.Errorf("not taken, and no connection to ask why: %w", harness.ErrStorage)
	}
	var there bool
	var parent *int64
	err := w.conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM sessions WHERE id = $1), (SELECT head FROM sessions WHERE id = $2)", e.id, e.origin).Scan(&there, &parent)
	switch {
	case err != nil:
		w.drop()
		return fmt.Errorf("not taken, and nobody says why: %w", classify(err))
	case there:
		return harness.ErrConflict
	case parent == nil:
		return fmt.Errorf("parent %s: %w", e.origin, harness.ErrNotFound)
	case *parent < e.after:
		return fmt.Errorf("parent %s ends at %d: %w", e.origin, *parent, harness.ErrInvalid)
	}
	return fmt.Errorf("parent %s came after its branch: %w", e.origin, harness.ErrNotFound)
}

// ready makes sure that there is a connection that works.
func (w *writer) ready(ctx context.Context) error {
	if w.conn != nil && time.Since(w.used) > stale && w.conn.Ping(ctx) != nil {
		w.drop()
	}
	if w.conn != nil {
		return nil
	}
	c, err := pgx.ConnectConfig(ctx, w.store.config)
	if err != nil {
		return err
	}
	w.conn, w.used = c, time.Now()
	return nil
}

// failed says what became of the transaction that err ended. If the server said
// so and still speaks, it has undone it. Otherwise nobody knows.
func (w *writer) failed(err error) error {
	if code(err) == codeForeignKey {
		return fmt.Errorf("the parent was removed: %w", harness.ErrNotFound)
	}
	if code(err) != "" && !w.conn.IsClosed() {
		return classify(err)
	}
	w.drop()
	if pgconn.SafeToRetry(err) {
		return fmt.Errorf("the connection was lost before, nothing was written: %w", classify(err))
	}
	return fmt.Errorf("the connection was lost before the answer, the outcome is unknown: %w", classify(err))
}

// drop ends the connection.
func (w *writer) drop() {
	if w.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	w.conn.Close(ctx) // whatever mattered was answered
	w.conn = nil
}
