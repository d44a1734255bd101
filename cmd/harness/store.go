package main

import (
	"context"
	"errors"
	"fmt"

	"harness"
	"harness/archive"
	"harness/store/postgres"
)

// storeVerbs looks after the place where sessions are.
func storeVerbs(ctx context.Context, p *program, args []string) error {
	return p.choose(ctx, "store", storeHelp, verbs{"migrate": migrateStore, "check": checkStore, "copy": copyStore}, args)
}

const storeHelp = `Look after the place where sessions are kept.

Usage:
  harness store migrate [flags]       bring its tables to this version
  harness store check   [flags]       read all of it, and say what is damaged
  harness store copy    [flags] FROM  copy all of another store into it, and compare

check works beside running servers. migrate may be run while servers of the version before
still work; copy wants nobody to write to either store.
` + "`harness store VERB --help` tells more.\n"

func migrateStore(ctx context.Context, p *program, args []string) error {
	f := p.flags("store migrate", "[flags]", "Bring a store's tables to this version. Servers do so when they start; this is for those who want it done before, or by another role.\n"+
		"Versions only go forward. Servers of the version before go on working.",
		"harness store migrate --store postgres://harness@db.example/harness")
	w := f.where()
	if err := f.parse(args, 0, 0); err != nil {
		return err
	}
	kind, rest := split(*w.store)
	if kind != "postgres" && kind != "postgresql" {
		st, err := w.open(ctx, false) // which brings it up to date
		if err != nil {
			return err
		}
		defer st.Close()
		fmt.Fprintf(p.stdout, "%s is of this version\n", w)
		return nil
	}
	from, to, err := postgres.Migrate(ctx, "postgres:"+rest)
	if err != nil {
		return err
	}
	if from == to {
		fmt.Fprintf(p.stdout, "%s is of version %d\n", w, to)
		return nil
	}
	fmt.Fprintf(p.stdout, "%s was of version %d and is of version %d\n", w, from, to)
	return nil
}

func checkStore(ctx context.Context, p *program, args []string) error {
	f := p.flags("store check", "[flags]", "Read every session from its first event to its last. Checksums must be right, positions without a gap, and rows in lists what the logs add up to.\n"+
		"Then read every artifact, snapshot of files, schedule, webhook and token, in the store or in --data: each must be what was kept.\n"+
		"It exits with 1 if anything is damaged.",
		"harness store check", "harness store check --store postgres://harness@db.example/harness")
	w := f.where()
	if err := f.parse(args, 0, 0); err != nil {
		return err
	}
	st, err := w.open(ctx, true)
	if err != nil {
		return err
	}
	defer st.Close()
	got, err := archive.Check(ctx, st, func(id harness.SessionID, err error) {
		fmt.Fprintf(p.stdout, "%s: %v\n", id, err)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%d sessions, %d events, %d damaged\n", got.Sessions, got.Events, got.Damaged)
	files, err := p.checkFiles(ctx, side{st, *w.store, *w.data, "--data", f.given("data")})
	if err != nil {
		return err
	}
	if got.Damaged+files > 0 {
		return fmt.Errorf("%d sessions and %d files are damaged: %w", got.Damaged, files, harness.ErrCorrupt)
	}
	return nil
}

func copyStore(ctx context.Context, p *program, args []string) error {
	f := p.flags("store copy", "[flags] FROM", "Copy all sessions and rules of the store FROM into another one, and all artifacts, snapshots of files, schedules, webhooks and tokens; then read both and compare them.\n"+
		"FROM is as --store; without a place it is in --data. Doing it twice, or again after it was interrupted, copies the rest.\n"+
		"What is of no session is in PostgreSQL itself, and in the data directory of every other store: --data, or --from-data for FROM. Logins are not copied, nor is the first token of a server.",
		"harness store copy sqlite --store postgres://harness@db.example/harness",
		"harness store copy postgres://harness@db.example/harness --data ./backup",
		"harness store copy jsonl:./project/.harness --store sqlite")
	fromData := f.String("from-data", "", "`DIR` that has what FROM does not have itself, if it is not that of --data")
	w := f.where()
	if err := f.parse(args, 1, 1); err != nil {
		return err
	}
	if *fromData == "" {
		*fromData = *w.data
	}
	if f.args[0] == *w.store && sameDirectory(*fromData, *w.data) {
		return fmt.Errorf("%s is copied to itself: %w", f.args[0], harness.ErrInvalid)
	}
	from, err := where{data: fromData, store: &f.args[0]}.open(ctx, true)
	if err != nil {
		return fmt.Errorf("FROM: %w", err)
	}
	defer from.Close()
	to, err := w.open(ctx, false)
	if err != nil {
		return err
	}
	defer to.Close()
	got, err := archive.Copy(ctx, from, to, func(harness.SessionID, int) {})
	fmt.Fprintf(p.stdout, "%d sessions, %d events (%d new), %d rules\n", got.Sessions, got.Events, got.New, got.Rules)
	if err != nil {
		return err
	}
	if err := p.copyFiles(ctx,
		side{from, f.args[0], *fromData, "--from-data or --data", f.given("data") || f.given("from-data")},
		side{to, *w.store, *w.data, "--data", f.given("data")}); err != nil {
		return err
	}
	if err := archive.Verify(ctx, from, to); err != nil {
		return errors.Join(errors.New("the copy differs"), err)
	}
	fmt.Fprintln(p.stdout, "both were read and are the same")
	return nil
}
