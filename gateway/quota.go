package gateway

import (
	"context"
	"fmt"
	"time"

	"harness"
)

// What one user may have of a server, whatever the number of its credentials.
// They are far above what people and their programs do, and far below what a
// program that has gone wild does. Admins act for everybody and are not counted.
const (
	MaxSessions   = 10_000   // that exist: some years of a busy person; an index row and a log each
	MaxStored     = 20 << 30 // bytes of all of them: twenty that are full, or years of work
	MaxWebSockets = 256      // open: browsers, editors, and a program that watches many sessions
	MaxStreams    = 256      // open event streams, for the same
	MaxLines      = 64       // open JSON-RPC connections, some 100 KiB each

	commandBurst = 2_000 // commands at once: a program that steers hundreds of sessions begins
	commandEvery = 2 * time.Millisecond
)

// Quotas are the bounds of one user. Those that are zero are the defaults above,
// negative ones are none.
type Quotas struct {
	Sessions     int
	Stored       int64 // bytes
	WebSockets   int
	Streams      int
	Lines        int
	CommandBurst int
	CommandEvery time.Duration
}

func (q Quotas) withDefaults() Quotas {
	for n, def := range map[*int]int{
		&q.Sessions: MaxSessions, &q.WebSockets: MaxWebSockets, &q.Streams: MaxStreams, &q.Lines: MaxLines, &q.CommandBurst: commandBurst,
	} {
		if *n == 0 {
			*n = def
		}
	}
	if q.Stored == 0 {
		q.Stored = MaxStored
	}
	if q.CommandEvery == 0 {
		q.CommandEvery = commandEvery
	}
	return q
}

// counted reports whether what a caller does is counted.
func counted(c harness.Caller) bool { return !Allows(c.Role, ForOther) }

// pace counts a command of the caller, or is ErrTooMany.
func (g *Gate) pace(ctx context.Context, c harness.Caller, a Action, id harness.SessionID) error {
	if !counted(c) || g.quotas.CommandBurst < 0 {
		return nil
	}
	if g.commands.take(time.Now(), c.User) {
		return nil
	}
	err := fmt.Errorf("more than %d commands a second: %w", time.Second/g.quotas.CommandEvery, harness.ErrTooMany)
	g.ledger.put(ctx, Record{Caller: c, Action: a, Session: id, Err: err})
	return err
}

// make is the kernel's Create, for a caller that has room for one more. What is
// there already needs none.
func (g *Gate) make(ctx context.Context, c harness.Caller, n harness.NewSession) (id harness.SessionID, err error) {
	if err := g.pace(ctx, c, Create, n.ID); err != nil {
		return "", err
	}
	if !counted(c) || g.quotas.Sessions < 0 && g.quotas.Stored < 0 {
		if id, err = g.k.Create(ctx, n); err == nil {
			g.census.change(n.User, 1)
		}
		return id, err
	}
	done, err := g.census.take(ctx, n.User)
	switch {
	case err == nil:
		defer func() { done(err == nil) }()
	case n.ID == "":
		return "", g.full(ctx, c, n, err)
	default:
		if _, gone := g.look(ctx, n.ID); gone != nil {
			return "", g.full(ctx, c, n, err)
		}
	}
	return g.k.Create(ctx, n)
}

// full is the refusal of one session more, which the audit has.
func (g *Gate) full(ctx context.Context, c harness.Caller, n harness.NewSession, err error) error {
	if harness.AsError(err) == harness.ErrQuota {
		g.ledger.put(ctx, Record{Caller: c, Action: Create, Session: n.ID, Err: err})
	}
	return err
}

// grows refuses a command that makes a session grow whose user has stored as
// much as one may, with ErrQuota. Turns that run are bounded by their session.
func (g *Gate) grows(ctx context.Context, c harness.Caller, a Action, id harness.SessionID) error {
	if !counted(c) || g.quotas.Stored < 0 || a != Submit && a != Steer && a != Configure {
		return nil
	}
	err := g.census.room(ctx, c.User)
	if harness.AsError(err) == harness.ErrQuota {
		g.ledger.put(ctx, Record{Caller: c, Action: a, Session: id, Err: err})
	}
	return err
}

// count is how many sessions a user has, up to the quota, and what they store.
func (g *Gate) count(ctx context.Context, user string) (n int, bytes int64, err error) {
	for sum, err := range g.k.List(ctx, harness.Filter{User: user, Limit: max(g.quotas.Sessions, 0)}) {
		if err != nil {
			return 0, 0, err
		}
		n++
		bytes += sum.Bytes
	}
	return n, bytes, nil
}

// HoldSocket counts a WebSocket of the caller of ctx until release is called,
// which may be nil, or is ErrTooMany.
func (g *Gate) HoldSocket(ctx context.Context) (release func(), err error) {
	return g.sockets.hold(ctx, "WebSockets", g.quotas.WebSockets)
}

// HoldStream is HoldSocket for event streams.
func (g *Gate) HoldStream(ctx context.Context) (release func(), err error) {
	return g.streams.hold(ctx, "event streams", g.quotas.Streams)
}

// HoldLine is HoldSocket for JSON-RPC connections.
func (g *Gate) HoldLine(ctx context.Context) (release func(), err error) {
	return g.lines.hold(ctx, "JSON-RPC connections", g.quotas.Lines)
}
