package storetest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"harness"
)

// appending is a suite for a store whose Append is f.
func appending(f func(context.Context, powers, harness.Commit) error) Suite {
	return wrongly(func(st powers) harness.Store { return appender{st, f} })
}

type appender struct {
	powers
	f func(context.Context, powers, harness.Commit) error
}

func (a appender) Append(ctx context.Context, c harness.Commit) error { return a.f(ctx, a.powers, c) }

// reading is a suite for a store whose Read yields what f makes of it.
func reading(f func(st powers, id harness.SessionID, after harness.Seq, seq iter.Seq2[harness.Event, error]) iter.Seq2[harness.Event, error]) Suite {
	return wrongly(func(st powers) harness.Store { return reader{st, f} })
}

type reader struct {
	powers
	f func(powers, harness.SessionID, harness.Seq, iter.Seq2[harness.Event, error]) iter.Seq2[harness.Event, error]
}

func (r reader) Read(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error] {
	return r.f(r.powers, id, after, r.powers.Read(ctx, id, after))
}

// without leaves out the events that drop chooses.
func without(seq iter.Seq2[harness.Event, error], drop func(harness.Event) bool) iter.Seq2[harness.Event, error] {
	return func(yield func(harness.Event, error) bool) {
		for e, err := range seq {
			if (err != nil || !drop(e)) && !yield(e, err) {
				return
			}
		}
	}
}

// listing is a suite for a store whose List yields what f makes of its rows.
func listing(f func(harness.Filter, []harness.Summary) []harness.Summary) Suite {
	return wrongly(func(st powers) harness.Store { return lister{st, f} })
}

type lister struct {
	powers
	f func(harness.Filter, []harness.Summary) []harness.Summary
}

func (l lister) List(ctx context.Context, f harness.Filter) iter.Seq2[harness.Summary, error] {
	return func(yield func(harness.Summary, error) bool) {
		rows, err := collect(l.powers.List(ctx, f))
		for _, r := range l.f(f, rows) {
			if !yield(r, nil) {
				return
			}
		}
		if err != nil {
			yield(harness.Summary{}, err)
		}
	}
}

// neverClosed works on after Close.
type neverClosed struct{ powers }

func (neverClosed) Close() error { return nil }

// distracted loses an event when an append happens while it reads.
type distracted struct {
	powers
	appends atomic.Int64
}

func (d *distracted) Append(ctx context.Context, c harness.Commit) error {
	d.appends.Add(1)
	return d.powers.Append(ctx, c)
}

func (d *distracted) Read(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error] {
	before := d.appends.Load()
	return without(d.powers.Read(ctx, id, after), func(e harness.Event) bool { return e.Seq == 3 && d.appends.Load() != before })
}

// strictlyBefore takes "at or before" for "before".
type strictlyBefore struct{ powers }

func (s strictlyBefore) LoadSnapshot(ctx context.Context, id harness.SessionID, at harness.Seq) (harness.Snapshot, error) {
	if at == 20 && id == "a" {
		at--
	}
	return s.powers.LoadSnapshot(ctx, id, at)
}

// savesOnce refuses a snapshot that it has.
type savesOnce struct {
	powers
	seen *sync.Map
}

func (s savesOnce) SaveSnapshot(ctx context.Context, snap harness.Snapshot) error {
	if _, again := s.seen.LoadOrStore([2]any{snap.Session, snap.Seq}, true); again {
		return harness.ErrExists
	}
	return s.powers.SaveSnapshot(ctx, snap)
}

// hasty keeps quiet about a snapshot that it did not save.
type hasty struct{ powers }

func (h hasty) SaveSnapshot(ctx context.Context, snap harness.Snapshot) error {
	err := h.powers.SaveSnapshot(ctx, snap)
	if errors.Is(err, harness.ErrConflict) {
		return nil
	}
	return err
}

// silent ends where a message is missing, as if that were the end.
type silent struct{ powers }

func (s silent) Messages(ctx context.Context, id harness.SessionID, from, to int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for m, err := range s.powers.Messages(ctx, id, from, to) {
			if errors.Is(err, harness.ErrCorrupt) && from == 14 || !yield(m, err) {
				return
			}
		}
	}
}

// lookingAhead fills what a branch lacks with whatever its parent has by now.
type lookingAhead struct{ powers }

func (l lookingAhead) Messages(ctx context.Context, id harness.SessionID, from, to int) iter.Seq2[[]byte, error] {
	if id == "b" {
		if _, err := collect(l.powers.Messages(ctx, id, from, to)); errors.Is(err, harness.ErrCorrupt) && to == 3 {
			return l.powers.Messages(ctx, "a", from, to)
		}
	}
	return l.powers.Messages(ctx, id, from, to)
}

// keepsLogs removes a session but can still be read.
type keepsLogs struct{ powers }

func (k keepsLogs) Remove(ctx context.Context, id harness.SessionID) error {
	if id == "c" || id == "b" {
		return k.powers.Remove(ctx, id)
	}
	for e, err := range k.powers.Read(ctx, id, 0) {
		if err != nil {
			return err
		}
		if e.Session == "a" && e.Seq == 5 {
			return nil // forgets to forget
		}
	}
	return k.powers.Remove(ctx, id)
}

// yesSayer says that it removed what it may not remove.
type yesSayer struct{ powers }

func (y yesSayer) Remove(ctx context.Context, id harness.SessionID) error {
	err := y.powers.Remove(ctx, id)
	if errors.Is(err, harness.ErrBranched) {
		return nil
	}
	return err
}

// sorted yields rules by their names.
type sorted struct{ powers }

func (s sorted) Rules(ctx context.Context, directory string) iter.Seq2[harness.Rule, error] {
	rules, err := collect(s.powers.Rules(ctx, directory))
	slices.SortFunc(rules, func(a, b harness.Rule) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return func(yield func(harness.Rule, error) bool) {
		for _, r := range rules {
			if !yield(r, nil) {
				return
			}
		}
		if err != nil {
			yield(harness.Rule{}, err)
		}
	}
}

// hesitant keeps rules that come alone only as far as one is there already.
type hesitant struct{ powers }

func (h hesitant) KeepRules(ctx context.Context, rules []harness.Rule) error {
	have, err := collect(h.powers.Rules(ctx, ""))
	for i, r := range rules {
		if slices.ContainsFunc(have, func(o harness.Rule) bool { return o.ID == r.ID }) {
			return errors.Join(err, h.powers.KeepRules(ctx, rules[:i]))
		}
	}
	return errors.Join(err, h.powers.KeepRules(ctx, rules))
}

// forgiving has nothing against revoking what does not stand.
type forgiving struct{ powers }

func (f forgiving) RevokeRule(ctx context.Context, id harness.RuleID) error {
	err := f.powers.RevokeRule(ctx, id)
	if errors.Is(err, harness.ErrNotFound) {
		return nil
	}
	return err
}

// sweeping forgets with a session the rules that were made in it.
type sweeping struct{ powers }

func (s sweeping) Remove(ctx context.Context, id harness.SessionID) error {
	err := s.powers.Remove(ctx, id)
	if err != nil {
		return err
	}
	rules, err := collect(s.powers.Rules(ctx, ""))
	for _, r := range rules {
		if r.Session == id {
			err = errors.Join(err, s.powers.RevokeRule(ctx, r.ID))
		}
	}
	return err
}

// countsChanges counts a session under every status that it had.
type countsChanges struct{ powers }

func (c countsChanges) Count(ctx context.Context) (map[harness.Status]int, error) {
	n, err := c.powers.Count(ctx)
	for _, v := range n {
		n[harness.Queued] += v
	}
	return n, err
}
