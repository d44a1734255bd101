package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"harness"
	"harness/health"
)

// Imported says what an import did.
type Imported struct {
	Session harness.SessionID
	New     int // events that were not there yet
}

// Import takes the events of a whole archive into a store, with those of the
// parents that a branch's history begins with. A log that the store already has
// must be a beginning of the one that is imported, or it is ErrExists and
// nothing is written; a parent may have gone on since. So doing it twice, or
// again after it was interrupted, is harmless, and a log that somebody writes
// to meanwhile is ErrConflict.
func Import(ctx context.Context, st harness.Store, events []harness.Event) (Imported, error) {
	logs, err := divide(events)
	if err != nil {
		return Imported{}, err
	}
	if err := compare(ctx, st, events, logs); err != nil {
		return Imported{}, err
	}
	for _, l := range logs {
		if err := l.take(ctx, st, events); err != nil {
			return Imported{}, fmt.Errorf("import %s: %w", l.id, err)
		}
	}
	last := logs[len(logs)-1]
	return Imported{last.id, len(events) - max(last.known, last.base)}, nil
}

// share is what one session wrote of a history: the events after base up to
// end. Only a branch's history has more than one.
type share struct {
	id        harness.SessionID
	from      *harness.Branch
	base, end int
	known     int // how many of the history's events the store already has under this id
}

// MaxGenerations bounds the sessions that one history can be of: each costs a
// look into the store and a fold of what is before it.
const MaxGenerations = 256

// divide finds whose events are whose, oldest first.
func divide(events []harness.Event) ([]*share, error) {
	var logs []*share
	for i, e := range events {
		if n := len(logs); n > 0 && logs[n-1].id == e.Session {
			logs[n-1].end = i + 1
			continue
		}
		if _, err := harness.ParseSessionID(string(e.Session)); err != nil {
			return nil, fmt.Errorf("event %d: %w", e.Seq, err)
		}
		if slices.ContainsFunc(logs, func(l *share) bool { return l.id == e.Session }) {
			return nil, fmt.Errorf("event %d is again of %s: %w", e.Seq, e.Session, harness.ErrInvalid)
		}
		if len(logs) == MaxGenerations {
			return nil, fmt.Errorf("its history is of more than %d sessions: %w", MaxGenerations, harness.ErrTooLarge)
		}
		l := &share{id: e.Session, base: i, end: i + 1}
		if n := len(logs); n > 0 {
			l.from = &harness.Branch{Session: logs[n-1].id, Seq: harness.Seq(i)}
		}
		logs = append(logs, l)
	}
	if len(logs) == 0 {
		return nil, fmt.Errorf("it has no events: %w", harness.ErrInvalid)
	}
	return logs, nil
}

// compare finds what the store already has, before anything is written. A
// parent may have gone on since; the session itself may not.
func compare(ctx context.Context, st harness.Store, events []harness.Event, logs []*share) error {
	for i, l := range logs {
		n, err := prefix(st.Read(ctx, l.id, 0), events[:l.end], i < len(logs)-1)
		if err != nil {
			return fmt.Errorf("%s: %w", l.id, err)
		}
		l.known = n
	}
	return nil
}

// prefix is how many of events a log already has. A log that has others, or
// more unless it may, is ErrExists.
func prefix(log iter.Seq2[harness.Event, error], events []harness.Event, mayGoOn bool) (int, error) {
	n := 0
	for e, err := range log {
		switch {
		case errors.Is(err, harness.ErrNotFound):
			return 0, nil
		case err != nil:
			return 0, err
		case n == len(events) && mayGoOn:
			return n, nil
		case n == len(events):
			return 0, fmt.Errorf("the stored log goes on after event %d: %w", n, harness.ErrExists)
		case !bytes.Equal(e.JSON(), events[n].JSON()):
			return 0, fmt.Errorf("the stored log is another from event %d on: %w", n+1, harness.ErrExists)
		}
		n++
	}
	return n, nil
}

// Holds reports whether a store has these events as the beginning of their
// session's log, which may have gone on since.
func Holds(ctx context.Context, st harness.Store, events []harness.Event) (bool, error) {
	if len(events) == 0 {
		return false, nil
	}
	n, err := prefix(st.Read(ctx, events[0].Session, 0), events, true)
	if errors.Is(err, harness.ErrExists) {
		return false, nil
	}
	return n == len(events), err
}

// importBatch is how many events become durable together.
const importBatch = 500

// take appends the events of l that the store does not have yet, and leaves
// snapshots on the way, so that any place of a long log is near one.
func (l *share) take(ctx context.Context, st harness.Store, events []harness.Event) error {
	from := l.from
	start := l.base
	if l.known > l.base {
		from, start = nil, l.known
	}
	state, diagnosis := new(harness.State), health.New(nil)
	for _, e := range events[:start] {
		state.Apply(e)
		diagnosis.Apply(e)
	}
	k := keeper{last: state.Seq}
	k.store, _ = st.(harness.Snapshotter)
	for batch := range slices.Chunk(events[start:l.end], importBatch) {
		after := state.Seq
		for _, e := range batch {
			state.Apply(e)
			diagnosis.Apply(e)
		}
		row := state.Summary()
		diagnosis.Rate(&row)
		if err := st.Append(ctx, harness.Commit{Session: l.id, After: after, Events: batch, Summary: row, From: from}); err != nil {
			return err
		}
		from = nil
		state.SetAside(diagnosis.Clone())
		k.keep(ctx, state)
	}
	return nil
}

// keeper saves snapshots of a log that grows.
type keeper struct {
	store harness.Snapshotter // nil: the store has no such power
	last  harness.Seq
	cost  int // bytes of the last head
}

// snapshotEvery is how many events a snapshot spares, at least; eventCost is a
// low guess of an event's bytes, so that heads at most double what is written.
const (
	snapshotEvery = 1024
	eventCost     = 64
)

// keep saves s if it is time. One that cannot be saved can be folded again.
func (k *keeper) keep(ctx context.Context, s *harness.State) {
	grown := int(s.Seq - k.last)
	if k.store == nil || grown < snapshotEvery || grown < k.cost/eventCost {
		return
	}
	snap := harness.Snapshot{Session: s.Session, Seq: s.Seq, First: s.Sealed}
	n := s.Sealable()
	for _, m := range s.Messages[:n] {
		snap.Sealed = append(snap.Sealed, harness.EncodeMessage(m))
	}
	head := s.Clone()
	head.Seal(n)
	snap.State = harness.EncodeState(head)
	k.last, k.cost = s.Seq, len(snap.State)
	if k.store.SaveSnapshot(ctx, snap) == nil {
		s.Seal(n)
	}
}
