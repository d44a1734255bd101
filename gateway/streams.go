package gateway

import (
	"context"
	"fmt"
	"iter"

	"harness"
)

// stream lets a caller that may do a to a session have what open yields, until
// the caller is nobody any more. The check is made when the iteration begins.
func stream[T any](g *Gate, ctx context.Context, a Action, id harness.SessionID, open func(context.Context, harness.Caller) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		c, err := g.enter(ctx, a, a, id)
		if err != nil {
			yield(none, err)
			return
		}
		if !c.Expires.IsZero() {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadlineCause(ctx, c.Expires, fmt.Errorf("the credential has expired: %w", harness.ErrUnauthenticated))
			defer cancel()
		}
		open(ctx, c)(yield)
	}
}

// Read yields a session's events after a position.
func (g *Gate) Read(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error] {
	return stream(g, ctx, Read, id, func(ctx context.Context, _ harness.Caller) iter.Seq2[harness.Event, error] {
		return g.k.Read(ctx, id, after)
	})
}

// Messages yields sealed messages of a session.
func (g *Gate) Messages(ctx context.Context, id harness.SessionID, from, to int) iter.Seq2[[]byte, error] {
	return stream(g, ctx, Read, id, func(ctx context.Context, _ harness.Caller) iter.Seq2[[]byte, error] {
		return g.k.Messages(ctx, id, from, to)
	})
}

// Watch yields a session's changes. It ends when the caller's credential does.
func (g *Gate) Watch(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Update, error] {
	return stream(g, ctx, Watch, id, func(ctx context.Context, c harness.Caller) iter.Seq2[harness.Update, error] {
		return mine(c, id, g.k.Watch(ctx, id, after))
	})
}

// WatchAwake is Watch for as long as the session is awake.
func (g *Gate) WatchAwake(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Update, error] {
	return stream(g, ctx, Watch, id, func(ctx context.Context, c harness.Caller) iter.Seq2[harness.Update, error] {
		return mine(c, id, g.k.WatchAwake(ctx, id, after))
	})
}

// mine ends a watch when the session turns out to be another of the same name,
// of another user.
func mine(c harness.Caller, id harness.SessionID, updates iter.Seq2[harness.Update, error]) iter.Seq2[harness.Update, error] {
	if everywhere(c) {
		return updates
	}
	return func(yield func(harness.Update, error) bool) {
		for up, err := range updates {
			if up.State != nil && !reaches(c, id, up.State.User, up.State.Directory) {
				yield(harness.Update{}, absent(id))
				return
			}
			if !yield(up, err) {
				return
			}
		}
	}
}

// List yields the sessions of the caller's user, or whichever a caller asks for
// that may act for others. Asked for another user's, it is empty.
func (g *Gate) List(ctx context.Context, f harness.Filter) iter.Seq2[harness.Summary, error] {
	return func(yield func(harness.Summary, error) bool) {
		c, err := g.enter(ctx, List, List, "")
		switch {
		case err != nil:
			yield(harness.Summary{}, err)
			return
		case everywhere(c):
			g.k.List(ctx, f)(yield)
			return
		case Allows(c.Role, ForOther):
		case f.User != "" && f.User != c.User:
			return
		case f.Session == "": // else who asks for another's is seen
			f.User = c.User
		}
		limit, n := f.Limit, 0
		if placed(c.Scope) {
			f.Limit = 0 // an index knows nothing of scopes
		}
		for sum, err := range g.k.List(ctx, f) {
			if err == nil && !reaches(c, sum.Session, sum.User, sum.Directory) {
				if f.Session != "" {
					g.ledger.put(ctx, Record{Caller: c, Action: List, Session: f.Session, Foreign: true, Err: absent(f.Session)})
				}
				continue
			}
			if !yield(sum, err) {
				return
			}
			if n++; n == limit {
				return
			}
		}
	}
}

// Glimpse is the row of a session that the caller may list, for a server that
// looks on its behalf: the caller has asked for nothing, so nothing is taken down.
// Any other is ErrNotFound.
func (g *Gate) Glimpse(ctx context.Context, id harness.SessionID) (harness.Summary, error) {
	c, err := callerFor(ctx, List)
	if err != nil {
		return harness.Summary{}, err
	}
	sum, err := g.look(ctx, id)
	if err == nil && !everywhere(c) && !reaches(c, id, sum.User, sum.Directory) {
		return harness.Summary{}, absent(id)
	}
	return sum, err
}

// Rules yields the standing rules that were decided in sessions of the caller.
func (g *Gate) Rules(ctx context.Context, directory string) iter.Seq2[harness.Rule, error] {
	return func(yield func(harness.Rule, error) bool) {
		c, err := g.enter(ctx, Rules, Rules, "")
		if err != nil {
			yield(harness.Rule{}, err)
			return
		}
		for r, err := range g.k.Rules(ctx, directory) {
			if err == nil {
				own, trouble := g.owns(ctx, c, r.Session)
				if trouble == nil && !own || trouble != nil && harness.AsError(trouble) == harness.ErrNotFound {
					continue // decided by others, or in a session that only an admin can remember
				}
				err = trouble
			}
			if err != nil {
				yield(harness.Rule{}, err)
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Revoke ends a standing rule that the caller can see, or is ErrNotFound.
func (g *Gate) Revoke(ctx context.Context, id harness.RuleID) error {
	c, err := g.enter(ctx, Revoke, Revoke, "")
	if err != nil {
		return err
	}
	if err := g.pace(ctx, c, Revoke, ""); err != nil {
		return err
	}
	seen := everywhere(c)
	if !seen {
		for r, err := range g.Rules(ctx, "") {
			if err != nil {
				return err
			}
			if seen = r.ID == id; seen {
				break
			}
		}
	}
	if !seen {
		err := harness.ErrNotFound.Saying("no rule " + string(id))
		g.ledger.put(ctx, Record{Caller: c, Action: Revoke, Detail: string(id), Err: err})
		return err
	}
	err = g.k.Revoke(ctx, id)
	g.ledger.put(ctx, Record{Caller: c, Action: Revoke, Detail: string(id), Err: err})
	return err
}
