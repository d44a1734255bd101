package rpc

import (
	"context"

	"harness"
)

// linger goes on telling after the input has ended, while a thread that the
// client follows has a turn running or waiting, for as long as the options
// allow. A turn that waits for an answer is not waited for: nobody here can
// give it any more.
func (c *conn) linger(ctx context.Context) {
	if c.opts.Linger <= 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, c.opts.Linger)
	defer cancel()
	for id, f := range c.follows {
		for !c.rests(ctx, id, f) {
			select {
			case <-f.moved:
			case <-f.done:
			case <-ctx.Done():
				return
			}
		}
	}
}

// rests reports whether the client has been told all there is of a thread, and
// nothing more is on its way.
func (c *conn) rests(ctx context.Context, id harness.SessionID, f *follower) bool {
	select {
	case <-f.done: // it gave up
		return true
	default:
	}
	st, err := c.k.At(ctx, id, 0)
	if err != nil {
		return true
	}
	busy := st.Turn != nil || len(st.Queue) > 0 && st.Status != harness.Paused
	if busy && len(st.Pending) == 0 || !f.enter(ctx) {
		return false
	}
	defer f.exit()
	return f.p.st.Seq >= st.Seq
}
