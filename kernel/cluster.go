package kernel

import (
	"context"
	"errors"
	"fmt"

	"harness"
)

// Cluster is the other processes that run sessions of the same store. With one,
// the kernel runs a session only while it has claimed it, has what others run
// done by them, and follows their logs for those who watch here.
//
// Claims only decide who tries: the log's end is what fences. A process that has
// lost a session finds its appends refused, and its session ends without harm.
type Cluster interface {
	// Claim makes a session this process's to run, until release is called, or
	// is ErrLocked if another one runs it.
	Claim(ctx context.Context, id harness.SessionID) (release func(), err error)
	// Do has a command carried out by whoever runs the session.
	Do(ctx context.Context, id harness.SessionID, cmd harness.Command) (harness.Receipt, error)
	// Remove has a session removed by whoever runs it.
	Remove(ctx context.Context, id harness.SessionID) error
}

// claim is the cluster's, if there is one; release is never nil.
func (k *Kernel) claim(ctx context.Context, id harness.SessionID) (release func(), err error) {
	switch {
	case k.opts.Cluster == nil:
		return func() {}, nil
	case k.isDraining(): // others are there for it
		return func() {}, harness.ErrUnavailable
	}
	if release, err = k.opts.Cluster.Claim(ctx, id); err != nil {
		return func() {}, fmt.Errorf("claim %s: %w", id, err)
	}
	return release, nil
}

// elsewhere reports whether err says that another process runs the session.
func (k *Kernel) elsewhere(err error) bool {
	return err != nil && k.opts.Cluster != nil && harness.AsError(err) == harness.ErrLocked
}

// lost reports whether err says that another process has gone on with a session
// that this one believed its own. Nothing was written then.
func (k *Kernel) lost(err error) bool {
	return err != nil && k.opts.Cluster != nil && harness.AsError(err) == harness.ErrConflict
}

// maxLost bounds how often a command is tried again because its session was
// taken away under it: each time somebody else had it.
const maxLost = 8

// DoHere is Do, except that a session which another process runs is ErrLocked.
func (k *Kernel) DoHere(ctx context.Context, id harness.SessionID, cmd harness.Command) (receipt harness.Receipt, err error) {
	cmd = k.heard(cmd)
	for range maxLost {
		if receipt, err = k.do(ctx, id, cmd); !k.lost(err) {
			break
		}
	}
	if _, ok := cmd.(harness.Rewind); ok && err == nil {
		return k.rewound(ctx, id, receipt)
	}
	return receipt, err
}

// Adopt sees to it that whatever is to be done in a session is done here, or is
// ErrLocked if another process runs it.
func (k *Kernel) Adopt(ctx context.Context, id harness.SessionID) error {
	if k.opts.Cluster != nil {
		if waits, err := k.queueUp(ctx, id); waits || err != nil {
			return err
		}
	}
	_, err := k.wake(ctx, id)
	return err
}

// queueUp puts a background session that waits for its turn into this process's
// line, which claims it for as long. It need not wake for that.
func (k *Kernel) queueUp(ctx context.Context, id harness.SessionID) (bool, error) {
	sum, err := k.summary(ctx, id)
	if err != nil || sum.Queued.IsZero() {
		return false, nil // whoever wakes it finds out
	}
	if _, err := k.claim(ctx, id); err != nil {
		return false, err
	}
	if sum, err = k.summary(ctx, id); err != nil || sum.Queued.IsZero() { // it was called meanwhile
		return false, err
	}
	k.queue.see(sum)
	return true, nil
}

// StepDown ends all sessions, as Close does, and those that are wanted
// afterwards wake again: what was claimed before it is not this process's any
// more. It does not wait.
func (k *Kernel) StepDown() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.closed {
		close(k.term)
		k.term = make(chan struct{})
	}
	k.wg.Go(func() {
		k.queue.change(func(l *line) { // it waits elsewhere now, or comes back
			for id := range l.places {
				l.forget(id)
			}
		})
	})
}

// letGo releases a session that has nothing to do. One that has is kept, so that
// whoever takes over finds it among what this process leaves.
func (s *session) letGo() {
	if !s.m.dead && !unfinished(s.m.state) {
		s.release()
	}
}

// giveBack is letGo for a session that could not be loaded. If it is only that the
// store did not answer, it is kept and tried again: others would not find what
// whoever had it before left open.
func (s *session) giveBack(err error) {
	if s.k.opts.Cluster != nil && harness.AsError(err) == harness.ErrStorage {
		s.k.later(s.id)
		return
	}
	s.release()
}

// regain wakes a session again that somebody else has gone on with, if it is
// nobody's now.
func (k *Kernel) regain(id harness.SessionID) {
	k.wg.Go(func() {
		k.queue.change(func(l *line) { l.forget(id) })
		err := k.Adopt(context.Background(), id)
		if err != nil && !k.elsewhere(err) && !errors.Is(err, harness.ErrUnavailable) {
			k.log.Error("session not woken again", "session", id, "err", err)
		}
	})
}

// Relearn reads the rules again, because another process may have made or
// revoked some. Those that turn up release what waits.
func (k *Kernel) Relearn(ctx context.Context) error {
	if k.book == nil {
		return nil
	}
	if loaded, _ := k.book.status(); !loaded {
		return nil // whoever needs them reads them
	}
	fresh, err := k.book.refresh(ctx)
	for _, directory := range fresh {
		k.release(ctx, directory)
	}
	return err
}

// summary is a session's row in lists.
func (k *Kernel) summary(ctx context.Context, id harness.SessionID) (harness.Summary, error) {
	for sum, err := range k.store.List(ctx, harness.Filter{Session: id, Limit: 1}) {
		return sum, err
	}
	return harness.Summary{}, harness.ErrNotFound
}
