package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"harness"
)

// follower tells the client everything that happens in one thread.
type follower struct {
	c    *conn
	id   harness.SessionID
	gate sync.Mutex // held while an answer must come before what it causes
	p    *projector // at the position the client was told up to
}

// follow starts telling the client of a thread from a position on; what it was
// told before is not told again. A thread that is followed already stays so.
func (c *conn) follow(ctx context.Context, id harness.SessionID, after harness.Seq) (*follower, error) {
	c.mu.Lock()
	f := c.follows[id]
	c.mu.Unlock()
	if f != nil {
		return f, nil
	}
	st, err := c.k.At(ctx, id, after)
	if err != nil {
		return nil, err
	}
	f = &follower{c: c, id: id, p: newProjector(st)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.follows[id] = f
	c.wg.Go(func() { f.run(ctx) })
	return f, nil
}

// run follows the thread until the connection ends. If it falls behind the
// tail it reads what it missed from the store: a client is told everything.
func (f *follower) run(ctx context.Context) {
	for ctx.Err() == nil {
		err := f.watch(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil && !errors.Is(err, harness.ErrStorage) && !errors.Is(err, harness.ErrConflict) {
			f.c.log.Error("thread is no longer followed", "thread", f.id, "err", err)
			return
		}
	}
}

func (f *follower) watch(ctx context.Context) error {
	for up, err := range f.c.k.Watch(ctx, f.id, f.p.st.Seq) {
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

// gap tells what is in the store up to a position.
func (f *follower) gap(ctx context.Context, to harness.Seq) error {
	for e, err := range f.c.k.Read(ctx, f.id, f.p.st.Seq) {
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
	f.gate.Lock()
	defer f.gate.Unlock()
	f.p.project(e, func(n note) {
		if a, ok := n.params.(approvalRequested); ok {
			f.c.remember(a.RequestID, f.id)
		}
		f.c.notify(ctx, n)
	})
}

// notification is S4's: a request without an id.
type notification struct {
	JSONRPC string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

func (c *conn) notify(ctx context.Context, n note) {
	c.out.send(ctx, encode(notification{"2.0", n.method, n.params}))
}

// maxAsked bounds the requests whose thread a connection remembers.
const maxAsked = 1024

func (c *conn) remember(id harness.ApprovalID, thread harness.SessionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.asked) >= maxAsked {
		clear(c.asked) // they can still be found, slower
	}
	c.asked[id] = thread
}

// page is a run of notifications as thread.get returns them: at least limit of
// them if there are as many, and never cut inside an event or between a tool's
// result and its outcome. next is where to go on; 0 at the end.
func (c *conn) page(ctx context.Context, id harness.SessionID, after harness.Seq, limit int) (events []json.RawMessage, next harness.Seq, err error) {
	st := new(harness.State)
	if after > 0 {
		if st, err = c.k.At(ctx, id, after); err != nil {
			return nil, 0, err
		}
	}
	p := newProjector(st)
	events = []json.RawMessage{}
	for e, err := range c.k.Read(ctx, id, after) {
		if err != nil {
			return nil, 0, err
		}
		if limit > 0 && len(events) >= limit && len(p.results) == 0 {
			return events, e.Seq - 1, nil
		}
		p.project(e, func(n note) { events = append(events, record(n)) })
	}
	return events, 0, nil
}
