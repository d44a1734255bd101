package delta

import (
	"context"
	"time"

	"harness"
)

// closePolicy is RFC 6455's code for a client that may not go on.
const closePolicy = 1008

// quota is a gate that counts who has how many connections.
type quota interface {
	// HoldSocket counts a connection of the caller until release, which may be
	// nil, is called.
	HoldSocket(ctx context.Context) (release func(), err error)
}

// hold counts a connection that is about to be opened.
func (h *Hub) hold(ctx context.Context, w *watcher) (err error) {
	if q, ok := h.k.(quota); ok {
		w.release, err = q.HoldSocket(ctx)
	}
	return err
}

// let ends what hold began.
func (w *watcher) let() {
	if w.release != nil {
		w.release()
	}
}

// bound ends a connection when its caller is nobody any more.
func (h *Hub) bound(w *watcher) {
	if w.who == nil || w.who.Expires.IsZero() {
		return
	}
	w.ends = time.AfterFunc(time.Until(w.who.Expires), func() {
		w.conn.Close(closePolicy, "the credential has expired")
	})
}

// stands ends a connection, which is in its room, whose caller is nobody any
// more: who closes those may have looked before it was there.
func (w *watcher) stands() {
	if w.who != nil && w.who.Life.Over() {
		w.conn.Close(closePolicy, "the credential was revoked, or logged out")
	}
}

// CloseOf ends the connections that were opened with a credential of this name.
// It does not wait for them.
func (h *Hub) CloseOf(name string) {
	h.closeIf(func(c *harness.Caller) bool { return c.Name == name }, "the credential was revoked")
}

// CloseLogin ends the connections of a browser that was logged out. It does not
// wait for them.
func (h *Hub) CloseLogin(login string) {
	h.closeIf(func(c *harness.Caller) bool { return c.Login == login }, "logged out")
}

func (h *Hub) closeIf(ended func(*harness.Caller) bool, why string) {
	h.mu.Lock()
	rooms := make([]*room, 0, len(h.rooms))
	for _, r := range h.rooms {
		rooms = append(rooms, r)
	}
	h.mu.Unlock()
	for _, r := range rooms {
		r.mu.Lock()
		for _, w := range r.watchers {
			if w.who != nil && w.conn != nil && ended(w.who) {
				w.conn.Close(closePolicy, why)
			}
		}
		r.mu.Unlock()
	}
}
