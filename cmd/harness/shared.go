package main

import (
	"fmt"
	"path/filepath"

	"harness"
	"harness/artifact"
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
// is for several nodes, else below a data directory.
func shelfOf(store harness.Store, data string) (shelf harness.Shelf, closes func() error, err error) {
	if d := depotOf(store); d != nil {
		return artifact.In(d), func() error { return nil }, nil
	}
	own, err := artifact.Open(filepath.Join(data, "artifacts"))
	if err != nil {
		return nil, nil, fmt.Errorf("--data: %w", err)
	}
	return own, own.Close, nil
}
