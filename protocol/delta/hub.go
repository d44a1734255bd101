package delta

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"time"

	"harness"
	"harness/internal/mint"
	"harness/internal/socket"
)

// sessions is what this protocol needs of the server.
type sessions interface {
	Create(ctx context.Context, n harness.NewSession) (harness.SessionID, error)
	Do(ctx context.Context, id harness.SessionID, cmd harness.Command) (harness.Receipt, error)
	List(ctx context.Context, f harness.Filter) iter.Seq2[harness.Summary, error]
	At(ctx context.Context, id harness.SessionID, seq harness.Seq) (*harness.State, error)
	Messages(ctx context.Context, id harness.SessionID, from, to int) iter.Seq2[[]byte, error]
	WatchAwake(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Update, error]
	OnWake(f func(harness.SessionID))
	OnShow(f func(harness.SessionID, []harness.Event))
	OnSend(f func(harness.SessionID, []harness.Event))
}

// attended is a server whose sessions may go on elsewhere: it is told which of
// them have watchers here, and nil says that it need not be.
type attended interface {
	Attend(id harness.SessionID) (leave func())
}

// gate is a server that tells callers apart.
type gate interface {
	// User is the user that the caller works for, if it may be the one that a
	// request names.
	User(ctx context.Context, named string) (string, error)
	MayWatch(ctx context.Context, id harness.SessionID) error
	// MayBegin is MayWatch for a session that need not be there yet.
	MayBegin(ctx context.Context, id harness.SessionID) error
}

// Options are the hub's settings. The zero value works.
type Options struct {
	Log *slog.Logger // default: discard

	// Window is the shortest time between two frames of streamed text alone.
	// Default 16 ms, a frame of a 60 Hz screen; negative for none.
	Window time.Duration
	// Beat is how often a client that asked for it hears that the line is
	// alive. Default 10 s.
	Beat time.Duration
	// Retry is how long a room waits before it asks a failing store again.
	// Default 1 s.
	Retry time.Duration
	// NewID mints session ids; for tests that need the same ones every time.
	NewID func(prefix string) string
	// Socket are the settings of the connections.
	Socket socket.Options
}

// Hub holds every client of this protocol: rooms of watchers, one room per
// session. It is an http.Handler for GET /ws.
type Hub struct {
	k       sessions
	gate    gate            // nil: everybody may everything
	witness harness.Witness // nil: nobody wants to know
	opts    Options
	log     *slog.Logger
	srv     *socket.Server
	ctx     context.Context // ends with Shutdown
	stop    context.CancelFunc

	mu    sync.Mutex // guards rooms and beats; nothing is waited for under it, so it may be taken under a room's
	rooms map[harness.SessionID]*room
	beats map[*watcher]struct{}

	life   sync.Mutex // guards closed, and wg against a late start
	closed bool
	wg     sync.WaitGroup
}

// New makes a hub over k. Call Shutdown when done with it.
func New(k sessions, opts *Options) (*Hub, error) {
	h := &Hub{k: k, rooms: make(map[harness.SessionID]*room), beats: make(map[*watcher]struct{})}
	if opts != nil {
		h.opts = *opts
	}
	if h.opts.Window == 0 {
		h.opts.Window = 16 * time.Millisecond
	}
	if h.opts.Beat == 0 {
		h.opts.Beat = 10 * time.Second
	}
	if h.opts.Retry == 0 {
		h.opts.Retry = time.Second
	}
	if h.opts.NewID == nil {
		h.opts.NewID = mint.ID
	}
	h.log = h.opts.Log
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	h.opts.Socket.MaxMessage = maxFrame
	if h.opts.Socket.MessageFor == 0 {
		h.opts.Socket.MessageFor = messageFor
	}
	srv, err := socket.New(h, &h.opts.Socket)
	if err != nil {
		return nil, fmt.Errorf("websocket server: %w", err)
	}
	h.srv = srv
	h.gate, _ = k.(gate)
	h.witness, _ = k.(harness.Witness)
	h.ctx, h.stop = context.WithCancel(harness.AsServer(context.Background()))
	k.OnWake(h.woke)
	k.OnShow(h.showed)
	k.OnSend(h.sent)
	h.wg.Go(h.beat)
	return h, nil
}

