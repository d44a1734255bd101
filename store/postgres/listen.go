package postgres

import (
	"context"
	"strconv"
	"strings"
	"time"

	"harness"

	"github.com/jackc/pgx/v5"
)

const (
	// sweepEvery is how often a process looks for what nobody told it.
	sweepEvery = 5 * time.Second
	// pauseFor is how long anybody waits before asking a server again that did
	// not answer; and how often a process looks while it cannot listen.
	pauseFor = 250 * time.Millisecond
)

// pause waits a little, and not at all once ctx has ended.
func pause(ctx context.Context) {
	t := time.NewTimer(pauseFor)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// listenLocked makes the process listen from now on. It holds s.mu.
func (s *Store) listenLocked() {
	if s.listening || s.closed {
		return
	}
	s.listening = true
	s.running.Go(func() { s.listen(s.life) })
	s.running.Go(func() {
		for every := time.NewTicker(sweepEvery); ; {
			select {
			case <-every.C:
				s.sweep(s.life)
			case <-s.life.Done():
				every.Stop()
				return
			}
		}
	})
}

// listen hears notifications until ctx ends. It makes its connection again as
// often as it is lost, and looks for what was missed meanwhile.
func (s *Store) listen(ctx context.Context) {
	for ctx.Err() == nil {
		if c, err := pgx.ConnectConfig(ctx, s.config); err == nil {
			s.hearAll(ctx, c)
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			c.Close(end)
			cancel()
		}
		s.sweep(ctx)
		pause(ctx)
	}
}

// hearAll acts on the notifications of a connection until it is lost.
func (s *Store) hearAll(ctx context.Context, c *pgx.Conn) {
	if _, err := c.Exec(ctx, "LISTEN "+pgx.Identifier{s.channel}.Sanitize()); err != nil {
		return
	}
	s.sweep(ctx)
	for {
		n, err := c.WaitForNotification(ctx)
		switch {
		case err != nil:
			return
		case n.Payload == everything:
			s.sweep(ctx)
			continue
		}
		for line := range strings.Lines(n.Payload) {
			s.told(strings.TrimSuffix(line, "\n"))
		}
	}
}

// told acts on one line of a notification.
func (s *Store) told(line string) {
	topic, number, _ := cutLast(line)
	seq, _ := strconv.ParseUint(number, 10, 64)
	id, isLog := strings.CutPrefix(topic, aboutLog)
	switch {
	case isLog:
		s.hear(harness.SessionID(id), harness.Seq(seq))
	case strings.HasPrefix(topic, aboutOrders):
		s.bells.ring(aboutOrders)
	default:
		s.bells.ring(topic)
	}
}

func cutLast(s string) (before, after string, found bool) {
	if i := strings.LastIndexByte(s, ' '); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// hear wakes who reads id for its followers here, unless they have seen that
// its log ends at head; 0 is a log that is gone.
func (s *Store) hear(id harness.SessionID, head harness.Seq) {
	s.mu.Lock()
	if f := s.feeds[id]; f != nil && (head == 0 || head > harness.Seq(f.seen.Load())) {
		ring(f.bell)
	}
	moved := s.movedLocked(id, head)
	s.mu.Unlock()
	for _, m := range moved {
		m.f()
	}
}

// sweep looks for everything that a lost hint could have been about: one query
// for all logs that somebody here waits for, and none if there are none.
func (s *Store) sweep(ctx context.Context) {
	var ids []string
	var numbers, seen []int64
	s.mu.Lock()
	for id, f := range s.feeds {
		if n := f.number.Load(); n != 0 {
			ids, numbers, seen = append(ids, string(id)), append(numbers, n), append(seen, f.seen.Load())
		}
	}
	for id, waiting := range s.moves {
		for _, m := range waiting { // whichever session has the name
			ids, numbers, seen = append(ids, string(id)), append(numbers, 0), append(seen, int64(m.seen))
		}
	}
	s.mu.Unlock()
	s.bells.ringAll()
	if len(ids) == 0 {
		return
	}
	s.query(ctx, func(ctx context.Context, q querier) error { // the next sweep asks again
		rows, err := q.Query(ctx, `SELECT h.id, coalesce(s.head, 0) FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS h(id, n, seen)
			LEFT JOIN sessions s ON s.id = h.id AND (h.n = 0 OR s.n = h.n) WHERE coalesce(s.head, 0) <> h.seen`, ids, numbers, seen)
		if err != nil {
			return err
		}
		var id string
		var head int64
		_, err = pgx.ForEachRow(rows, []any{&id, &head}, func() error {
			s.hear(harness.SessionID(id), harness.Seq(head))
			return nil
		})
		return err
	})
}
