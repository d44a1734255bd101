package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"harness"
	"harness/archive"
	"harness/health"
)

// backtest is what `harness replay --health` is asked for.
type backtest struct {
	w       where
	at      harness.Seq
	changes bool // every snapshot on the way, not only the last
}

// run judges recorded sessions, a line for each snapshot. The same recordings
// give the same lines, byte for byte.
func (b backtest) run(ctx context.Context, p *program, args []string) error {
	var store harness.Store
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch id, bad := harness.ParseSessionID(arg); {
		case err == nil && info.IsDir():
			err = b.folder(p, arg)
		case err == nil:
			err = b.file(p, arg)
		case errors.Is(err, fs.ErrNotExist) && bad == nil:
			if store == nil {
				if store, err = b.w.open(ctx, true); err != nil {
					return err
				}
				defer store.Close()
			}
			err = b.judge(p, store.Read(ctx, id, 0))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", arg, err)
		}
	}
	return nil
}

// folder judges the recordings in a folder and those below, by name.
func (b backtest) folder(p *program, dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".jsonl") {
			return err
		}
		if err := b.file(p, path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	})
}

// threadLog is the name of a thread's log, which goes on: it has no seal.
const threadLog = "events.jsonl"

func (b backtest) file(p *program, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if filepath.Base(path) == threadLog {
		return b.judge(p, recorded(f))
	}
	return b.judge(p, archive.Read(f))
}

// recorded yields the events of a log that has one a line. A last line that was not
// finished is not there yet.
func recorded(r io.Reader) iter.Seq2[harness.Event, error] {
	return func(yield func(harness.Event, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		for {
			line, err := in.ReadBytes('\n')
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(harness.Event{}, err)
				return
			}
			e, err := harness.DecodeEvent(bytes.TrimSpace(line))
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// judge prints what the events come to. What a branch has of its parents is told
// of them.
func (b backtest) judge(p *program, events iter.Seq2[harness.Event, error]) error {
	fold := health.New(nil)
	var said []byte
	tell := func() {
		s := fold.Snapshot()
		if now := s.Essence(); !bytes.Equal(now, said) {
			said = now
			fmt.Fprintf(p.stdout, "%s\n", s.JSON())
		}
	}
	for e, err := range events {
		if err != nil {
			return err
		}
		if fold.Apply(e); b.changes {
			tell()
		}
		if e.Seq == b.at {
			break
		}
	}
	switch {
	case fold.Seq == 0:
		return harness.ErrNotFound
	case b.at > fold.Seq:
		return fmt.Errorf("the log ends at %d, before %d: %w", fold.Seq, b.at, harness.ErrInvalid)
	}
	tell()
	return nil
}
