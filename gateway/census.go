package gateway

import (
	"context"
	"fmt"
	"sync"
	"time"

	"harness"
)

// Bounds of the census. A count is of that long ago at most, because sessions
// also come and go by other ways than the gate; one that says that there is no
// room is newer.
const (
	maxCounts = 4096 // users whose sessions were counted; another one costs a look into the index
	countFor  = time.Minute
	fullFor   = time.Second
)

// census knows how many sessions users have, and what they store.
type census struct {
	count    func(ctx context.Context, user string) (n int, bytes int64, err error)
	sessions int   // that one may have; negative: any number
	stored   int64 // likewise, in bytes

	mu    sync.Mutex // guards what follows
	users map[string]*tally
}

// tally is what is known of one user. Whoever has its turn may change it.
type tally struct {
	turn chan struct{} // size 1: taken by who looks at it, also across a count

	mu      sync.Mutex // guards what follows
	n       int        // with those that are being made
	bytes   int64      // when they were counted
	making  int
	counted time.Time // zero: not yet
}

func newCensus(sessions int, stored int64, count func(ctx context.Context, user string) (n int, bytes int64, err error)) *census {
	return &census{count: count, sessions: sessions, stored: stored, users: map[string]*tally{}}
}

// of is the tally of a user. Others make room for it, unless they are in use.
func (c *census) of(user string) *tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.users[user]
	if t == nil {
		for name, o := range c.users {
			if len(c.users) < maxCounts {
				break
			}
			if o.idle() {
				delete(c.users, name)
			}
		}
		t = &tally{turn: make(chan struct{}, 1)}
		c.users[user] = t
	}
	return t
}

// take makes room for one more session of the user, or is ErrQuota. Who is let
// says with done whether there is one.
func (c *census) take(ctx context.Context, user string) (done func(made bool), err error) {
	t := c.of(user)
	if err := t.wait(ctx); err != nil {
		return nil, err
	}
	defer t.leave()
	if err := c.refresh(ctx, t, user); err != nil {
		return nil, err
	}
	if err := c.stores(t); err != nil {
		return nil, err
	}
	if !t.add(c.sessions) {
		return nil, fmt.Errorf("%d sessions: %w", c.sessions, harness.ErrQuota)
	}
	return t.done, nil
}

// room is ErrQuota if the user has stored as much as one may.
func (c *census) room(ctx context.Context, user string) error {
	t := c.of(user)
	if c.old(t, time.Now()) {
		if err := t.wait(ctx); err != nil {
			return err
		}
		defer t.leave()
		if err := c.refresh(ctx, t, user); err != nil {
			return err
		}
	}
	return c.stores(t)
}

// refresh counts again, if it is time. The caller has the tally's turn.
func (c *census) refresh(ctx context.Context, t *tally, user string) error {
	began := time.Now()
	if !c.old(t, began) {
		return nil
	}
	n, bytes, err := c.count(ctx, user)
	if err != nil {
		return fmt.Errorf("count the sessions of %s: %w", user, err)
	}
	t.set(n, bytes, began)
	return nil
}

func (c *census) stores(t *tally) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.stored >= 0 && t.bytes >= c.stored {
		return fmt.Errorf("the user's sessions have stored %d bytes; remove some: %w", t.bytes, harness.ErrQuota)
	}
	return nil
}

// change says that sessions of the user have come or gone, whatever the limit.
func (c *census) change(user string, by int) {
	c.mu.Lock()
	t := c.users[user]
	c.mu.Unlock()
	if t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.n = max(t.n+by, t.making)
	}
}

// again says that sessions may have come or gone by other ways.
func (c *census) again() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.users {
		t.mu.Lock()
		t.counted = time.Time{}
		t.mu.Unlock()
	}
}

// wait takes the tally's turn; leave gives it back.
func (t *tally) wait(ctx context.Context) error {
	select {
	case t.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *tally) leave() { <-t.turn }

func (t *tally) idle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.making == 0 && len(t.turn) == 0
}

func (c *census) old(t *tally, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	age := now.Sub(t.counted)
	full := c.sessions >= 0 && t.n >= c.sessions || c.stored >= 0 && t.bytes >= c.stored
	return t.counted.IsZero() || age > countFor || full && age > fullFor
}

// set is what was counted; those that are being made may not have been there.
func (t *tally) set(n int, bytes int64, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n, t.bytes, t.counted = n+t.making, bytes, at
}

func (t *tally) add(limit int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if limit >= 0 && t.n >= limit {
		return false
	}
	t.n++
	t.making++
	return true
}

func (t *tally) done(made bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.making--
	if !made {
		t.n--
	}
}
