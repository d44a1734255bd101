package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"harness"
	"harness/archive"
	"harness/kernel"
	"harness/store/memory"
)

func sessions(ctx context.Context, p *program, args []string) error {
	return p.choose(ctx, "sessions", sessionsHelp, verbs{"ls": list, "start": startSession, "pause": steerSession("pause"), "resume": steerSession("resume"), "cancel": steerSession("cancel"), "show": show, "export": export, "import": importSession, "rm": remove}, args)
}

const sessionsHelp = `Look at stored sessions and move them; have a server's work by themselves.

Usage:
  harness sessions ls     [flags]           list them, newest first
  harness sessions start  [flags] PROMPT    have a session work by itself
  harness sessions pause  [flags] SESSION   hold it
  harness sessions resume [flags] SESSION   let it go on
  harness sessions cancel [flags] SESSION   end what it does
  harness sessions show   [flags] SESSION   print the conversation
  harness sessions export [flags] SESSION   write the log as JSON lines
  harness sessions import [flags] FILE      take such a file in, or a transcript of Claude Code or Codex
  harness sessions rm     [flags] SESSION…  delete for good

ls, show, export and rm work beside a running server; start, pause, resume and cancel need one, import needs it stopped.
` + "`harness sessions VERB --help` tells more.\n"

func list(ctx context.Context, p *program, args []string) error {
	f := p.flags("sessions ls", "[flags]", "List sessions, newest first.",
		"harness sessions ls --status awaiting_approval", "harness sessions ls --json | jq -r .session_id")
	status := f.String("status", "", "only sessions with this `STATUS`, such as idle, running, awaiting_approval or failed")
	user := f.String("user", "", "only sessions of this `USER`")
	limit := f.Int("limit", 0, "at most `N` sessions; 0 is all")
	asJSON := f.Bool("json", false, "one JSON object a line")
	w := f.where()
	if err := f.parse(args, 0, 0); err != nil {
		return err
	}
	filter := harness.Filter{User: *user, Limit: *limit}
	if *status != "" {
		filter.Statuses = []harness.Status{harness.Status(*status)}
	}
	switch {
	case *status != "" && !slices.Contains(harness.Statuses(), filter.Statuses[0]):
		return f.mistake(fmt.Sprintf("--status %q is not one of %s", *status, words(harness.Statuses())))
	case *limit < 0:
		return f.mistake("--limit is negative")
	}
	st, err := w.open(ctx, true)
	if errors.Is(err, harness.ErrNotFound) { // nobody has made one yet
		st, err = memory.New(), nil
	}
	if err != nil {
		return err
	}
	defer st.Close()
	places, err := kernel.Places(ctx, st)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(p.stdout)
	table := tabwriter.NewWriter(p.stdout, 0, 4, 2, ' ', 0)
	n := 0
	for s, err := range st.List(ctx, filter) {
		if err != nil {
			return err
		}
		if n++; *asJSON {
			if err := enc.Encode(listed{s, places[s.Session]}); err != nil {
				return err
			}
			continue
		}
		if n == 1 {
			fmt.Fprintln(table, "SESSION\tSTATUS\tUSER\tMESSAGES\tEVENTS\tUPDATED\tTITLE")
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%s\t%s\n", clean(string(s.Session), harness.MaxID), standing(s, places[s.Session]), cmp.Or(clean(s.User, 24), "-"),
			s.Messages, s.Seq, s.Updated.Local().Format(time.DateTime), clean(s.Title, 60))
	}
	if n == 0 && !*asJSON {
		fmt.Fprintln(p.stderr, strings.TrimSpace("no sessions\n"+w.threadsHere()))
	}
	return table.Flush()
}

// listed is a row of a list, with the session's place in line.
type listed struct {
	harness.Summary
	Place int `json:"queue_position,omitempty"`
}

// standing is a session's status, and what is to be known beside it.
func standing(s harness.Summary, place int) string {
	word := clean(string(s.Status), 20)
	switch {
	case place > 0:
		word += fmt.Sprintf(" (%d)", place)
	case s.Attempts > 1 && !s.Status.Terminal():
		word += fmt.Sprintf(" (%d of %d)", s.Attempts, s.MaxRetries+1)
	}
	return word
}

// words lists a set for a person.
func words[T ~string](set []T) string {
	var b strings.Builder
	for i, w := range set {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(w))
	}
	return b.String()
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
	id, err := harness.ParseSessionID(f.args[0])
	if err != nil {
		return err
	}
	ends := endings{}
	state, err := fold(ends.heard(st.Read(ctx, id, 0)), 0)
	if err != nil {
		return err
	}
	return p.print(state, ends, *asJSON)
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
	id, err := harness.ParseSessionID(f.args[0])
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

func remove(ctx context.Context, p *program, args []string) error {
	f := p.flags("sessions rm", "[flags] SESSION…", "Delete sessions for good. A session with branches is refused.",
		"harness sessions rm ses_01…", "harness sessions ls --user me --json | jq -r .session_id | xargs harness sessions rm")
	w := f.where()
	if err := f.parse(args, 1, -1); err != nil {
		return err
	}
	var ids []harness.SessionID
	for _, arg := range f.args {
		id, err := harness.ParseSessionID(arg)
		if err != nil {
			return fmt.Errorf("%q: %w", arg, err)
		}
		ids = append(ids, id)
	}
	look, err := w.open(ctx, true) // so that no database is made only to find nothing in it
	if err != nil {
		return err
	}
	look.Close()
	st, err := w.open(ctx, false)
	if errors.Is(err, harness.ErrLocked) {
		if r, there := serverOf(*w.data); there {
			return p.removeServed(ctx, r, ids)
		}
	}
	if err != nil {
		return err
	}
	defer st.Close()
	remover, ok := st.(harness.Remover)
	if !ok {
		return fmt.Errorf("--store %s: %w", *w.store, harness.ErrUnsupported)
	}
	for _, id := range ids {
		if err := remover.Remove(ctx, id); err != nil {
			return err
		}
		fmt.Fprintln(p.stdout, id, "deleted")
	}
	return nil
}

// removeServed has a running server delete sessions.
func (p *program) removeServed(ctx context.Context, r remote, ids []harness.SessionID) error {
	for _, id := range ids {
		if err := r.ask(ctx, "DELETE", "/sessions/"+url.PathEscape(string(id)), nil); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		fmt.Fprintln(p.stdout, id, "deleted")
	}
	return nil
}
