package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"harness"
	"harness/artifact"
	"harness/gateway"
	"harness/node"
)

// depotOf is where nodes keep what is of no log; nil if the store is for one
// process, which has files of its own.
func depotOf(store harness.Store) harness.Depot {
	if _, shared := store.(node.Shared); !shared {
		return nil
	}
	d, _ := store.(harness.Depot)
	return d
}

// shelfOf is where the artifacts of a store's sessions are: in the store if it
// is for several nodes, else below a data directory, where those of before it was
// may still be.
func shelfOf(store harness.Store, data string) (shelf harness.Shelf, closes func() error, err error) {
	d, dir := depotOf(store), filepath.Join(data, "artifacts")
	if d != nil && (data == "" || !there(dir)) {
		return artifact.In(d, nil), func() error { return nil }, nil
	}
	own, err := artifact.Open(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("--data: %w", err)
	}
	if d != nil {
		return artifact.In(d, own), own.Close, nil
	}
	return own, own.Close, nil
}

// accessOf is where nodes share tokens and logins; nil if the store is for one
// process, or is shared and keeps no files.
func accessOf(store harness.Store) gateway.Shared {
	if _, shared := store.(node.Shared); !shared {
		return nil
	}
	s, _ := store.(gateway.Shared)
	return s
}

// serverName is what other nodes call the one with a data directory.
func serverName(data string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	if abs, err := filepath.Abs(data); err == nil {
		data = abs
	}
	return host + ":" + data
}

// ring is where tokens are: in a data directory, or in a depot that nodes share.
type ring struct {
	data  string
	depot harness.Depot
	store harness.Store
}

// ring opens where the tokens of these flags are.
func (w where) ring(ctx context.Context, read bool) (*ring, error) {
	r := &ring{data: *w.data}
	if kind, _ := split(*w.store); kind != "postgres" && kind != "postgresql" {
		return r, nil
	}
	var err error
	if r.store, err = w.open(ctx, read); err != nil {
		return nil, err
	}
	if r.depot = depotOf(r.store); r.depot == nil {
		r.close()
		return nil, fmt.Errorf("--store: no tokens can be kept there: %w", harness.ErrUnsupported)
	}
	return r, nil
}

func (r *ring) close() {
	if r.store != nil {
		r.store.Close()
	}
}

func (r *ring) add(ctx context.Context, t gateway.Token) (string, error) {
	if r.depot != nil {
		return gateway.AddSharedToken(ctx, r.depot, t)
	}
	if err := os.MkdirAll(r.data, 0o700); err != nil {
		return "", fmt.Errorf("--data: %w", err)
	}
	return gateway.AddToken(r.data, t)
}

func (r *ring) remove(ctx context.Context, name string) error {
	if r.depot != nil {
		return gateway.RemoveSharedToken(ctx, r.depot, name)
	}
	return gateway.RemoveToken(r.data, name)
}

func (r *ring) all(ctx context.Context) ([]gateway.Token, []gateway.Owner, error) {
	if r.depot != nil {
		return gateway.SharedTokens(ctx, r.depot)
	}
	all, err := gateway.NamedTokens(r.data)
	return all, nil, err
}
