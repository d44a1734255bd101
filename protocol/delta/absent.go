package delta

import (
	"context"

	"harness"
)

// vacant shows watchers of a session that does not exist yet an empty one.
func (r *room) vacant() {
	r.mu.Lock()
	r.reset(&harness.State{Session: r.id, Status: harness.Idle})
	r.missing = true
	r.mu.Unlock()
	r.catchUp()
}

// found makes the session of a room that has none. Its watchers have seen an
// empty state, which is all that the new session's first event shows: they go
// on from there.
func (r *room) found(ctx context.Context, user string) error {
	_, err := r.hub.k.Create(ctx, harness.NewSession{ID: r.id, User: user})
	made := err == nil
	if !made && harness.AsError(err) != harness.ErrExists {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.missing && made {
		r.seq, r.show, r.again, r.woken = 1, nil, true, true
		for _, w := range r.watchers {
			w.lane = nil
		}
	}
	r.exists, r.missing = true, false
	return nil
}

// fail ends the connections of a session that cannot be shown: those that wait
// for a state of a lane, or all if it is nil. mu is held.
func (r *room) fail(l *lane, err error) {
	r.hub.log.Error("session cannot be shown", "session", r.id, "err", err)
	for _, w := range r.watchers {
		if l == nil || w.lane == l && w.stale && w.ready() {
			w.tell(appendError(nil, "", err))
			w.conn.Close(closeInternal, harness.AsError(err).Text)
			w.blocked = true // and needs nothing any more
		}
	}
}

// closeInternal is RFC 6455's code for a server that cannot go on.
const closeInternal = 1011
