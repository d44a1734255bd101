package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"harness"
)

// Claim makes a session this node's, until release is called.
func (n *Node) Claim(ctx context.Context, id harness.SessionID) (release func(), err error) {
	owner, err := n.alive(ctx)
	if err != nil {
		return nil, err
	}
	lease, err := n.store.Claim(ctx, owner, id)
	if errors.Is(err, harness.ErrConflict) {
		select {
		case n.late <- struct{}{}:
		default:
		}
		return nil, fmt.Errorf("this node was taken for dead: %w", harness.ErrStorage)
	}
	if err != nil {
		return nil, err
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), n.lease)
		defer cancel()
		if err := n.store.Release(ctx, lease); err != nil { // it is released with this node, or used again
			n.log.Warn("session not released", "session", id, "err", err)
		}
	}, nil
}

// adoptAtOnce is how many sessions are taken over at the same time: each loads
// its state.
const adoptAtOnce = 16

// adopt takes over what others leave, until ctx ends: twice in a lease, and at
// once when somebody says so.
func (n *Node) adopt(ctx context.Context) {
	left, away := n.store.Hang(harness.AboutOrphans)
	defer away()
	every := time.NewTicker(n.lease / 2)
	defer every.Stop()
	for {
		n.adoptAll(ctx)
		select {
		case <-left:
		case <-every.C:
		case <-ctx.Done():
			return
		}
	}
}

func (n *Node) adoptAll(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	atOnce := make(chan struct{}, adoptAtOnce)
	for l, err := range n.store.Orphans(ctx) {
		if err != nil {
			if ctx.Err() == nil {
				n.log.Warn("what others left is not known", "err", err)
				n.pause(n.lease / 8)
			}
			return
		}
		atOnce <- struct{}{}
		wg.Go(func() {
			defer func() { <-atOnce }()
			switch err := n.k.Adopt(ctx, l.Session); {
			case err == nil:
				n.log.Info("session taken over", "session", l.Session, "from", l.Owner)
			case ctx.Err() != nil, passes(err), errors.Is(err, harness.ErrNotFound):
			default:
				n.log.Error("session not taken over", "session", l.Session, "from", l.Owner, "err", err)
			}
		})
	}
}

// passes reports whether err is about who runs a session, or the way to the
// store, and not about the command.
func passes(err error) bool {
	switch harness.AsError(err) {
	case harness.ErrLocked, harness.ErrConflict, harness.ErrStorage, harness.ErrUnavailable:
		return true
	}
	return false
}

// relearn reads the rules again whenever others may have changed them.
func (n *Node) relearn(ctx context.Context) {
	changed, away := n.store.Hang(harness.AboutRules)
	defer away()
	for {
		if err := n.k.Relearn(ctx); err != nil && ctx.Err() == nil {
			n.log.Warn("rules of others not read", "err", err)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
