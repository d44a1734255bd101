package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"harness"
	"harness/archive"
	written "harness/archive/transcript"
)

func importSession(ctx context.Context, p *program, args []string) error {
	f := p.flags("sessions import", "[flags] FILE",
		"Take in a session that was exported; - is standard input. A branch brings the history of its parents along.\nWith --from, take in what another program wrote down: a file, or all files below a directory; --all is where that\nprogram keeps them. What of them is lost is said. Doing it twice, or again after it was interrupted, is harmless.",
		"harness sessions import session.jsonl", "harness sessions export ses_01… | harness sessions import --data ./elsewhere -",
		"harness sessions import --from claude --all", "harness sessions import --from codex ~/.codex/sessions/2026/01/02/rollout-….jsonl")
	from := f.String("from", "", "whose transcripts: `PROGRAM` claude or codex")
	all := f.Bool("all", false, "with --from: every transcript of this user")
	user := f.String("user", "", "with --from: the `USER` whose sessions they are to be")
	cwd := f.String("cwd", "", "with --from: where the sessions are to work (`DIR`), in place of where they did")
	sources := f.secrets()
	w := f.where()
	if err := f.parse(args, 0, 1); err != nil {
		return err
	}
	path := strings.Join(f.args, "")
	foreign, known := transcripts[*from]
	switch {
	case *from == "" && (*all || *user != "" || *cwd != ""):
		return f.mistake("--all, --user and --cwd need --from")
	case *from != "" && !known:
		return f.mistake(fmt.Sprintf("--from %q is not one of %s", *from, names(transcripts)))
	case *all == (path != ""):
		return f.mistake("which file? One is needed, or with --from, --all")
	}
	if !known {
		return p.importArchive(ctx, w, path)
	}
	opts := &written.Options{User: *user}
	if *cwd != "" {
		dir, err := directory(*cwd)
		if err != nil {
			return err
		}
		opts.Directory = dir
	}
	hidden, err := p.hide(ctx, sources)
	if err != nil {
		return err
	}
	opts.Redact = hidden
	files := []string{path}
	if *all || path != "-" {
		if files, err = foreign.find(cmp.Or(path, foreign.home(p.getenv))); err != nil {
			return err
		}
	}
	return p.importTranscripts(ctx, w, foreign, files, opts)
}

func (p *program) importArchive(ctx context.Context, w where, path string) error {
	events, err := readAll(p, path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	st, err := w.open(ctx, false)
	if err != nil {
		return err
	}
	defer st.Close()
	got, err := archive.Import(ctx, st, events)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	fmt.Fprintf(p.stdout, "%s: %d events, %d new\n", got.Session, len(events), got.New)
	return nil
}

// importTranscripts takes files in, one after another. Of several, those without
// a conversation are passed over, and those that are damaged do not stop the
// rest.
func (p *program) importTranscripts(ctx context.Context, w where, from foreign, files []string, opts *written.Options) error {
	var st harness.Store
	bad := 0
	for _, path := range files {
		s, err := p.readTranscript(from, path, opts)
		if err == nil && st == nil { // not before there is something to keep
			if st, err = w.open(ctx, false); err != nil {
				return err
			}
			defer st.Close()
		}
		if err == nil {
			err = p.keep(ctx, st, s)
		}
		switch {
		case err == nil:
		case len(files) == 1 || ctx.Err() != nil:
			return fmt.Errorf("%s: %w", path, err)
		case errors.Is(err, harness.ErrInvalid):
			fmt.Fprintf(p.stderr, "%s: passed over: %v\n", path, err)
		default:
			bad++
			fmt.Fprintf(p.stderr, "%s: %v\n", path, err)
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d transcripts were not taken in: %w", bad, len(files), harness.ErrCorrupt)
	}
	return nil
}

// keep takes a session in and says what became of it.
func (p *program) keep(ctx context.Context, st harness.Store, s *written.Session) error {
	got, err := archive.Import(ctx, st, s.Events)
	if errors.Is(err, harness.ErrExists) {
		held, look := archive.Holds(ctx, st, s.Events)
		if look != nil || !held {
			return errors.Join(err, look)
		}
		fmt.Fprintf(p.stdout, "%s: %d events, 0 new; it has gone on here since\n", s.ID, len(s.Events))
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%s: %d events, %d new%s\n", got.Session, len(s.Events), got.New, loss(s.Lost))
	return nil
}

// loss is what was lost, for a person.
func loss(lost map[string]int) string {
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(lost)) {
		all = append(all, fmt.Sprintf("%d × %s", lost[kind], clean(kind, 60)))
	}
	if len(all) == 0 {
		return "; nothing was lost"
	}
	return "; lost: " + strings.Join(all, ", ")
}

// readAll reads a whole archive and checks its seal before anything is done
// with it.
func readAll(p *program, path string) ([]harness.Event, error) {
	in := p.stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, errors.Unwrap(err)
		}
		defer file.Close()
		in = io.Reader(file)
	}
	var events []harness.Event
	for e, err := range archive.Read(in) {
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}
