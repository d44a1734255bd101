package kernel

import (
	"context"
	"sync"

	"harness"
)

// abroad is how sessions are watched that other processes run, or may run next.
// Who runs one does not matter to its watchers: a log that moves is followed, by
// one shadow for all of them, and one that does not is waited for by a row.
type abroad struct {
	k        *Kernel
	follower harness.Follower

	mu       sync.Mutex // guards what follows
	shadows  map[harness.SessionID]*shadow
	attended map[harness.SessionID]*attendance
}

// attendance is the watchers of a session on this process, and what they wait
// for while it sleeps.
type attendance struct {
	watchers int
	waits    *vigil // nil: nobody needs to be told
}

type vigil struct {
	seen harness.Seq
	stop func() // nil until it is known
	over bool   // it was told, or is not wanted any more
}

func newAbroad(k *Kernel, f harness.Follower) *abroad {
	return &abroad{k: k, follower: f, shadows: make(map[harness.SessionID]*shadow), attended: make(map[harness.SessionID]*attendance)}
}

// Attend says that somebody watches a session and wants OnWake to be called when
// it goes on, on whichever process, until leave. A kernel that has its store for
// itself tells everybody anyway: then leave is nil.
func (k *Kernel) Attend(id harness.SessionID) (leave func()) {
	a := k.abroad
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.attended[id]
	if w == nil {
		w = &attendance{}
		a.attended[id] = w
	}
	w.watchers++
	return sync.OnceFunc(func() {
		a.mu.Lock()
		var stop func()
		if w.watchers--; w.watchers == 0 {
			delete(a.attended, id)
			if w.waits != nil {
				stop = w.waits.end()
			}
		}
		a.mu.Unlock()
		if stop != nil {
			stop()
		}
	})
}

// end takes note that nobody is to be told. The abroad's mu is held; what it
// returns, if anything, is called without.
func (d *vigil) end() (stop func()) {
	d.over = true
	return d.stop
}

// wait has OnWake called as soon as the log of id does not end at seen, if
// anybody attends.
func (a *abroad) wait(ctx context.Context, id harness.SessionID, seen harness.Seq) {
	a.mu.Lock()
	w := a.attended[id]
	if w == nil || ctx.Err() != nil {
		a.mu.Unlock()
		return
	}
	if w.waits != nil {
		late := w.waits.seen > seen // somebody has seen more
		a.mu.Unlock()
		if late {
			a.k.woke(id)
		}
		return // what others wait for comes no later
	}
	d := &vigil{seen: seen}
	w.waits = d
	a.mu.Unlock()
	stop := a.follower.OnMove(context.WithoutCancel(ctx), id, seen, func() {
		a.mu.Lock()
		told := !d.over
		d.over = true
		if w.waits == d {
			w.waits = nil
		}
		a.mu.Unlock()
		if told {
			a.k.woke(id)
		}
	})
	a.mu.Lock()
	d.stop = stop
	over := d.over
	a.mu.Unlock()
	if over {
		stop()
	}
}

// watch is WatchAwake.
func (a *abroad) watch(ctx context.Context, id harness.SessionID, after harness.Seq, yield func(harness.Update, error) bool) {
	ended := false
	more := func(up harness.Update, err error) bool {
		ended = !yield(up, err) || err != nil
		return !ended
	}
	for {
		s, sh, err := a.find(ctx, id, &after, more)
		again := false
		switch {
		case ended:
		case err != nil:
			more(harness.Update{}, err)
			if harness.AsError(err) == harness.ErrNotFound {
				a.wait(ctx, id, 0) // it may be made, anywhere
			}
		case s != nil:
			again = s.watch(ctx, &after, more)
		case sh != nil:
			again = sh.watch(ctx, &after, more)
			a.leave(sh)
		}
		if ended {
			return
		}
		if !again {
			a.wait(ctx, id, after)
			return
		}
	}
}

// find is whatever shows id as it goes on: the session itself, if it is awake
// here or is to be, or the shadow of one that is awake elsewhere. Neither is a
// session that sleeps: of that it yields the stored state, unless the watcher has
// it.
func (a *abroad) find(ctx context.Context, id harness.SessionID, after *harness.Seq, yield func(harness.Update, error) bool) (*session, *shadow, error) {
	if s, err := a.here(ctx, id); s != nil || err != nil {
		return s, nil, err
	}
	if sh := a.join(id); sh != nil {
		return nil, sh, nil
	}
	sum, err := a.k.summary(ctx, id)
	switch {
	case err != nil:
		return nil, nil, err
	case *after > sum.Seq:
		return nil, nil, future(*after, sum.Seq)
	}
	runs := sum.Queued.IsZero() && (sum.Status == harness.Queued || sum.Status == harness.Running || sum.Status == harness.Recovering)
	if runs && !a.k.isDraining() {
		s, err := a.k.wake(ctx, id) // if nobody has it
		switch {
		case err == nil:
			return s, nil, nil
		case a.k.elsewhere(err), harness.AsError(err) == harness.ErrStorage, harness.AsError(err) == harness.ErrUnavailable: // who cannot run it may still look
		default:
			return nil, nil, err
		}
	}
	if *after == 0 || int(sum.Seq-*after) > a.k.opts.TailEvents {
		st, _, err := a.k.load(ctx, id, 0)
		if err != nil {
			return nil, nil, err
		}
		*after = st.Seq // before the state is the watcher's
		if !yield(harness.Update{State: st}, nil) {
			return nil, nil, nil
		}
	}
	if runs || *after < sum.Seq {
		return nil, a.open(id, *after), nil
	}
	return nil, nil, nil
}

// here is the session, if it is awake on this process.
func (a *abroad) here(ctx context.Context, id harness.SessionID) (*session, error) {
	s := a.k.peek(id)
	if s == nil {
		return nil, nil
	}
	select {
	case <-s.loaded:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	switch {
	case s.err == nil:
		return s, nil
	case s.err == errGone, a.k.elsewhere(s.err), harness.AsError(s.err) == harness.ErrUnavailable, harness.AsError(s.err) == harness.ErrStorage:
		return nil, nil
	}
	return nil, s.err
}
