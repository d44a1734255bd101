package kernel

import (
	"context"
	"time"

	"harness"
)

// OnWake adds a function that is called whenever a session wakes, by the
// session's own goroutine: it must not block. Call it before any verb.
func (k *Kernel) OnWake(f func(harness.SessionID)) { k.onWake = append(k.onWake, f) }

// OnShow adds a function that is called with every commit of an awake session
// as soon as watchers can see it, in order: it must not block. Call it before
// any verb.
func (k *Kernel) OnShow(f func(harness.SessionID, []harness.Event)) { k.onShow = append(k.onShow, f) }

// OnSend adds a function that is called with every commit of an awake session
// when it goes to the store, beside the store's work: it must not block, and what
// it hears may never come to be. Call it before any verb.
func (k *Kernel) OnSend(f func(harness.SessionID, []harness.Event)) { k.onSend = append(k.onSend, f) }

// OnCommit adds a function that is called with every commit of an awake session
// when the store has answered: it must not block. Call it before any verb.
func (k *Kernel) OnCommit(f func(c harness.Commit, took time.Duration, err error)) {
	k.onCommit = append(k.onCommit, f)
}

func (k *Kernel) shown(id harness.SessionID, events []harness.Event) {
	for _, f := range k.onShow {
		f(id, events)
	}
}

// wake returns the awake session, loading it if need be.
func (k *Kernel) wake(ctx context.Context, id harness.SessionID) (*session, error) {
	for {
		s, _, err := k.open(ctx, id, nil)
		if err != nil {
			return nil, err
		}
		if err = s.await(ctx); err != errGone {
			return s, err
		}
	}
}

// open returns the session, which may still be loading. One that slept has the
// input that woke it, as its first: whoever brings it need not come again.
func (k *Kernel) open(ctx context.Context, id harness.SessionID, first input) (s *session, has bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil, false, harness.ErrUnavailable
	}
	if s := k.awake[id]; s != nil {
		return s, false, nil
	}
	s = &session{
		k: k, id: id, log: k.log.With("session", id), first: first,
		commands: make(chan input), reports: make(chan input), returned: make(chan ended),
		appends: make(chan appended, 1), keeps: make(chan snapshot, 1), saved: make(chan saved, 1), // at most one of each is under way
		drain: k.drain, halt: k.term, away: make(chan chan error), done: make(chan struct{}), loaded: make(chan struct{}), rung: make(chan struct{}, 1),
		filing: filing{done: make(chan input, 1)}, mail: newMail(),
	}
	k.awake[id] = s
	k.wg.Go(func() { s.run(context.WithoutCancel(ctx)) })
	return s, true, nil
}

// await waits until the session is loaded.
func (s *session) await(ctx context.Context) error {
	select {
	case <-s.loaded:
		return s.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// take gives an awake session an input. It reports whether the session has it:
// else it ended, and there may be another.
func (s *session) take(ctx context.Context, in input) (has bool, err error) {
	if err := s.await(ctx); err == errGone {
		return false, nil
	} else if err != nil {
		return false, err
	}
	select {
	case s.commands <- in:
		return true, nil
	case <-s.done:
		return false, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// woke tells those who watch a sleeping session.
func (k *Kernel) woke(id harness.SessionID) {
	k.mu.Lock()
	if w := k.sleepers[id]; w != nil {
		close(w.woken)
		delete(k.sleepers, id)
	}
	k.mu.Unlock()
	if k.abroad != nil {
		k.abroad.woke(id)
	}
	for _, f := range k.onWake {
		f(id)
	}
}

// forget takes a session that has ended out of the table.
func (k *Kernel) forget(s *session) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.awake[s.id] == s {
		delete(k.awake, s.id)
	}
}

// sleeper is what the watchers of a session wait for while it sleeps.
type sleeper struct {
	woken    chan struct{}
	watchers int
}

// sleeper returns the channel that closes when the session wakes next. The
// caller leaves when it no longer waits: nothing is kept about a session that
// nobody watches.
func (k *Kernel) sleeper(id harness.SessionID) (woken <-chan struct{}, leave func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	w := k.sleepers[id]
	if w == nil {
		w = &sleeper{woken: make(chan struct{})}
		k.sleepers[id] = w
	}
	w.watchers++
	return w.woken, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if w.watchers--; w.watchers == 0 && k.sleepers[id] == w {
			delete(k.sleepers, id)
		}
	}
}

// Awake is how many sessions have a goroutine now.
func (k *Kernel) Awake() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.awake)
}

func (k *Kernel) isDraining() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.draining
}

func (k *Kernel) isClosed() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.closed
}

// retryAfter is how long a session that a failing store threw out stays so,
// unless somebody wants it before.
const retryAfter = 5 * time.Second

// later wakes a session again that was thrown out in the middle of something.
func (k *Kernel) later(id harness.SessionID) {
	k.wg.Go(func() {
		select {
		case <-time.After(retryAfter):
		case <-k.halt:
			return
		}
		if _, err := k.wake(context.Background(), id); err != nil && !k.elsewhere(err) {
			k.log.Error("session not woken again", "session", id, "err", err)
		}
	})
}
