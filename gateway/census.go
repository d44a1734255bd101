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

// census knows how many sessions users have.
type census struct {
	count func(ctx context.Context, user string) (int, error)

	mu    sync.Mutex // guards what follows
	users map[string]*tally
}

// tally is what is known of one user. Whoever has its turn may change it.
type tally struct {
	turn chan struct{} // size 1: taken by who looks at it, also across a count

	mu      sync.Mutex // guards what follows
	n       int        // with those that are being made
	making  int
	counted time.Time // zero: not yet
}

func newCensus(count func(ctx context.Context, user string) (int, error)) *census {
	return &census{count: count, users: map[string]*tally{}}
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
func (c *census) take(ctx context.Context, user string, limit int) (done func(made bool), err error) {
	t := c.of(user)
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if t.old(time.Now(), limit) {
		began := time.Now()
		n, err := c.count(ctx, user)
		if err != nil {
			return nil, fmt.Errorf("count the sessions of %s: %w", user, err)
		}
		t.set(n, began)
	}
	if !t.add(limit) {
		return nil, fmt.Errorf("%d sessions: %w", limit, harness.ErrQuota)
	}
	return t.done, nil
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

func (t *tally) idle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.making == 0 && len(t.turn) == 0
}

func (t *tally) old(now time.Time, limit int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	age := now.Sub(t.counted)
	return t.counted.IsZero() || age > countFor || t.n >= limit && age > fullFor
}

// set is what was counted; those that are being made may not have been there.
func (t *tally) set(n int, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n, t.counted = n+t.making, at
}

func (t *tally) add(limit int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n >= limit {
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
