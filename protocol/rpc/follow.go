package rpc

import (
	"context"
	"errors"
	"time"

	"harness"
)

// follower tells the client everything that happens in one thread.
type follower struct {
	c      *conn
	gate   chan struct{} // of size 1, full while held; see exchange
	p      *projector    // at the position the client was told up to; guarded by gate
	cancel context.CancelFunc
	moved  chan struct{} // of size 1: it has come further since somebody looked
	done   chan struct{}
}

// maxFollowed bounds the threads that a connection follows because it asked
// for them: each costs a goroutine and the thread's state.
const maxFollowed = 1024

// follow makes sure that the client is told of a thread, from a position on if
// it is not yet, and holds the thread's notifications until x is answered.
func (c *conn) follow(ctx context.Context, x *exchange, id harness.SessionID, at harness.Seq) (*follower, error) {
	if f := c.follows[id]; f != nil {
		if err := x.hold(ctx, f); err != nil {
			return nil, err
		}
		select {
		case <-f.done: // it gave up; go on where it was
			at = f.p.st.Seq
		default:
			return f, nil
		}
	}
	p, err := c.projectorAt(ctx, id, at)
	if err != nil {
		return nil, err
	}
	return c.begin(x, p), nil
}

// begin follows a thread from where p stands. Approvals that wait there are
// announced, again if need be.
func (c *conn) begin(x *exchange, p *projector) *follower {
	f := &follower{c: c, gate: make(chan struct{}, 1), p: p, moved: make(chan struct{}, 1), done: make(chan struct{})}
	f.gate <- struct{}{}
	x.held = append(x.held, f)
	ctx, cancel := context.WithCancel(c.telling)
	f.cancel = cancel
	c.follows[p.thread] = f
	c.tellers.Go(func() {
		defer close(f.done)
		f.announce(ctx)
		f.run(ctx)
	})
	return f
}

// leave stops following a thread.
func (c *conn) leave(id harness.SessionID) {
	if f := c.follows[id]; f != nil {
		f.cancel()
		<-f.done
		delete(c.follows, id)
	}
}

// patience is how long a follower waits before it looks at a store again that
// failed, at first and at most.
const (
	patience    = 50 * time.Millisecond
	maxPatience = 5 * time.Second
)

// run follows the thread until the connection ends. If it falls behind the
// tail, or the store fails for a while, it reads what it missed from the log:
// a client is told everything.
func (f *follower) run(ctx context.Context) {
	wait := patience
	for ctx.Err() == nil {
		was := f.p.st.Seq
		err := f.watch(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case !errors.Is(err, harness.ErrStorage) && !errors.Is(err, harness.ErrConflict):
			f.c.log.Error("thread is no longer followed", "thread", f.p.thread, "err", err)
			return
		case f.p.st.Seq > was:
			wait = patience
		}
		f.c.log.Warn("thread cannot be read", "thread", f.p.thread, "err", err)
		select {
		case <-time.After(wait):
			wait = min(2*wait, maxPatience)
		case <-ctx.Done():
		}
	}
}

func (f *follower) watch(ctx context.Context) error {
	for up, err := range f.c.k.Watch(ctx, f.p.thread, f.p.st.Seq) {
		if err != nil {
			return err
		}
		if up.State != nil {
			if err := f.gap(ctx, up.State.Seq); err != nil {
				return err
			}
		}
		for _, e := range up.Events {
			f.tell(ctx, e)
		}
	}
	return nil
}

// gap tells what is in the log up to a position.
func (f *follower) gap(ctx context.Context, to harness.Seq) error {
	for e, err := range f.c.k.Read(ctx, f.p.thread, f.p.st.Seq) {
		if err != nil {
			return err
		}
		if e.Seq > to {
			return nil
		}
		f.tell(ctx, e)
	}
	return nil
}

// tell sends an event's notifications, when the gate is open.
func (f *follower) tell(ctx context.Context, e harness.Event) {
	if !f.enter(ctx) {
		return
	}
	defer f.exit()
	f.p.project(e, func(n note) { f.notify(ctx, n) })
	select {
	case f.moved <- struct{}{}:
	default:
	}
}

// announce sends the questions that already wait.
func (f *follower) announce(ctx context.Context) {
	if !f.enter(ctx) {
		return
	}
	defer f.exit()
	for _, a := range f.p.st.Pending {
		turn := harness.TurnID("")
		if t := f.p.st.Turn; t != nil {
			turn = t.ID
		}
		f.notify(ctx, note{method: "approval.requested", params: f.p.requested(a, turn)})
	}
}

func (f *follower) enter(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	select {
	case f.gate <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (f *follower) exit() { <-f.gate }

func (f *follower) notify(ctx context.Context, n note) {
	b := append(make([]byte, 0, 512), `{"jsonrpc":"2.0","method":"`...)
	b = append(b, n.method...)
	b = append(b, `","params":`...)
	b = appendJSON(b, n.params)
	f.c.out.send(ctx, append(b, "}\n"...))
}
