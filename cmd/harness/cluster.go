package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"harness"
	"harness/kernel"
	"harness/node"
)

// lease is the flag that says when a node is taken for dead.
func (f *flags) lease() *time.Duration {
	return f.Duration("lease", 10*time.Second, "how long other nodes on a shared store wait for a sign of life before they take over")
}

// cluster is this process among the others on its store. The zero value is alone.
type cluster struct{ *node.Node }

// among makes this process one of several, if the store is for several.
func among(store harness.Store, engine string, lease time.Duration, log *slog.Logger) (cluster, error) {
	st, shared := store.(node.Shared)
	if !shared {
		return cluster{}, nil
	}
	if lease < minLease {
		return cluster{}, fmt.Errorf("--lease %v: less than %v: %w", lease, minLease, harness.ErrInvalid)
	}
	if engine == "runner" {
		return cluster{}, fmt.Errorf("--engine runner: on a store that is shared: a run that outlives its node would be done again by another; use a runner at a URL, which every node can follow: %w", harness.ErrUnsupported)
	}
	return cluster{node.New(st, &node.Options{Lease: lease, Log: log})}, nil
}

// minLease is what a database on another machine and a busy processor leave time
// for.
const minLease = 50 * time.Millisecond

// join sets the kernel's options. An engine that keeps something of its sessions
// has it until another node may run them.
func (c cluster) join(o *kernel.Options, eng harness.Engine) {
	if c.Node == nil {
		return
	}
	o.Cluster = c.Node
	if keeps, ok := eng.(releaser); ok {
		o.Cluster = tidyNode{c.Node, keeps}
	}
}

// releaser is an engine that keeps something of its sessions between turns.
type releaser interface{ Release(harness.SessionID) }

// tidyNode is a node with such an engine.
type tidyNode struct {
	*node.Node
	keeps releaser
}

// Claim is the node's. When another node has the session, or may have it,
// nothing of it is kept here.
func (n tidyNode) Claim(ctx context.Context, id harness.SessionID) (func(), error) {
	release, err := n.Node.Claim(ctx, id)
	if err != nil {
		if harness.AsError(err) == harness.ErrLocked {
			n.keeps.Release(id)
		}
		return nil, err
	}
	return func() {
		n.keeps.Release(id)
		release()
	}, nil
}

// start makes the node alive.
func (c cluster) start(ctx context.Context, k *kernel.Kernel) error {
	if c.Node == nil {
		return nil
	}
	return c.Start(ctx, k)
}

// leave is for after the kernel's end: the others take over.
func (c cluster) leave(log *slog.Logger) {
	if c.Node == nil {
		return
	}
	if err := c.Close(); err != nil {
		log.Warn("the other nodes were not told; they find out", "err", err)
	}
}

// ready reports why this process cannot serve, or nil.
func (c cluster) ready() error {
	if c.Node == nil {
		return nil
	}
	return c.Ready()
}
