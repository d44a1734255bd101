package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"

	"harness"
	"harness/archive"
	"harness/kernel"
)

// replay travels in time without a server.
func replay(ctx context.Context, p *program, args []string) error {
	f := p.flags("replay", "[flags] SESSION|FILE|DIR...", "Fold a session's log, or an exported file, and print the state at any point; or judge how recorded sessions went.",
		"harness replay --at 42 ses_01…", "harness replay --json session.jsonl", "harness replay --health recordings/")
	at := f.Uint64("at", 0, "stop at event `SEQ`; 0 is the end")
	asJSON := f.Bool("json", false, "print the state as JSON")
	judge := f.Bool("health", false, "print the health of each session as JSON; of folders, that of all recordings in them")
	changes := f.Bool("changes", false, "with --health: print every change on the way")
	w := f.where()
	if err := f.parse(args, 1, -1); err != nil {
		return err
	}
	if *judge {
		return backtest{w, harness.Seq(*at), *changes}.run(ctx, p, f.args)
	}
	if len(f.args) > 1 {
		return f.mistake(fmt.Sprintf("unexpected argument %q", f.args[1]))
	}
	state, err := replayed(ctx, w, f.args[0], harness.Seq(*at))
	if err != nil {
		return err
	}
	return p.print(state, nil, *asJSON)
}

// replayed folds a file if there is one of that name, else finds the state of a
// stored session.
func replayed(ctx context.Context, w where, arg string, at harness.Seq) (*harness.State, error) {
	file, err := os.Open(arg)
	if err == nil {
		defer file.Close()
		return fold(archive.Read(file), at)
	}
	id, bad := harness.ParseSessionID(arg)
	if !errors.Is(err, fs.ErrNotExist) || bad != nil { // it cannot be meant as an id
		return nil, err
	}
	st, err := w.open(ctx, true)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	return travel(ctx, st, id, at)
}

// travel is the state of a stored session at an event, 0 for its end, with its
// whole conversation. It reads the nearest snapshot before it and what follows,
// so it takes as long at any event of any log, but for the messages. If those
// are damaged it folds the log: that has it all, too.
func travel(ctx context.Context, st harness.Store, id harness.SessionID, at harness.Seq) (*harness.State, error) {
	k := kernel.New(st, nil, nil)
	defer k.Close()
	state, err := k.At(ctx, id, at)
	if err != nil {
		return nil, err
	}
	sealed := make([]*harness.Message, 0, state.Count())
	for raw, err := range k.Messages(ctx, id, 0, state.Sealed) {
		m := new(harness.Message)
		if err == nil && json.Unmarshal(raw, m) != nil {
			err = harness.ErrCorrupt
		}
		if errors.Is(err, harness.ErrCorrupt) {
			return fold(st.Read(ctx, id, 0), at)
		}
		if err != nil {
			return nil, err
		}
		sealed = append(sealed, m)
	}
	state.Sealed, state.Messages = 0, append(sealed, state.Messages...)
	return state, nil
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
