package gateway

import (
	"context"
	"fmt"
	"sync"

	"harness"
)

// holds counts what users have open. The zero value works.
type holds struct {
	mu   sync.Mutex     // guards open
	open map[string]int // by user; none of them 0
}

// hold counts one more of the caller's user until release is called, once or
// more often. What is not counted has nothing to release.
func (h *holds) hold(ctx context.Context, what string, limit int) (release func(), err error) {
	c, ok := harness.CallerOf(ctx)
	switch {
	case !ok:
		return nil, harness.ErrUnauthenticated
	case !counted(c) || limit < 0:
		return nil, nil
	}
	user := c.User
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open[user] >= limit {
		return nil, fmt.Errorf("%d %s of this user are open: %w", limit, what, harness.ErrTooMany)
	}
	if h.open == nil {
		h.open = map[string]int{}
	}
	h.open[user]++
	return sync.OnceFunc(func() { h.release(user) }), nil
}

func (h *holds) release(user string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open[user]--; h.open[user] == 0 {
		delete(h.open, user)
	}
}
