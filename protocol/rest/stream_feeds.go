package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"harness"
	"harness/internal/socket"
)

// feedOptions are the settings of feeds. The zero value works.
type feedOptions struct {
	Log    *slog.Logger   // default: discard
	Retry  time.Duration  // how long a room waits before it asks a failing store again; 1 s
	Socket socket.Options // of the connections
}

// feeds are all clients of event streams: rooms of streams, one room per
// session.
//
// Replay and live are one: a stream has a place in the log, and is sent what is
// behind it from its room's lane or, if that does not reach back so far, from
// the store. So nothing is missed or told twice, whatever is appended
// meanwhile. A stream that has all there is costs a row.
type feeds struct {
	k       sessions
	opts    feedOptions
	log     *slog.Logger
	srv     *socket.Server
	readers readers
	ctx     context.Context // ends with shutdown
	stop    context.CancelFunc

	mu     sync.Mutex // guards what follows; nothing is waited for under it, so it may be taken under a room's
	rooms  map[harness.SessionID]*room
	leaves map[harness.SessionID]func() // of rooms whose sessions may go on elsewhere
	beats  map[*room]*pulse             // of rooms with streams of health; what a pulse has is guarded by its room

	life   sync.Mutex // guards closed, and wg against a late start
	closed bool
	wg     sync.WaitGroup
}

// newFeeds makes feeds over k. Call shutdown when done with them.
func newFeeds(k sessions, opts feedOptions) (*feeds, error) {
	f := &feeds{k: k, opts: opts, log: opts.Log, rooms: make(map[harness.SessionID]*room), leaves: make(map[harness.SessionID]func()), beats: make(map[*room]*pulse)}
	f.readers.f = f
	if f.opts.Retry == 0 {
		f.opts.Retry = time.Second
	}
	if f.log == nil {
		f.log = slog.New(slog.DiscardHandler)
	}
	srv, err := socket.NewStreams(f, &f.opts.Socket)
	if err != nil {
		return nil, fmt.Errorf("event streams: %w", err)
	}
	f.srv = srv
	f.ctx, f.stop = context.WithCancel(harness.AsServer(context.Background()))
	k.OnWake(f.look)
	return f, nil
}

// shutdown ends all streams and returns when nothing of them runs any more, or
// at the end of ctx.
func (f *feeds) shutdown(ctx context.Context) error {
	defer context.AfterFunc(ctx, f.stop)()
	err := f.srv.Shutdown(ctx)
	f.life.Lock()
	f.closed = true
	f.life.Unlock()
	f.stop()
	f.wg.Wait()
	return err
}

// spawn runs f in a goroutine that shutdown waits for. It does not block.
func (f *feeds) spawn(work func()) {
	f.life.Lock()
	defer f.life.Unlock()
	if !f.closed {
		f.wg.Go(work)
	}
}

// serve answers a request with a stream and takes its connection over. An error
// means that nothing was answered: there is no such session, the cursor is no
// place in it, its user has too many, or the server is shutting down. A seat that
// was taken is given back.
func (f *feeds) serve(rw http.ResponseWriter, r *http.Request, s subscription) (err error) {
	if s.seat == nil && r.Method != http.MethodHead {
		if s.seat, err = f.seat(r.Context()); err != nil {
			return err
		}
	}
	streams := false
	defer func() {
		if !streams && s.seat != nil {
			s.seat.leave()
		}
	}()
	sum, err := f.summary(r.Context(), s.session)
	if err != nil {
		return err
	}
	if err := f.find(r.Context(), &s.from, sum); err != nil {
		return err
	}
	w := &stream{want: s.want, at: s.from.after, rest: appendHello(nil, s.session, s.want), health: s.health}
	caller, known := harness.CallerOf(r.Context())
	if known || s.until != (until{}) {
		w.terms = &terms{until: s.until, caller: caller, seat: s.seat}
	}
	if s.from.wrong != "" {
		w.at, w.rest = 0, appendReset(w.rest, s.from, sum.Seq)
	}
	if r.Method == http.MethodHead {
		rw.Header().Set("Content-Type", mediaEvents)
		return nil
	}
	f.enter(w, s.session, sum)
	if caller.Life.Over() { // who closes its streams may have looked before this one was there
		f.leave(w)
		return errExpired
	}
	if s.health {
		if err := f.greet(r.Context(), w); err != nil {
			f.leave(w)
			return err
		}
	}
	w.expires(caller.Expires)
	if _, err = f.srv.Stream(rw, r, w); err == nil {
		streams = true
		return nil
	}
	f.leave(w)
	if errors.Is(err, socket.ErrClosed) {
		return harness.ErrUnavailable
	}
	return nil // nobody is there to be told
}

