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

// Copied says what a copy did.
type Copied struct {
	Sessions int
	Events   int
	New      int // events that were not there yet
	Rules    int
}

// Copy takes every session of a store into another, with its row in lists, and
// the standing rules, in bounded memory. What the other has already must be a
// beginning of what is copied, or it is ErrExists; so doing it again, also after
// it was interrupted, copies the rest. A session that grows meanwhile is copied
// as it was when its turn came. told is called for every session.
func Copy(ctx context.Context, from, to harness.Store, told func(id harness.SessionID, fresh int)) (Copied, error) {
	c := &copier{from: from, to: to, told: told, done: map[harness.SessionID]bool{}}
	if err := c.standing(ctx); err != nil {
		return c.Copied, err
	}
	for row, err := range from.List(ctx, harness.Filter{}) {
		if err == nil {
			err = c.session(ctx, row)
		}
		if err != nil {
			return c.Copied, err
		}
	}
	return c.Copied, nil
}

type copier struct {
	Copied
	from, to harness.Store
	told     func(harness.SessionID, int)
	done     map[harness.SessionID]bool
}

// standing copies the rules, which may have outlived their sessions.
func (c *copier) standing(ctx context.Context) error {
	book, ok := c.from.(harness.Rulebook)
	if !ok {
		return nil
	}
	var rules []harness.Rule
	for r, err := range book.Rules(ctx, "") {
		if err != nil {
			return err
		}
		rules = append(rules, r)
	}
	if c.Rules = len(rules); c.Rules == 0 {
		return nil
	}
	keeper, ok := c.to.(harness.RuleKeeper)
	if !ok {
		return fmt.Errorf("%d rules, which the other store cannot keep: %w", c.Rules, harness.ErrUnsupported)
	}
	return keeper.KeepRules(ctx, rules)
}

// session copies one, behind the one that it branched off.
func (c *copier) session(ctx context.Context, row harness.Summary) error {
	if c.done[row.Session] {
		return nil
	}
	c.done[row.Session] = true
	if row.Parent != "" {
		for parent, err := range c.from.List(ctx, harness.Filter{Session: row.Parent, Limit: 1}) {
			if err == nil {
				err = c.session(ctx, parent)
			}
			if err != nil {
				return err
			}
		}
	}
	fresh, err := c.log(ctx, row)
	if err != nil {
		return fmt.Errorf("copy %s: %w", row.Session, err)
	}
	c.Sessions++
	c.Events += int(row.Seq)
	c.New += fresh
	c.told(row.Session, fresh)
	return nil
}

// log copies the events that the other store lacks, up to where the row says.
func (c *copier) log(ctx context.Context, row harness.Summary) (fresh int, err error) {
	there, stop := iter.Pull2(c.to.Read(ctx, row.Session, 0))
	defer stop()
	more, state, diagnosis := true, new(harness.State), health.New(nil)
	k := keeper{}
	k.store, _ = c.to.(harness.Snapshotter)
	var batch []harness.Event
	var parent *harness.Branch
	flush := func(last bool) error {
		if len(batch) == 0 {
			return nil
		}
		sum := state.Summary()
		diagnosis.Rate(&sum)
		if last {
			sum = row
		}
		err := c.to.Append(ctx, harness.Commit{Session: row.Session, After: batch[0].Seq - 1, Events: batch, Summary: sum, From: parent})
		if err != nil {
			return err
		}
		fresh += len(batch)
		batch, parent = nil, nil
		state.SetAside(diagnosis.Clone())
		k.keep(ctx, state)
		return nil
	}
	last := harness.Event{}
	for e, err := range c.from.Read(ctx, row.Session, 0) {
		if err != nil {
			return fresh, err
		}
		if e.Seq > row.Seq {
			break
		}
		if more {
			old, err, ok := there()
			switch {
			case !ok, errors.Is(err, harness.ErrNotFound):
				more = false
				k.last = state.Seq
				if e.Session == row.Session && last.Session != "" && last.Session != row.Session {
					parent = &harness.Branch{Session: row.Parent, Seq: last.Seq}
				}
			case err != nil:
				return fresh, err
			case !bytes.Equal(old.JSON(), e.JSON()):
				return fresh, fmt.Errorf("the other log is another from event %d on: %w", e.Seq, harness.ErrExists)
			}
		}
		if !more && e.Session == row.Session {
			if len(batch) == 0 && last.Session != "" && last.Session != row.Session {
				parent = &harness.Branch{Session: row.Parent, Seq: last.Seq}
			}
			batch = append(batch, e)
		}
		state.Apply(e)
		diagnosis.Apply(e)
		last = e
		if len(batch) == importBatch && e.Seq < row.Seq {
			if err := flush(false); err != nil {
				return fresh, err
			}
		}
	}
	return fresh, flush(true)
}

