package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"harness"
	"harness/internal/mint"
)

// Shared is the powers of a store that several processes share.
type Shared interface {
	harness.Follower
	harness.Leaser
	harness.Inbox
	harness.Bells
}

// sessions is the kernel of this process.
type sessions interface {
	DoHere(ctx context.Context, id harness.SessionID, cmd harness.Command) (harness.Receipt, error)
	RemoveHere(ctx context.Context, id harness.SessionID) error
	Adopt(ctx context.Context, id harness.SessionID) error
	StepDown()
	Relearn(ctx context.Context) error
}

// Options are a node's settings. The zero value works.
type Options struct {
	Log *slog.Logger // default: discard

	// Lease is how long the others wait for a sign of life before they take over.
	// Default 10 s: a restart of the database is shorter, and so is the patience
	// of whoever waits for a session.
	Lease time.Duration
}

// Node is one process of a cluster. It is the kernel's [kernel.Cluster].
type Node struct {
	store Shared
	lease time.Duration
	log   *slog.Logger
	k     sessions // set by Start

	wg   sync.WaitGroup
	life context.Context // ends with Close
	end  context.CancelFunc
	late chan struct{} // size 1: the store says that we are dead

	mu    sync.Mutex    // guards what follows
	owner string        // empty while we have no name
	up    chan struct{} // closed while we have one
	good  time.Time     // when the last sign of life that arrived was given
}

// New makes a node that is not alive yet.
func New(store Shared, opts *Options) *Node {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	n := &Node{store: store, lease: cmp.Or(o.Lease, 10*time.Second), log: o.Log, late: make(chan struct{}, 1), up: make(chan struct{})}
	n.life, n.end = context.WithCancel(context.Background())
	return n
}

// Start joins the others, or says why it cannot. From then on what they leave is
// taken over by k, until Close.
func (n *Node) Start(ctx context.Context, k sessions) error {
	n.k = k
	if err := n.join(ctx); err != nil {
		return err
	}
	n.wg.Go(n.live)
	return nil
}

// Close leaves the others, which take over what this node did not release. The
// kernel is closed before, and the store after it.
func (n *Node) Close() error {
	n.end()
	n.wg.Wait()
	owner := n.name()
	if owner == "" {
		return nil
	}
	n.lose()
	ctx, cancel := context.WithTimeout(context.Background(), n.lease)
	defer cancel()
	return n.store.Leave(ctx, owner)
}

// Ready reports why this node cannot serve, or nil.
func (n *Node) Ready() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.owner == "" || time.Since(n.good) > n.lease/2 {
		return fmt.Errorf("no sign of life reached the database: %w", harness.ErrStorage)
	}
	return nil
}

// name is who this node is at the moment; empty while it is nobody.
func (n *Node) name() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.owner
}

// leastPatience is for a database that is busy with others who join.
const leastPatience = 5 * time.Second

// join makes this node alive, under a name that nobody had.
func (n *Node) join(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, max(n.lease, leastPatience))
	defer cancel()
	owner, now := mint.ID("nod_"), time.Now()
	if err := n.store.Join(ctx, owner, n.lease); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.owner, n.good = owner, now
	close(n.up)
	return nil
}

// lose says that this node is nobody any more.
func (n *Node) lose() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.owner, n.up = "", make(chan struct{})
}

// alive is who this node is, as soon as it is somebody: after it was taken for
// dead that takes a moment, and without a database for ever. It waits for a lease
// at most.
func (n *Node) alive(ctx context.Context) (owner string, err error) {
	late := time.NewTimer(n.lease)
	defer late.Stop()
	for {
		n.mu.Lock()
		owner, up := n.owner, n.up
		n.mu.Unlock()
		if owner != "" {
			return owner, nil
		}
		select {
		case <-up:
		case <-late.C:
			return "", fmt.Errorf("this node is not alive: %w", harness.ErrStorage)
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-n.life.Done():
			return "", harness.ErrUnavailable
		}
	}
}

// live beats until Close. Each time the others may take this node for dead it
// ends what it runs and comes back under another name.
func (n *Node) live() {
	for n.life.Err() == nil {
		if owner := n.name(); owner != "" {
			n.serve(owner)
		}
		if n.life.Err() != nil {
			return
		}
		if err := n.join(n.life); err != nil && n.life.Err() == nil {
			n.log.Warn("not among the nodes, trying again", "err", err)
			n.pause(n.lease / 8)
		}
	}
}

// serve is one life under a name: it ends when the life does.
func (n *Node) serve(owner string) {
	ctx, end := context.WithCancel(n.life)
	var work sync.WaitGroup
	work.Go(func() { n.receive(ctx, owner) })
	work.Go(func() { n.adopt(ctx) })
	work.Go(func() { n.relearn(ctx) })
	err := n.beat(owner)
	if err != nil {
		n.log.Error("taken for dead: ending what runs here", "node", owner, "err", err)
		n.lose()
		n.k.StepDown()
	}
	end()
	work.Wait()
	if err != nil { // so that nobody waits for what is over
		ctx, cancel := context.WithTimeout(n.life, n.lease/2)
		defer cancel()
		n.store.Leave(ctx, owner)
	}
}

// beat gives signs of life, four in a lease. It returns nil at Close, and an
// error when one was refused, or when none has arrived for three quarters of a
// lease: whatever keeps it.
func (n *Node) beat(owner string) error {
	every := time.NewTicker(n.lease / 4)
	defer every.Stop()
	silence := time.NewTimer(n.lease * 3 / 4)
	defer silence.Stop()
	beats := make(chan sign, 1) // at most one is under way
	under := false
	var last error
	for {
		select {
		case <-every.C:
		case <-n.late:
		case s := <-beats:
			under = false
			switch {
			case s.err == nil:
				n.mu.Lock()
				n.good = s.given
				n.mu.Unlock()
				silence.Reset(n.lease*3/4 - time.Since(s.given))
			case n.life.Err() != nil:
				return nil
			case errors.Is(s.err, harness.ErrConflict):
				return s.err
			default:
				last = s.err
				n.log.Warn("no sign of life", "node", owner, "err", s.err)
			}
			continue
		case <-silence.C:
			return fmt.Errorf("no sign of life for three quarters of a lease: %w", errors.Join(last, harness.ErrStorage))
		case <-n.life.Done():
			return nil
		}
		if !under {
			under = true
			n.wg.Go(func() { beats <- n.sign(owner) })
		}
	}
}

// sign is what became of a sign of life.
type sign struct {
	given time.Time
	err   error
}

func (n *Node) sign(owner string) sign {
	given := time.Now()
	ctx, cancel := context.WithTimeout(n.life, n.lease/2)
	defer cancel()
	return sign{given, n.store.Beat(ctx, owner)}
}

// pause waits, and not at all once this node is closed.
func (n *Node) pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-n.life.Done():
	}
}