// enter puts a stream into the room of its session.
func (f *feeds) enter(w *stream, id harness.SessionID, sum harness.Summary) {
	r := f.open(id, sum)
	defer r.mu.Unlock()
	w.room, w.slot = r, int32(len(r.streams))
	r.streams = append(r.streams, w)
	if w.until() != (until{}) {
		r.enders++
		r.note(sum)
	}
	switch {
	case w.health:
		r.beating(1)
	case r.live != nil:
		r.place(w)
	}
	if len(r.streams) == 1 || r.failed || sum.Seq > r.end && !r.feeding() { // else who woke the session has told
		r.start()
	}
}

// open is the room of a session with its mutex taken; a new one begins where
// the log ends.
func (f *feeds) open(id harness.SessionID, sum harness.Summary) *room {
	for {
		f.mu.Lock()
		r := f.rooms[id]
		if r == nil {
			id = harness.SessionID(strings.Clone(string(id))) // else it would keep the whole request line
			r = &room{f: f, id: id, end: sum.Seq}
			if k, ok := f.k.(attended); ok {
				if leave := k.Attend(id); leave != nil {
					f.leaves[id] = leave
				}
			}
			f.rooms[id] = r
		}
		f.mu.Unlock()
		r.mu.Lock()
		if !r.gone {
			return r
		}
		r.mu.Unlock()
	}
}

// leave takes a stream out of its room. The last one ends the room.
func (f *feeds) leave(w *stream) {
	r := w.room
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.streams) - 1
	last := r.streams[n]
	r.streams[w.slot], last.slot = last, w.slot
	r.streams[n] = nil
	r.streams = r.streams[:n]
	r.displace(w)
	w.ended, w.rest = true, nil
	if w.terms != nil && w.terms.expiry != nil {
		w.terms.expiry.Stop()
	}
	if w.until() != (until{}) {
		r.enders--
	}
	if w.health {
		r.beating(-1)
	}
	switch {
	case n > 0:
	case r.feeding():
		r.cancel() // the feed closes the room
	default:
		r.close()
	}
}

// look has the streams of a session see how it is: it woke, or was removed. It
// does not block.
func (f *feeds) look(id harness.SessionID) {
	if f.room(id) == nil {
		return
	}
	f.spawn(func() { // a room's mutex may be taken for long
		r := f.room(id) // still, or again
		if r == nil {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if !r.gone { // else who comes next looks for itself
			r.start()
		}
	})
}

// room is the room of a session, if it has one.
func (f *feeds) room(id harness.SessionID) *room {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rooms[id]
}

// Opened is a stream's beginning.
func (f *feeds) Opened(c *socket.Conn) {
	w := c.Tag().(*stream)
	w.room.mu.Lock()
	defer w.room.mu.Unlock()
	w.conn = c
	if w.ended { // the session has gone meanwhile
		w.flush()
		w.end()
		return
	}
	w.room.advance(w)
}

// Writable lets a stream that was blocked go on, in a goroutine of its own: the
// socket's must not wait for a room.
func (f *feeds) Writable(c *socket.Conn) {
	f.spawn(func() {
		w := c.Tag().(*stream)
		w.room.mu.Lock()
		defer w.room.mu.Unlock()
		w.blocked = false
		w.room.advance(w)
	})
}

// Closed is its end.
func (f *feeds) Closed(c *socket.Conn, _ error) {
	w := c.Tag().(*stream)
	f.leave(w)
	w.let()
}
