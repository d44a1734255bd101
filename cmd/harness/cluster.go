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

// join sets the kernel's options. What an engine keeps of a session between turns
// ends when the session does here, also when another node has it already.
func (c cluster) join(o *kernel.Options, eng harness.Engine) {
	if c.Node == nil {
		return
	}
	o.Cluster = c.Node
	if keeps, ok := eng.(releaser); ok {
		o.Left = keeps.Release
	}
}

// releaser is an engine that keeps something of its sessions between turns.
type releaser interface{ Release(harness.SessionID) }

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
