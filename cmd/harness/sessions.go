package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"harness"
	"harness/archive"
	"harness/store/memory"
)

// verbs of `harness sessions`.
var verbs = map[string]func(ctx context.Context, p *program, args []string) error{
	"ls": list, "show": show, "export": export, "import": importSession, "rm": remove,
}

func sessions(ctx context.Context, p *program, args []string) error {
	if len(args) > 0 {
		if run, ok := verbs[args[0]]; ok {
			return run(ctx, p, args[1:])
		}
	}
	fmt.Fprint(p.stderr, `Look at stored sessions and move them.

Usage:
  harness sessions ls [--status S] [--user U] [--json]   list, newest first
  harness sessions show [--json] SESSION                 print the conversation
  harness sessions export [--out FILE] SESSION           write its log as JSON lines
  harness sessions import FILE                           take such a file in
  harness sessions rm SESSION...                         delete

ls, show and export work beside a running server; import and rm need it stopped.
`)
	if len(args) > 0 && (args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
		return nil
	}
	return usageError
}

func list(ctx context.Context, p *program, args []string) error {
	f := p.flags("sessions ls", "[flags]", "List sessions, newest first.", "harness sessions ls --status awaiting_approval")
	status := f.String("status", "", "only sessions with this `STATUS`")
	user := f.String("user", "", "only sessions of this `USER`")
	limit := f.Int("limit", 0, "at most `N`")
	asJSON := f.Bool("json", false, "one JSON object a line")
	w := f.where()
	if err := f.parse(args, 0, 0); err != nil {
		return err
	}
	st, err := w.open(ctx, true)
	if errors.Is(err, harness.ErrNotFound) { // nobody has made one yet
		st, err = memory.New(), nil
	}
	if err != nil {
		return err
	}
	defer st.Close()
	filter := harness.Filter{User: *user, Limit: *limit}
	if *status != "" {
		filter.Statuses = []harness.Status{harness.Status(*status)}
	}
	enc := json.NewEncoder(p.stdout)
	table := tabwriter.NewWriter(p.stdout, 0, 4, 2, ' ', 0)
	head := func() { fmt.Fprintln(table, "SESSION\tSTATUS\tUSER\tMESSAGES\tEVENTS\tUPDATED\tTITLE") }
	n := 0
	for s, err := range st.List(ctx, filter) {
		if err != nil {
			return err
		}
		if n++; *asJSON {
			if err := enc.Encode(s); err != nil {
				return err
			}
			continue
		}
		if n == 1 {
			head()
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%s\t%s\n", s.Session, s.Status, dash(s.User), s.Messages, s.Seq, s.Updated.Local().Format(time.DateTime), clean(s.Title, 60))
	}
	if n == 0 && !*asJSON {
		fmt.Fprintln(p.stderr, "no sessions")
	}
	return table.Flush()
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// clean is text for one line of a terminal: no control characters, bounded.
func clean(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
	if r := []rune(s); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return s
}

func show(ctx context.Context, p *program, args []string) error {
	f := p.flags("sessions show", "[flags] SESSION", "Print a session's conversation.", "harness sessions show ses_01…")
	asJSON := f.Bool("json", false, "print the state as JSON")
	w := f.where()
	if err := f.parse(args, 1, 1); err != nil {
		return err
	}
	st, err := w.open(ctx, true)
	if err != nil {
		return err
	}
	defer st.Close()
	id, err := harness.ParseSessionID(f.Arg(0))
	if err != nil {
		return err
	}
	state, err := fold(st.Read(ctx, id, 0), 0)
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	return p.print(state, *asJSON)
}

func export(ctx context.Context, p *program, args []string) error {
	f := p.flags("sessions export", "[flags] SESSION", "Write a session's log as JSON lines, sealed with a checksum.",
		"harness sessions export ses_01… > session.jsonl", "harness sessions export ses_01… | jq -r 'select(.type==\"token\").payload.text'")
	out := f.String("out", "-", "`FILE` to write; - is standard output")
	w := f.where()
	if err := f.parse(args, 1, 1); err != nil {
		return err
	}
	st, err := w.open(ctx, true)
	if err != nil {
		return err
	}
	defer st.Close()
	id, err := harness.ParseSessionID(f.Arg(0))
	if err != nil {
		return err
	}
	if *out == "-" {
		return archive.Write(p.stdout, st.Read(ctx, id, 0))
	}
	file, err := os.OpenFile(*out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(archive.Write(file, st.Read(ctx, id, 0)), file.Close()); err != nil {
		return errors.Join(err, os.Remove(*out))
	}
	return nil
}

func importSession(ctx context.Context, p *program, args []string) error {
	f := p.flags("sessions import", "FILE", "Take in a session that was exported. - is standard input.", "harness sessions import session.jsonl")
	w := f.where()
	if err := f.parse(args, 1, 1); err != nil {
		return err
	}
	events, err := readAll(p, f.Arg(0))
	if err != nil {
		return err
	}
	if len(events) == 0 {
		return fmt.Errorf("%s has no events: %w", f.Arg(0), harness.ErrInvalid)
	}
	st, err := w.open(ctx, false)
	if err != nil {
		return err
	}
	defer st.Close()
	id := events[len(events)-1].Session
	known, err := prefix(st.Read(ctx, id, 0), events)
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	if err := take(ctx, st, id, events, known); err != nil {
		return fmt.Errorf("import %s: %w", id, err)
	}
	fmt.Fprintf(p.stdout, "%s: %d events, %d new\n", id, len(events), len(events)-known)
	return nil
}

// prefix is how many of events a log already has. A log that has others is
// ErrExists. So an import that was cut short can be done again.
func prefix(log iter.Seq2[harness.Event, error], events []harness.Event) (int, error) {
	n := 0
	for e, err := range log {
		switch {
		case errors.Is(err, harness.ErrNotFound):
			return 0, nil
		case err != nil:
			return 0, err
		case n == len(events) || !bytes.Equal(e.JSON(), events[n].JSON()):
			return 0, fmt.Errorf("a session of this name has another log: %w", harness.ErrExists)
		}
		n++
	}
	return n, nil
}

// importBatch is how many events become durable together.
const importBatch = 500

// take appends the events that the log does not have yet.
func take(ctx context.Context, st harness.Store, id harness.SessionID, events []harness.Event, known int) error {
	state := new(harness.State)
	for _, e := range events[:known] {
		state.Apply(e)
	}
	for batch := range slices.Chunk(events[known:], importBatch) {
		after := state.Seq
		for _, e := range batch {
			state.Apply(e)
		}
		if err := st.Append(ctx, harness.Commit{Session: id, After: after, Events: batch, Summary: state.Summary()}); err != nil {
			return err
		}
	}
	return nil
}

// readAll reads a whole archive and checks its seal before anything is done
// with it.
func readAll(p *program, path string) ([]harness.Event, error) {
	in := p.stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = io.Reader(file)
	}
	var events []harness.Event
	for e, err := range archive.Read(in) {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		events = append(events, e)
	}
	return events, nil
}

func remove(ctx context.Context, p *program, args []string) error {
	f := p.flags("sessions rm", "SESSION...", "Delete sessions for good. A session with branches is refused.", "harness sessions rm ses_01…")
	w := f.where()
	if err := f.parse(args, 1, -1); err != nil {
		return err
	}
	st, err := w.open(ctx, false)
	if err != nil {
		return err
	}
	defer st.Close()
	remover, ok := st.(harness.Remover)
	if !ok {
		return fmt.Errorf("--store %s: %w", *w.store, harness.ErrUnsupported)
	}
	for _, arg := range f.Args() {
		id, err := harness.ParseSessionID(arg)
		if err == nil {
			err = remover.Remove(ctx, id)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", arg, err)
		}
		fmt.Fprintln(p.stdout, id, "deleted")
	}
	return nil
}
