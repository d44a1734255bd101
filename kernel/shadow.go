package kernel

import (
	"context"
	"time"

	"harness"
)

// shadow is the recent end of a log that another process writes, for all who
// watch it here. It ends when the log has been quiet for a while, when nobody
// watches, or when the session wakes on this process.
type shadow struct {
	a        *abroad
	id       harness.SessionID
	tail     *tail
	end      context.CancelFunc
	watchers int // guarded by the abroad's mu
}

// join is the shadow of id, if it has one, which the caller leaves.
func (a *abroad) join(id harness.SessionID) *shadow {
	a.mu.Lock()
	defer a.mu.Unlock()
	sh := a.shadows[id]
	if sh != nil {
		sh.watchers++
	}
	return sh
}

// open is join, except that it makes a shadow, which begins at a position.
func (a *abroad) open(id harness.SessionID, at harness.Seq) *shadow {
	a.mu.Lock()
	defer a.mu.Unlock()
	sh := a.shadows[id]
	if sh == nil {
		ctx, end := context.WithCancel(a.k.life)
		sh = &shadow{a: a, id: id, tail: newTail(at, a.k.opts.TailEvents), end: end}
		a.shadows[id] = sh
		a.k.wg.Go(func() { sh.run(ctx, at) })
	}
	sh.watchers++
	return sh
}

// leave ends the shadow with its last watcher.
func (a *abroad) leave(sh *shadow) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if sh.watchers--; sh.watchers == 0 {
		sh.end()
		a.dropLocked(sh)
	}
}

// drop makes the next watcher look again.
func (a *abroad) drop(sh *shadow) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.dropLocked(sh)
}

func (a *abroad) dropLocked(sh *shadow) {
	if a.shadows[sh.id] == sh {
		delete(a.shadows, sh.id)
	}
}

// woke ends the shadow of a session that wakes here: its own tail is nearer.
func (a *abroad) woke(id harness.SessionID) {
	if a.k.peek(id) == nil {
		return
	}
	if sh := a.join(id); sh != nil {
		sh.end()
		a.leave(sh)
	}
}

// run follows the log.
func (sh *shadow) run(ctx context.Context, at harness.Seq) {
	defer sh.tail.close()
	defer sh.a.drop(sh)
	defer sh.end()
	quiet := sh.a.k.opts.IdleAfter
	rest := time.AfterFunc(quiet, sh.end)
	defer rest.Stop()
	for e, err := range sh.a.follower.Follow(ctx, sh.id, at) {
		if err != nil {
			return
		}
		rest.Reset(quiet)
		sh.tail.add([]harness.Event{e})
		sh.tail.announce()
	}
}

// watch follows the shadow's tail until it ends. It reports whether the watcher
// still lacks something then, or may, and must look again.
func (sh *shadow) watch(ctx context.Context, after *harness.Seq, yield func(harness.Update, error) bool) (again bool) {
	old := *after == 0
	for {
		if old {
			st, _, err := sh.a.k.load(ctx, sh.id, 0)
			if err != nil {
				yield(harness.Update{}, err)
				return false
			}
			*after, old = st.Seq, false // before the state is the watcher's
			if !yield(harness.Update{State: st}, nil) {
				return false
			}
		}
		more, closed := sh.tail.changes() // before we look, so that nothing is missed
		events, _, how := sh.tail.after(*after)
		switch how {
		case tailMore:
			if !yield(harness.Update{Events: events}, nil) {
				return false
			}
			*after = events[len(events)-1].Seq
			continue
		case tailOld:
			missed := sh.a.k.missed(ctx, sh.id, *after, sh.tail.last())
			if old = len(missed) == 0; old {
				continue
			}
			if !yield(harness.Update{Events: missed}, nil) {
				return false
			}
			*after = missed[len(missed)-1].Seq
			continue
		case tailClosed:
			return sh.a.k.peek(sh.id) != nil
		case tailWait, tailFuture: // the state was read from further ahead
		}
		if closed {
			return sh.a.k.peek(sh.id) != nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			yield(harness.Update{}, context.Cause(ctx))
			return false
		}
	}
}
