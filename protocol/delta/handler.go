package delta

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"harness"
	"harness/internal/socket"
)

// doFor bounds how long one command may wait for the store before its client
// is told that the outcome is unknown.
const doFor = 30 * time.Second

// Windows are rounded up to one of a few sizes, so that watchers share lanes.
const (
	minWindow = 64
	maxWindow = 1024
)

// ServeHTTP answers GET /ws?userId=…&sessionId=…, with the additive since,
// window and hb, or caps with hb in it. Without a session it serves the user's
// default one; without a user a new one, which the first command makes.
func (h *Hub) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w, id, err := h.parse(r)
	if err == nil {
		err = h.hold(r.Context(), w)
	}
	if err != nil {
		status := http.StatusServiceUnavailable
		switch {
		case errors.Is(err, harness.ErrNotFound):
			status = http.StatusNotFound
		case errors.Is(err, harness.ErrInvalid):
			status = http.StatusBadRequest
		case errors.Is(err, harness.ErrUnauthenticated):
			status = http.StatusUnauthorized
		case errors.Is(err, harness.ErrForbidden):
			status = http.StatusForbidden
		case errors.Is(err, harness.ErrTooMany):
			status = http.StatusTooManyRequests
			rw.Header().Set("Retry-After", "1")
			rw.Header().Set("Connection", "close") // it wanted one that it cannot have
		}
		h.refused(r.Context(), "websocket", err)
		http.Error(rw, harness.ClientText(err), status)
		return
	}
	w.join = id
	protocol := ""
	if slices.Contains(socket.Subprotocols(r), subprotocol) {
		protocol = subprotocol
	}
	if _, err := h.srv.Upgrade(rw, r, protocol, w); err != nil { // it was answered with its status
		w.let()
	}
}

// subprotocol is the name that a client may offer, and must if it offers a
// token beside it: a browser accepts no answer that chooses none.
const subprotocol = "harness.v1"

// parse reads the query.
func (h *Hub) parse(r *http.Request) (*watcher, harness.SessionID, error) {
	q := r.URL.Query()
	w := &watcher{user: strings.Clone(q.Get("userId"))} // else it would keep the whole request line
	if w.user != "" {
		if err := harness.CheckID("userId", w.user); err != nil {
			return nil, "", err
		}
	}
	if c, ok := harness.CallerOf(r.Context()); ok {
		w.who = &c
	}
	if h.gate != nil {
		var err error
		if w.user, err = h.gate.User(r.Context(), w.user); err != nil {
			return nil, "", err
		}
		if err := h.gate.MayWatch(r.Context(), ""); err != nil {
			return nil, "", err
		}
	}
	for _, n := range []struct {
		name string
		set  func(n uint64)
	}{
		{"since", func(n uint64) { w.since = harness.Seq(n) }},
		{"window", func(n uint64) { w.window = int32(roundWindow(n)) }},
	} {
		if s := q.Get(n.name); s != "" {
			v, err := strconv.ParseUint(s, 10, 53) // a JavaScript number
			if err != nil {
				return nil, "", fmt.Errorf("%s: %q is not a number: %w", n.name, s, harness.ErrInvalid)
			}
			n.set(v)
		}
	}
	w.beats = q.Get("hb") == "1" || strings.Contains(","+q.Get("caps")+",", ",hb,")
	id, err := h.session(r.Context(), q.Get("sessionId"), w.user)
	return w, id, err
}

func roundWindow(n uint64) int {
	if n == 0 {
		return 0
	}
	size := minWindow
	for size < maxWindow && uint64(size) < n {
		size *= 2
	}
	return size
}

// session resolves whom to watch. A session that is named must exist.
func (h *Hub) session(ctx context.Context, name, user string) (harness.SessionID, error) {
	switch {
	case name != "":
		id, err := harness.ParseSessionID(strings.Clone(name))
		if err != nil {
			return "", err
		}
		if h.shown(id) {
			return id, h.mayWatch(ctx, id)
		}
		for _, err := range h.k.List(ctx, harness.Filter{Session: id, Limit: 1}) {
			return id, err
		}
		if id == harness.DefaultSession(user) {
			return id, h.mayBegin(ctx, id)
		}
		return "", fmt.Errorf("session %s: %w", id, harness.ErrNotFound)
	case user != "":
		id := harness.DefaultSession(user)
		return id, h.mayBegin(ctx, id)
	default:
		id := harness.SessionID(h.opts.NewID(harness.SessionPrefix))
		return id, h.mayBegin(ctx, id)
	}
}

func (h *Hub) mayBegin(ctx context.Context, id harness.SessionID) error {
	if h.gate == nil {
		return nil
	}
	return h.gate.MayBegin(ctx, id)
}

func (h *Hub) mayWatch(ctx context.Context, id harness.SessionID) error {
	if h.gate == nil {
		return nil
	}
	return h.gate.MayWatch(ctx, id)
}

