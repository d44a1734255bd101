package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"harness"

	"github.com/jackc/pgx/v5"
)

// pageOrders bounds how many orders are held for a receiver.
const pageOrders = 16

// keepAnswers is how long an answer stands for who asks again.
const keepAnswers = "1 day"

// Send implements [harness.Inbox].
func (s *Store) Send(ctx context.Context, o harness.Order) ([]byte, error) {
	answer, err := s.send(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("order %s for %s: %w", o.Key, o.Session, err)
	}
	return answer, nil
}

func (s *Store) send(ctx context.Context, o harness.Order) ([]byte, error) {
	if len(o.Body) > harness.MaxOrder {
		return nil, fmt.Errorf("%d bytes, the most is %d: %w", len(o.Body), harness.MaxOrder, harness.ErrTooLarge)
	}
	if err := errors.Join(checkName("session", string(o.Session)), checkName("key", o.Key)); err != nil {
		return nil, err
	}
	answered, away := s.await(aboutAnswer + string(o.Session))
	defer away()
	err := s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "INSERT INTO orders(session, key, body) VALUES($1, $2, $3) ON CONFLICT DO NOTHING", string(o.Session), o.Key, blob(o.Body))
		return err
	})
	if err != nil {
		return nil, err
	}
	s.bells.ring(aboutOrders)
	s.hints.add(aboutOrders, o.Session, 0)
	for {
		answer, done, err := s.answer(ctx, o)
		switch {
		case done, err != nil && final(err):
			return answer, err
		case err != nil:
			pause(ctx)
		}
		select {
		case <-answered:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.life.Done():
			return nil, errClosed
		}
	}
}

// await hangs a bell that other processes ring, too.
func (s *Store) await(topic string) (bell chan struct{}, away func()) {
	bell, away = s.bells.hang(topic)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listenLocked()
	return bell, away
}

// answer is the answer to an order, if there is one. An order that is gone went
// with its session.
func (s *Store) answer(ctx context.Context, o harness.Order) (answer []byte, done bool, err error) {
	err = s.query(ctx, func(ctx context.Context, q querier) error {
		err := q.QueryRow(ctx, "SELECT answer, answered IS NOT NULL FROM orders WHERE session = $1 AND key = $2", string(o.Session), o.Key).Scan(&answer, &done)
		if errors.Is(err, pgx.ErrNoRows) {
			return harness.ErrNotFound
		}
		return err
	})
	return answer, done, err
}

// Receive implements [harness.Inbox]. While the server cannot be reached it
// waits.
func (s *Store) Receive(ctx context.Context, owner string) iter.Seq2[harness.Order, error] {
	return func(yield func(harness.Order, error) bool) {
		more := func(o harness.Order) bool { return yield(o, nil) }
		if err := s.receive(ctx, word(owner), more); err != nil {
			yield(harness.Order{}, fmt.Errorf("orders for %s: %w", owner, err))
		}
	}
}

// receive remembers what it gave, as long as that is not answered: nobody else
// gives orders to this owner.
func (s *Store) receive(ctx context.Context, owner string, give func(harness.Order) bool) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	ordered, away := s.await(aboutOrders)
	defer away()
	given := map[int64]uint64{} // the number of an order: its epoch
	for {
		orders, err := s.orders(ctx, owner, given)
		switch {
		case err != nil && (final(err) || s.open(ctx) != nil):
			return err
		case err != nil:
			pause(ctx)
			continue
		}
		for _, o := range orders {
			given[o.n] = o.Epoch
			if !give(o.Order) {
				return nil
			}
		}
		if len(orders) > 0 {
			continue
		}
		select {
		case <-ordered:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.life.Done():
			return errClosed
		}
	}
}

// numbered is an order with its place.
type numbered struct {
	n int64
	harness.Order
}

// orders is the next orders for owner's sessions, but for those that were given
// under the same lease. It forgets of given what is open no more.
func (s *Store) orders(ctx context.Context, owner string, given map[int64]uint64) (page []numbered, err error) {
	numbers, epochs := make([]int64, 0, len(given)), make([]int64, 0, len(given))
	for n, epoch := range given {
		numbers, epochs = append(numbers, n), append(epochs, int64(epoch))
	}
	err = s.query(ctx, func(ctx context.Context, q querier) error {
		page = nil
		rows, err := q.Query(ctx, `WITH given AS (SELECT * FROM unnest($2::bigint[], $3::bigint[]) AS g(n, epoch)),
			fresh AS (SELECT o.n, o.session, o.key, o.body, l.epoch FROM orders o JOIN leases l ON l.session = o.session
				WHERE l.owner = $1 AND o.answered IS NULL AND NOT EXISTS (SELECT FROM given g WHERE g.n = o.n AND g.epoch = l.epoch)
				ORDER BY o.n LIMIT $4)
			SELECT n, session, key, body, epoch, true FROM fresh
			UNION ALL
			SELECT g.n, '', '', ''::bytea, 0, false FROM given g LEFT JOIN orders o ON o.n = g.n AND o.answered IS NULL WHERE o.n IS NULL
			ORDER BY n`, owner, numbers, epochs, pageOrders)
		if err != nil {
			return err
		}
		var o numbered
		var open bool
		_, err = pgx.ForEachRow(rows, []any{&o.n, &o.Session, &o.Key, &o.Body, &o.Epoch, &open}, func() error {
			if open {
				page = append(page, o)
			} else {
				delete(given, o.n)
			}
			return nil
		})
		return err
	})
	return page, err
}

// Answer implements [harness.Inbox]. The same answer again changes nothing.
// With each, some old ones go.
func (s *Store) Answer(ctx context.Context, o harness.Order, answer []byte) error {
	if len(answer) > harness.MaxOrder {
		return fmt.Errorf("answer to %s of %s: %d bytes, the most is %d: %w", o.Key, o.Session, len(answer), harness.MaxOrder, harness.ErrTooLarge)
	}
	err := s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error {
		done, err := tx.Exec(ctx, `WITH l AS (SELECT FROM leases WHERE session = $1 AND epoch = $3 FOR SHARE),
			old AS (DELETE FROM orders WHERE n IN (SELECT n FROM orders WHERE answered < clock_timestamp() - interval '`+keepAnswers+`' LIMIT 8 FOR UPDATE SKIP LOCKED))
			UPDATE orders SET answer = $4, answered = coalesce(answered, clock_timestamp())
			WHERE session = $1 AND key = $2 AND EXISTS (SELECT FROM l) AND (answered IS NULL OR answer = $4)`,
			word(string(o.Session)), word(o.Key), int64(o.Epoch), blob(answer))
		if err == nil && done.RowsAffected() == 0 {
			err = harness.ErrConflict
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("answer to %s of %s: %w", o.Key, o.Session, err)
	}
	s.bells.ring(aboutAnswer + string(o.Session))
	s.hints.add(aboutAnswer, o.Session, 0)
	return nil
}
