package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"

	"harness"
	"harness/archive/beside"
)

// side is a store of a copy, and the data directory that has what is of no log
// if the store has not.
type side struct {
	store   harness.Store
	address string
	data    string
	flag    string // that says data
	said    bool   // it was given
}

// keep opens where its files are.
func (s side) keep() (k beside.Keep, closes func() error, err error) {
	if d := depotOf(s.store); d != nil {
		return d, func() error { return nil }, nil
	}
	if _, place := split(s.address); place != "" && !s.said { // a server may have had it anywhere
		return nil, nil, fmt.Errorf("%s: say with %s which directory has its artifacts, snapshots, schedules, webhooks and tokens: %w", s.address, s.flag, harness.ErrInvalid)
	}
	f, err := beside.Open(s.data)
	if err != nil {
		return nil, nil, err
	}
	return f, f.Close, nil
}

// given reports whether a flag was said.
func (f *flags) given(name string) (said bool) {
	f.Visit(func(g *flag.Flag) { said = said || g.Name == name })
	return said
}

// copyFiles copies what is of no log, and compares.
func (p *program) copyFiles(ctx context.Context, from, to side) error {
	if depotOf(from.store) == nil && depotOf(to.store) == nil && sameDirectory(from.data, to.data) {
		fmt.Fprintf(p.stdout, "artifacts, snapshots, schedules, webhooks and tokens are in %s for both\n", to.data)
		return nil
	}
	has, closeFrom, err := from.keep()
	if err != nil {
		return err
	}
	defer closeFrom()
	gets, closeTo, err := to.keep()
	if err != nil {
		return err
	}
	defer closeTo()
	got, err := beside.Copy(ctx, has, gets)
	fmt.Fprintf(p.stdout, "%d artifacts, %d snapshots, %d schedules, %d webhooks, %d tokens (%d files new)\n",
		got.Artifacts, got.Snapshots, got.Schedules, got.Webhooks, got.Tokens, got.New)
	if err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, "not copied: logins, so people log in again; the first token, which every data directory has its own of; how far webhooks were told")
	if len(got.Left) > 0 {
		fmt.Fprintf(p.stdout, "not copied, because a data directory has no place for them, %d files:\n", len(got.Left))
		for _, f := range got.Left {
			fmt.Fprintf(p.stdout, "  %s\n", f)
		}
	}
	if err := beside.Verify(ctx, has, gets, got.Left); err != nil {
		return errors.Join(errors.New("the copy differs"), err)
	}
	return nil
}

func sameDirectory(a, b string) bool {
	x, err := filepath.Abs(a)
	y, also := filepath.Abs(b)
	return err == nil && also == nil && x == y
}

// checkFiles reads what is of no log: of the store, or of the data directory if
// that is the store's.
func (p *program) checkFiles(ctx context.Context, s side) (damaged int, err error) {
	if _, place := split(s.address); depotOf(s.store) == nil && (place != "" && !s.said || !there(s.data)) {
		return 0, nil
	}
	k, closes, err := s.keep()
	if err != nil {
		return 0, err
	}
	defer closes()
	got, err := beside.Check(ctx, k, func(place, name string, err error) {
		fmt.Fprintf(p.stdout, "%s of %s: %v\n", name, place, err)
	})
	if err == nil {
		fmt.Fprintf(p.stdout, "%d files of artifacts, snapshots, schedules, webhooks and tokens, %d damaged\n", got.Files, got.Damaged)
	}
	return got.Damaged, err
}