// Clients is how many connections are open.
func (h *Hub) Clients() int { return h.srv.Len() }

// Shutdown closes all connections with 1001 and returns when nothing of the
// hub runs any more, or at the end of ctx.
func (h *Hub) Shutdown(ctx context.Context) error {
	defer context.AfterFunc(ctx, h.stop)() // commands that still wait are not waited for longer
	err := h.srv.Shutdown(ctx)
	h.life.Lock()
	h.closed = true
	h.life.Unlock()
	h.stop()
	h.wg.Wait()
	return err
}

// spawn runs f in a goroutine that Shutdown waits for. It does not block.
func (h *Hub) spawn(f func()) {
	h.life.Lock()
	defer h.life.Unlock()
	if !h.closed {
		h.wg.Go(f)
	}
}

// enter puts a watcher into the room of a session and sees to it that it is
// shown the state.
func (h *Hub) enter(id harness.SessionID, w *watcher) {
	r := h.open(id, w)
	w.room.Store(r)
	w.slot = int32(len(r.watchers))
	r.watchers = append(r.watchers, w)
	w.lane, w.stale, w.blocked = nil, true, false // a socket that is full says so again
	r.start()
	r.mu.Unlock()
	r.catchUp() // the feed may be waiting for the session, not for us
}

// open is the room of a session with its mutex taken; a new one begins where
// its first watcher says it is.
func (h *Hub) open(id harness.SessionID, w *watcher) *room {
	for {
		h.mu.Lock()
		r := h.rooms[id]
		if r == nil {
			r = &room{hub: h, id: id}
			if k, ok := h.k.(attended); ok {
				r.leave = k.Attend(id)
			}
			if w.window == 0 { // an awake session may still know what came after it
				r.seq, r.woken = w.since, true
			}
			h.rooms[id] = r
		}
		h.mu.Unlock()
		r.mu.Lock()
		if !r.gone {
			return r
		}
		r.mu.Unlock()
	}
}

// leave takes a watcher out of its room. The last one ends the room.
func (h *Hub) leave(w *watcher) {
	r := w.locked()
	if r == nil {
		return
	}
	defer r.mu.Unlock()
	last := r.watchers[len(r.watchers)-1]
	r.watchers[w.slot], last.slot = last, w.slot
	r.watchers[len(r.watchers)-1] = nil
	r.watchers = r.watchers[:len(r.watchers)-1]
	r.displace(w)
	w.room.Store(nil)
	switch {
	case len(r.watchers) > 0:
	case r.feeding:
		r.cancel() // the feed closes the room
	default:
		r.close()
	}
}

// find is the room of a session, if it has one.
func (h *Hub) find(id harness.SessionID) *room {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rooms[id]
}

// woke hears from the kernel that a session is awake. It does not block.
func (h *Hub) woke(id harness.SessionID) {
	r := h.find(id)
	switch {
	case r == nil:
	case r.mu.TryLock():
		r.wake()
	default:
		h.spawn(func() { // it may be taken for long
			if r := h.find(id); r != nil { // still, or again
				r.mu.Lock()
				r.wake()
			}
		})
	}
}

// beat tells clients that asked for it that the line is alive: pages cannot
// see WebSocket pings.
func (h *Hub) beat() {
	tick := time.NewTicker(h.opts.Beat)
	defer tick.Stop()
	for {
		select {
		case <-h.ctx.Done():
			return
		case now := <-tick.C:
			h.mu.Lock()
			var all []*watcher
			for w := range h.beats {
				all = append(all, w)
			}
			h.mu.Unlock()
			for _, w := range all {
				if r := w.locked(); r != nil {
					if w.ready() && !w.stale && !w.behind() { // else what is on its way tells the same
						w.tell(appendHeartbeat(nil, w.at(r), now))
					}
					r.mu.Unlock()
				}
			}
		}
	}
}
