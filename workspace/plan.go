package workspace

import (
	"context"

	"harness"
	"harness/workspace/object"
)

// Change is what a rewind does to a path, or does not.
type Change struct {
	Path       string // a directory ends with a slash
	Insertions int    // lines the rewind adds
	Deletions  int    // lines the rewind takes away
	Binary     bool   // it has no lines to count
	Why        string // of conflicts, skips and failures

	path      string
	now, want *Entry // nil: nothing there
	data      []byte // content to restore, if it was read already
}

// Plan says what a rewind does.
type Plan struct {
	Mark       Mark
	Restore    []Change // written as they were, or given their mode
	Delete     []Change // created since
	Conflict   []Change // changed by somebody else; left alone unless forced
	Skipped    []Change // not kept then or now; left alone
	Insertions int      // of Restore and Delete
	Deletions  int
}

// Plan returns what Rewind would do, and changes nothing in the tree.
func (t *Tree) Plan(ctx context.Context, session harness.SessionID, mark string, force bool) (Plan, error) {
	return t.planOf(ctx, session, kin{}, mark, force)
}

func (t *Tree) planOf(ctx context.Context, session harness.SessionID, kin kin, mark string, force bool) (Plan, error) {
	if err := harness.CheckID("session id", string(session)); err != nil {
		return Plan{}, err
	}
	leave, err := t.enter(ctx)
	if err != nil {
		return Plan{}, err
	}
	defer leave()
	if err := t.settle(ctx); err != nil {
		return Plan{}, err
	}
	s, err := object.Open(ctx, t.objects(), t.storeOptions())
	if err != nil {
		return Plan{}, err
	}
	defer s.Close()
	target, root, err := t.lookup(session, mark)
	if err != nil {
		return Plan{}, err
	}
	_, now, err := t.look(ctx, s, root)
	if err != nil {
		return Plan{}, err
	}
	touched, err := t.touched(s, session, kin, target, root, now.id)
	if err != nil {
		return Plan{}, err
	}
	if force {
		clear(touched)
	}
	return makePlan(s, target, now.id, root, touched, force)
}

// makePlan compares now with want; touched paths are conflicts.
func makePlan(s *object.Store, target Mark, now, want object.ID, touched map[string]string, force bool) (Plan, error) {
	d := decider{touched: touched, force: force, occupied: map[string]bool{}, blocked: map[string]bool{}}
	err := diff(s, "", now, want, func(path string, now, want *Entry) {
		d.decide(Change{path: path, Path: path, now: now, want: want})
	})
	if err != nil {
		return Plan{}, err
	}
	p := d.plan()
	p.Mark = target
	room := planData
	for _, list := range [][]Change{p.Restore, p.Delete, p.Conflict} {
		for i := range list {
			if err := list[i].count(s, &room); err != nil {
				return Plan{}, err
			}
		}
	}
	for _, list := range [][]Change{p.Restore, p.Delete} {
		for _, c := range list {
			p.Insertions, p.Deletions = p.Insertions+c.Insertions, p.Deletions+c.Deletions
		}
	}
	return p, nil
}

// planData is how many bytes of content a plan holds on to for its rewind.
const planData = 32 << 20

// count fills in the lines.
func (c *Change) count(s *object.Store, room *int) (err error) {
	content := func(e *Entry) []byte {
		if e == nil || e.Kind != File || err != nil {
			return nil
		}
		var b []byte
		b, err = s.Get(e.ID)
		return b
	}
	if c.now != nil && c.want != nil && c.now.Kind == c.want.Kind && c.now.ID == c.want.ID {
		return nil
	}
	now, want := content(c.now), content(c.want)
	c.Insertions, c.Deletions, c.Binary = countLines(now, want)
	if *room -= len(want); *room >= 0 {
		c.data = want
	}
	return err
}
