package socket

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A Sender is what the owner of one-way streams does. Calls for one connection
// never overlap.
type Sender interface {
	// Opened is the first call, from the goroutine of Upgrade or Stream and
	// before it returns. The peer's first message is read after it.
	Opened(c *Conn)
	// Writable tells that the socket takes bytes again after a short Write. It
	// must not block: other connections wait for it.
	Writable(c *Conn)
	// Closed is the last call. err is a *CloseError if one side sent a close
	// frame or broke the protocol, or this side called Close; ErrDead,
	// ErrStalled, ErrSlow, or the socket's error.
	Closed(c *Conn, err error)
}

// A Handler is what the owner of WebSockets does. Writable may run beside
// Message and Refused.
type Handler interface {
	Sender
	// Message takes one whole text message. The bytes are valid until it
	// returns, and the connection reads nothing more until then. It may block.
	Message(c *Conn, text []byte)
	// Refused tells that a message was skipped; the connection goes on.
	Refused(c *Conn, r Refusal)
}

// A Refusal says why a message was not delivered: it was binary, or the server
// was busy with too many incomplete messages (sending it again may help), or
// else its Size was over Options.MaxMessage.
type Refusal struct {
	Size   int64
	Binary bool
	Busy   bool
}

// Options of a Server. The zero value works; a negative duration switches the
// thing off.
type Options struct {
	MaxMessage int64         // larger messages are refused; 1 MiB
	MaxSkip    int64         // larger messages are not even skipped: close 1009; 64 MiB
	MaxPartial int64         // bytes of incomplete messages, all connections together; 256 MiB
	PingAfter  time.Duration // silence after which a ping is sent; 2 minutes, of a stream 15 seconds
	DeadAfter  time.Duration // time to answer it; 30 seconds; streams are not asked for an answer
	StallAfter time.Duration // time without write progress: close; 30 seconds
	MessageFor time.Duration // time for a message, or a control frame, from its first byte to its last: close 1008; 30 seconds
	NoPark     bool          // hold every connection with a goroutine
}

func (o *Options) withDefaults(d *dialect) Options {
	var r Options
	if o != nil {
		r = *o
	}
	orDefault(&r.MaxMessage, 1<<20)
	orDefault(&r.MaxSkip, 64<<20)
	orDefault(&r.MaxPartial, 256<<20)
	orDefault(&r.PingAfter, d.pingAfter)
	orDefault(&r.DeadAfter, 30*time.Second)
	orDefault(&r.StallAfter, 30*time.Second)
	orDefault(&r.MessageFor, 30*time.Second)
	return r
}

func orDefault[T ~int64](v *T, def T) {
	if *v == 0 {
		*v = def
	}
}

// A Server holds connections of one kind for one owner.
type Server struct {
	*dialect
	owner   Sender
	handler Handler // nil of a server of streams
	opts    Options
	start   time.Time
	timing  timing
	poller  *poller // nil where nothing can be parked

	wg      sync.WaitGroup // every goroutine of the server
	stop    chan struct{}  // closed: the sweep ends
	parsers sync.Pool
	buffers sync.Pool
	opened  atomic.Uint32

	mu       sync.Mutex // guards the fields below; taken after a Conn's mu, never before
	rows     []*Conn
	free     []uint32 // slots of rows that are nil
	live     int
	draining bool
	drained  chan struct{} // closed when draining and no row is left

	queueMu sync.Mutex // guards the fields below; taken after a Conn's mu, never before
	queue   []*Conn
	first   int // of the queue
	workers int
}

// New starts a server of WebSockets: one goroutine that waits for all sockets
// and one that keeps time for all of them.
func New(h Handler, opts *Options) (*Server, error) { return start(&frames, h, h, opts) }

// NewStreams starts a server of one-way streams, likewise.
func NewStreams(o Sender, opts *Options) (*Server, error) { return start(&events, o, nil, opts) }

func start(d *dialect, o Sender, h Handler, opts *Options) (*Server, error) {
	s := &Server{
		dialect: d, owner: o, handler: h, opts: opts.withDefaults(d), start: time.Now(),
		stop: make(chan struct{}), drained: make(chan struct{}),
	}
	s.timing = newTiming(s.opts)
	partial := newBudget(s.opts.MaxPartial)
	s.parsers.New = func() any {
		return &parser{limit: s.opts.MaxMessage, skip: s.opts.MaxSkip, budget: partial}
	}
	s.buffers.New = func() any { return new([readSize]byte) }
	if !s.opts.NoPark {
		p, err := newPoller()
		if err != nil {
			return nil, err
		}
		if s.poller = p; p != nil {
			s.wg.Go(func() { p.run(s) })
		}
	}
	s.wg.Go(s.keepTime)
	return s, nil
}

// Len is the number of connections, those on their way out included.
func (s *Server) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}

// Shutdown refuses new connections, ends all others (WebSockets with 1001) and
// returns when every Closed call and every goroutine of the server has ended.
// At the end of ctx it stops waiting for peers and returns ctx's error, but
// calls of the owner that still run are always waited for. It is called once.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.draining = true
	if s.live == 0 {
		close(s.drained)
	}
	s.mu.Unlock()
	s.each(func(c *Conn) { c.Close(codeGoingAway, "server is shutting down") })

	var err error
	select {
	case <-s.drained:
	case <-ctx.Done():
		err = context.Cause(ctx)
		s.each(func(c *Conn) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.release()
		})
		<-s.drained
	}
	close(s.stop)
	if s.poller != nil {
		s.poller.close()
	}
	s.wg.Wait()
	return err
}

// admit gives c a row, or says that the server is shutting down.
func (s *Server) admit(c *Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return false
	}
	s.live++
	s.opened.Add(1)
	if n := len(s.free); n > 0 {
		c.slot = s.free[n-1]
		s.free = s.free[:n-1]
		s.rows[c.slot] = c
		return true
	}
	c.slot = uint32(len(s.rows))
	s.rows = append(s.rows, c)
	return true
}

func (s *Server) isDraining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// forget takes c's row away, once.
func (s *Server) forget(c *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows[c.slot] != c {
		return
	}
	s.rows[c.slot] = nil
	s.free = append(s.free, c.slot)
	s.live--
	if s.draining && s.live == 0 {
		close(s.drained)
	}
}

func (s *Server) row(slot int32) *Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rows[slot]
}

// each calls f for every row without holding a lock.
func (s *Server) each(f func(*Conn)) {
	var part [256]*Conn
	for next := 0; ; {
		s.mu.Lock()
		n := copy(part[:], s.rows[next:])
		s.mu.Unlock()
		if n == 0 {
			return
		}
		next += n
		for _, c := range part[:n] {
			if c != nil {
				f(c)
			}
		}
	}
}
