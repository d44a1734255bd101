package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"

	"harness"
	"harness/archive"
)

// replay folds a log without a server.
func replay(ctx context.Context, p *program, args []string) error {
	f := p.flags("replay", "[flags] SESSION|FILE", "Fold a session's log, or an exported file, and print the state at any point.",
		"harness replay --at 42 ses_01…", "harness replay --json session.jsonl")
	at := f.Uint64("at", 0, "stop at event `SEQ`; 0 is the end")
	asJSON := f.Bool("json", false, "print the state as JSON")
	w := f.where()
	if err := f.parse(args, 1, 1); err != nil {
		return err
	}
	events, closeLog, err := openLog(ctx, w, f.args[0])
	if err != nil {
		return err
	}
	defer closeLog()
	state, err := fold(events, harness.Seq(*at))
	if err != nil {
		return err
	}
	return p.print(state, *asJSON)
}

// openLog reads a file if there is one of that name, else a stored session.
func openLog(ctx context.Context, w where, arg string) (iter.Seq2[harness.Event, error], func(), error) {
	file, err := os.Open(arg)
	if err == nil {
		return archive.Read(file), func() { file.Close() }, nil
	}
	id, bad := harness.ParseSessionID(arg)
	if !errors.Is(err, fs.ErrNotExist) || bad != nil { // it cannot be meant as an id
		return nil, nil, err
	}
	st, err := w.open(ctx, true)
	if err != nil {
		return nil, nil, err
	}
	return st.Read(ctx, id, 0), func() { st.Close() }, nil
}

// fold adds events up to a position; 0 is the end.
func fold(events iter.Seq2[harness.Event, error], at harness.Seq) (*harness.State, error) {
	st := new(harness.State)
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		st.Apply(e)
		if st.Seq == at {
			return st, nil
		}
	}
	switch {
	case st.Seq == 0:
		return nil, harness.ErrNotFound
	case at > st.Seq:
		return nil, fmt.Errorf("the log ends at %d, before %d: %w", st.Seq, at, harness.ErrInvalid)
	}
	return st, nil
}
