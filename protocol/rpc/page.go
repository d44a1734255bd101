package rpc

import (
	"context"
	"strconv"

	"harness"
)

// projectorAt is the projector of a client that was told everything up to a
// position: what it remembers of an open turn is read again from the log.
func (c *conn) projectorAt(ctx context.Context, id harness.SessionID, at harness.Seq) (*projector, error) {
	if at == 0 {
		return newProjector(id, new(harness.State)), nil
	}
	st, err := c.k.At(ctx, id, at)
	if err != nil {
		return nil, err
	}
	if st.Turn == nil {
		return newProjector(id, st), nil
	}
	p, err := c.projectorAt(ctx, id, max(st.Turn.Began, 1)-1)
	if err != nil {
		return nil, err
	}
	for e, err := range c.k.Read(ctx, id, p.st.Seq) {
		if err != nil {
			return nil, err
		}
		if e.Seq > at {
			break
		}
		p.project(e, func(note) {})
	}
	return p, nil
}

// page is a run of notifications as thread.get returns them, and the projector
// behind them: at least limit if there are as many (0: all), never cut inside
// an event. more says whether the log goes on.
func (c *conn) page(ctx context.Context, id harness.SessionID, after harness.Seq, limit int64) (events []event, p *projector, more bool, err error) {
	p = c.turned
	c.turned = nil
	if p == nil || p.thread != id || p.st.Seq != after || after == 0 {
		if p, err = c.projectorAt(ctx, id, after); err != nil {
			return nil, nil, false, err
		}
	}
	events = []event{}
	for e, err := range c.k.Read(ctx, id, after) {
		if err != nil {
			return nil, nil, false, err
		}
		if limit > 0 && int64(len(events)) >= limit {
			c.turned = p // the next page is likely to follow
			return events, p, true, nil
		}
		p.project(e, func(n note) { events = append(events, record(n)) })
	}
	return events, p, false, nil
}

// record is a notification as thread.get returns it.
func record(n note) event {
	b := appendJSON(make([]byte, 0, 256), n.params)
	b = append(b[:len(b)-1], `,"notification":"`...)
	b = append(b, n.method...)
	b = append(b, `","timestamp":`...)
	b = strconv.AppendInt(b, n.ms, 10)
	return event{append(b, '}')}
}