// Verify reads all of both stores and compares them: every event byte by byte,
// every row of the list, every rule. The first difference is ErrCorrupt, with its
// place. The other store may have more sessions.
func Verify(ctx context.Context, from, to harness.Store) error {
	for row, err := range from.List(ctx, harness.Filter{}) {
		if err != nil {
			return err
		}
		if err := same(ctx, from, to, row); err != nil {
			return fmt.Errorf("verify %s: %w", row.Session, err)
		}
	}
	book, ok := from.(harness.Rulebook)
	other, also := to.(harness.Rulebook)
	if !ok || !also {
		return nil
	}
	var rules []harness.Rule
	for r, err := range other.Rules(ctx, "") {
		if err != nil {
			return err
		}
		r.Created = r.Created.UTC()
		rules = append(rules, r)
	}
	for r, err := range book.Rules(ctx, "") {
		if err != nil {
			return err
		}
		r.Created = r.Created.UTC()
		if !slices.Contains(rules, r) {
			return fmt.Errorf("verify rule %s: it is not there, or another: %w", r.ID, harness.ErrCorrupt)
		}
	}
	return nil
}

// same compares one session.
func same(ctx context.Context, from, to harness.Store, row harness.Summary) error {
	other, found := harness.Summary{}, false
	for r, err := range to.List(ctx, harness.Filter{Session: row.Session, Limit: 1}) {
		if err != nil {
			return err
		}
		other, found = r, true
	}
	row.Created, row.Updated, other.Created, other.Updated = row.Created.UTC(), row.Updated.UTC(), other.Created.UTC(), other.Updated.UTC()
	if row.Bytes == 0 || other.Bytes == 0 { // one of them does not count
		row.Bytes, other.Bytes = 0, 0
	}
	if a, b := fmt.Sprintf("%+v", row), fmt.Sprintf("%+v", other); !found || a != b {
		return fmt.Errorf("its row is another:\n%s\n%s\n%w", a, b, harness.ErrCorrupt)
	}
	next, stop := iter.Pull2(to.Read(ctx, row.Session, 0))
	defer stop()
	seq := harness.Seq(0)
	for e, err := range from.Read(ctx, row.Session, 0) {
		if err != nil {
			return err
		}
		if e.Seq > row.Seq {
			break
		}
		o, err, ok := next()
		if err != nil {
			return err
		}
		if !ok || !bytes.Equal(o.JSON(), e.JSON()) {
			return fmt.Errorf("event %d is missing or another: %w", e.Seq, harness.ErrCorrupt)
		}
		seq = e.Seq
	}
	if _, err, ok := next(); ok || seq != row.Seq {
		return fmt.Errorf("it has %d events here and others there (%v): %w", seq, err, harness.ErrCorrupt)
	}
	return nil
}

// Checked says what a check read.
type Checked struct {
	Sessions int
	Events   int
	Damaged  int
}

// Check reads every session of a store from its first event to its last and
// folds it: the log is dense and ends where its row says, and the row is what the
// log adds up to. told is called with each that is not so.
func Check(ctx context.Context, st harness.Store, told func(harness.SessionID, error)) (Checked, error) {
	var c Checked
	for row, err := range st.List(ctx, harness.Filter{}) {
		if err != nil {
			return c, err
		}
		c.Sessions++
		n, err := sound(ctx, st, row)
		c.Events += n
		if ctx.Err() != nil {
			return c, ctx.Err()
		}
		if err != nil {
			c.Damaged++
			told(row.Session, err)
		}
	}
	return c, nil
}

func sound(ctx context.Context, st harness.Store, row harness.Summary) (n int, err error) {
	state := new(harness.State)
	for e, err := range st.Read(ctx, row.Session, 0) {
		if err != nil {
			return n, err
		}
		if e.Seq > row.Seq {
			break // it grew meanwhile
		}
		if n++; e.Seq != harness.Seq(n) {
			return n, fmt.Errorf("event %d stands where %d belongs: %w", e.Seq, n, harness.ErrCorrupt)
		}
		state.Apply(e)
	}
	state.Session = row.Session
	got := state.Summary()
	if got.Seq != row.Seq || got.Status != row.Status || got.Title != row.Title || got.Messages != row.Messages || got.User != row.User {
		return n, fmt.Errorf("the log adds up to %s at %d with %d messages, its row says %s at %d with %d: %w",
			got.Status, got.Seq, got.Messages, row.Status, row.Seq, row.Messages, harness.ErrCorrupt)
	}
	return n, nil
}