// shown reports whether somebody is shown the session, which therefore exists.
func (h *Hub) shown(id harness.SessionID) bool {
	r := h.find(id)
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.exists
}

// Opened is the first word of a connection.
func (h *Hub) Opened(c *socket.Conn) {
	w := c.Tag().(*watcher)
	w.conn = c
	if w.beats {
		h.mu.Lock()
		h.beats[w] = struct{}{}
		h.mu.Unlock()
	}
	id := w.join
	w.join = ""
	h.enter(id, w)
	h.bound(w)
	w.stands()
}

// Closed is its last.
func (h *Hub) Closed(c *socket.Conn, err error) {
	w := c.Tag().(*watcher)
	if e, ok := errors.AsType[*socket.CloseError](err); ok && e.Broken() {
		h.refused(h.asked(h.ctx, w), "websocket frame", fmt.Errorf("%d %s: %w", e.Code, e.Reason, harness.ErrInvalid))
	}
	if errors.Is(err, socket.ErrSlow) {
		h.refused(h.asked(h.ctx, w), "websocket message", fmt.Errorf("the message did not come within %s: %w", h.opts.Socket.MessageFor, harness.ErrInvalid))
	}
	h.mu.Lock()
	delete(h.beats, w)
	h.mu.Unlock()
	if w.ends != nil {
		w.ends.Stop()
	}
	h.leave(w)
	w.let()
}

// Writable lets a watcher that was blocked go on, in a goroutine of its own:
// the socket's must not wait for a room.
func (h *Hub) Writable(c *socket.Conn) {
	h.spawn(func() { h.unblock(c.Tag().(*watcher)) })
}

func (h *Hub) unblock(w *watcher) {
	r := w.locked()
	if r == nil { // on its way to another room, where it is not blocked; or gone
		return
	}
	w.blocked = false
	w.pump()
	wants := w.stale && w.ready()
	if wants {
		r.start()
	}
	r.mu.Unlock()
	if wants {
		r.catchUp() // the feed may be waiting for the session, not for us
	}
}

// Refused answers a message that was not even read.
func (h *Hub) Refused(c *socket.Conn, f socket.Refusal) {
	var err error
	switch {
	case f.Binary:
		err = fmt.Errorf("binary messages are not understood: %w", harness.ErrInvalid)
	case f.Busy:
		err = fmt.Errorf("too many large messages are on their way: %w", harness.ErrUnavailable)
	default:
		err = fmt.Errorf("a message of %d bytes is over the limit of %d: %w", f.Size, maxFrame, harness.ErrTooLarge)
	}
	w := c.Tag().(*watcher)
	h.refuse(h.asked(h.ctx, w), w, "websocket message", "", err)
}

// Message carries out the commands of one message, in order.
func (h *Hub) Message(c *socket.Conn, text []byte) {
	w := c.Tag().(*watcher)
	requests, err := decode(text)
	if err != nil {
		id := ""
		if r, ok := errors.AsType[*refusal](err); ok {
			id = r.ID
		}
		h.refuse(h.asked(h.ctx, w), w, "websocket message", id, err)
		return
	}
	for _, q := range requests {
		ctx := h.asked(h.ctx, w)
		receipt, err := h.do(ctx, w, q)
		switch {
		case err != nil:
			h.refuse(ctx, w, "websocket "+q.Kind, q.ID, err)
		case q.ID != "":
			h.tell(w, appendAck(nil, q.ID, receipt.Seq))
		}
	}
}

func (h *Hub) tell(w *watcher, payload []byte) {
	if r := w.locked(); r != nil {
		defer r.mu.Unlock()
		w.tell(payload)
	}
}

// do carries out one command. The first command of a session that does not
// exist yet makes it; a resume of another session takes the client there.
func (h *Hub) do(ctx context.Context, w *watcher, q request) (harness.Receipt, error) {
	ctx, cancel := context.WithTimeout(ctx, doFor)
	defer cancel()
	r := w.room.Load()
	if r == nil {
		return harness.Receipt{}, harness.ErrUnavailable
	}
	if q.Session != "" && q.Session != r.id {
		if _, err := h.session(ctx, string(q.Session), w.user); err != nil {
			return harness.Receipt{}, err
		}
		h.leave(w)
		w.since = 0 // was about the session it left
		h.enter(q.Session, w)
		w.stands()
		r = w.room.Load()
	}
	receipt, err := h.k.Do(ctx, r.id, harness.By(q.Cmd, w.user))
	if errors.Is(err, harness.ErrNotFound) {
		if err := r.found(ctx, w.user); err != nil {
			return harness.Receipt{}, err
		}
		receipt, err = h.k.Do(ctx, r.id, harness.By(q.Cmd, w.user))
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %s; the command may still take effect: %w", doFor, harness.ErrUnavailable)
	}
	return receipt, err
}
