package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"harness"
)

// names lists the keys of a table for people.
func names[V any](table map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(table)), ", ")
}

// where are the flags that say which data a subcommand works on.
type where struct{ data, store *string }

func (f *flags) where() where {
	return where{
		data:  f.String("data", dataHome(f.p.getenv), "`DIR` that holds the database"),
		store: f.String("store", "sqlite", "`STORE` of sessions: "+names(stores)+"; STORE:PLACE elsewhere"),
	}
}

// String says where the sessions are, without a password.
func (w where) String() string {
	switch *w.store {
	case "sqlite":
		return "sqlite in " + *w.data
	case "memory":
		return "memory: sessions end with the server"
	}
	if !strings.Contains(*w.store, "://") {
		return *w.store
	}
	u, err := url.Parse(*w.store)
	if err != nil {
		return "a URL that is none"
	}
	return u.Redacted()
}

// threadsHere says where the threads of harness run are, to somebody who looks
// for them among the sessions of a server.
func (w where) threadsHere() string {
	if _, err := os.Stat(filepath.Join(".harness", "threads")); err != nil || *w.store != "sqlite" {
		return ""
	}
	return "harness run keeps its threads in the directory where it ran: add --store jsonl:.harness to see those of this one."
}

// dataHome is harness's place under the XDG data home.
func dataHome(getenv func(string) string) string {
	base := getenv("XDG_DATA_HOME")
	if base == "" {
		home := getenv("HOME")
		if home == "" {
			return "harness-data"
		}
		base = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(base, "harness")
}

// open opens the store for writing, or only to look.
func (w where) open(ctx context.Context, read bool) (harness.Store, error) {
	data, err := filepath.Abs(*w.data)
	if err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	st, err := openStore(ctx, *w.store, place{data: data, read: read})
	if read && errors.Is(err, harness.ErrNotFound) {
		at := data
		if _, rest := split(*w.store); rest != "" {
			at = w.String()
		}
		return nil, harness.ErrNotFound.Saying(strings.TrimSpace("nothing is stored in " + at + " yet\n" + w.threadsHere()))
	}
	return st, err
}
