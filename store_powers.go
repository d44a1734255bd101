package harness

import (
	"context"
	"iter"
	"time"
)

// The optional powers of a store that several processes share. Such a store is
// the only thing between them: whatever one process tells another goes through
// it. A store with one of these powers passes the part of storetest.Nodes that
// is about it.

// Follower is an optional power of a store: a session's events as they come,
// whichever process appends them.
type Follower interface {
	// Follow yields the events after a position, in order, without a gap and
	// without a repeat: first those that are there, then each soon after it is
	// durable. It ends with ctx, whose error is the last thing it yields; a
	// session without a log, or whose log is removed, ends it with ErrNotFound.
	// However many follow a session in one process, the store reads its new
	// events once for all of them; one that falls behind reads for itself and
	// holds nobody up.
	Follow(ctx context.Context, id SessionID, after Seq) iter.Seq2[Event, error]

	// OnMove calls f once, soon after the log of id no longer ends at seen; 0 is
	// a session without a log. It costs no goroutine, so that many can wait for
	// sessions that sleep. f must not block and may be called before OnMove
	// returns. After stop it is not called any more, unless it is being called.
	OnMove(ctx context.Context, id SessionID, seen Seq, f func()) (stop func())
}

// Bells is an optional power of a store: news for every process that shares it.
type Bells interface {
	// Hang returns a bell that is rung soon after another process has done
	// something about a topic, and now and then for nothing: it is only worth
	// looking. It has room for one ring. away takes it down.
	Hang(about Topic) (bell <-chan struct{}, away func())
}

// Topic is what a bell is about.
type Topic string

// The topics.
const (
	AboutRules   Topic = "rules"   // a rule was made or revoked
	AboutOrphans Topic = "orphans" // an owner has left what it had
)

// Leaser is an optional power of a store: which process runs which session. A
// lease only decides who tries. What fences is the log's end: an owner that is
// taken for dead and is not finds its appends refused with ErrConflict.
//
// An owner is a process, under a name that it never uses again. It lives while
// it beats, whatever number of sessions it has: idle ones cost nothing. Time is
// the store's: no process's clock matters.
type Leaser interface {
	// Join makes owner live for ttl. A name that was used before is ErrExists.
	Join(ctx context.Context, owner string, ttl time.Duration) error

	// Beat makes owner live for another ttl from now. It returns ErrConflict if
	// somebody took it for dead, or if it has left: then it owns nothing any
	// more, stops whatever it runs, and joins again under another name.
	Beat(ctx context.Context, owner string) error

	// Leave ends owner, at once: what it did not release is orphaned.
	Leave(ctx context.Context, owner string) error

	// Claim gives a session to owner if nobody has it or if whoever has it is
	// dead; claiming again what it has returns the same lease. While another
	// one lives that is ErrLocked, and the lease says who. An owner that is not
	// alive is ErrConflict. The session needs no log yet.
	Claim(ctx context.Context, owner string, id SessionID) (Lease, error)

	// Release gives l up. If it is no longer the session's lease, nothing
	// happens.
	Release(ctx context.Context, l Lease) error

	// Orphans yields what is for whoever takes over: the leases whose owners are
	// dead, and sessions with a log that an order waits for and that nobody has,
	// with no owner.
	Orphans(ctx context.Context) iter.Seq2[Lease, error]
}

// Lease says that a session is run by an owner.
type Lease struct {
	Session SessionID
	Owner   string
	Epoch   uint64 // greater with each change of owner, never used twice
}

// Inbox is an optional power of a [Leaser]: orders for a session that another
// process owns.
//
// An order is kept until it is answered. It is given to the session's owner, and
// to the next owner if the first one did not answer; so the receiver makes it
// happen once by the order's key, as the kernel does with a ClientKey. One answer
// stands: that of an owner that has lost its lease is refused.
type Inbox interface {
	// Send leaves an order and waits for its answer. The order is durable before
	// Send waits, and stays if ctx ends. The same session and key again leaves
	// nothing: it waits for the answer of the first, or returns it, for at least
	// a day.
	Send(ctx context.Context, o Order) (answer []byte, err error)

	// Receive yields the orders for the sessions that owner has, each once in a
	// lease, oldest first in each session, until ctx ends: its error is the last
	// thing it yields. One goroutine receives for an owner.
	Receive(ctx context.Context, owner string) iter.Seq2[Order, error]

	// Answer ends an order that was received. It returns ErrConflict if the
	// lease that it was received under is no longer the session's.
	Answer(ctx context.Context, o Order, answer []byte) error
}

// Order is a command for a session's owner, in the form that processes agree on.
type Order struct {
	Session SessionID
	Key     string // names it in its session: the client's key, or one that was made for it
	Body    []byte
	Epoch   uint64 // when received: of the lease it was received under
}

// MaxOrder bounds an order's body and its answer: a prompt and what is around it.
const MaxOrder = 4 << 20
