package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"harness"
	"harness/archive"
)

func importSession(ctx context.Context, p *program, args []string) error {
	f := p.flags("sessions import", "[flags] FILE",
		"Take in a session that was exported; - is standard input. A branch brings the history of its parents along.\nDoing it twice, or again after it was interrupted, is harmless.",
		"harness sessions import session.jsonl", "harness sessions export ses_01… | harness sessions import --data ./elsewhere -")
	w := f.where()
	if err := f.parse(args, 1, 1); err != nil {
		return err
	}
	events, err := readAll(p, f.args[0])
	if err != nil {
		return fmt.Errorf("%s: %w", f.args[0], err)
	}
	st, err := w.open(ctx, false)
	if err != nil {
		return err
	}
	defer st.Close()
	got, err := archive.Import(ctx, st, events)
	if err != nil {
		return fmt.Errorf("%s: %w", f.args[0], err)
	}
	fmt.Fprintf(p.stdout, "%s: %d events, %d new\n", got.Session, len(events), got.New)
	return nil
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
