package workspace

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"harness"
	"harness/workspace/object"
)

// Result is what a rewind did. The lists are those of a Plan, as it turned out.
type Result struct {
	Plan
	// Safety is the tree before the rewind: rewinding to it undoes it. It is
	// zero, as After is, if there was nothing to do.
	Safety Mark
	// After is the tree after it.
	After Mark
	// Failed lists what should have changed and could not.
	Failed []Change
}

// Rewind brings the tree back to a mark. It changes nothing before the state
// that it finds is kept (Result.Safety), and nothing that somebody else changed
// since the mark unless force. If something could not be changed it goes on
// with the rest and returns an error with the result. If ctx ends, or the
// process, in the middle, the next use of the tree finishes it.
func (t *Tree) Rewind(ctx context.Context, session harness.SessionID, mark string, force bool) (Result, error) {
	return t.rewindOf(ctx, session, kin{}, mark, force)
}

func (t *Tree) rewindOf(ctx context.Context, session harness.SessionID, kin kin, mark string, force bool) (Result, error) {
	if err := harness.CheckID("session id", string(session)); err != nil {
		return Result{}, err
	}
	if err := t.prepare(); err != nil {
		return Result{}, err
	}
	leave, err := t.enter(ctx)
	if err != nil {
		return Result{}, err
	}
	defer leave()
	release, err := t.alone(ctx)
	if err != nil {
		return Result{}, err
	}
	defer release()
	if err := t.finish(ctx); err != nil {
		return Result{}, err
	}
	s, err := object.Open(ctx, t.objects(), t.storeOptions())
	if err != nil {
		return Result{}, err
	}
	defer s.Close()
	target, want, err := t.lookup(session, mark)
	if err != nil {
		return Result{}, err
	}
	safety, now, _, err := t.scan(ctx, s, loadIndex(t.index()), want)
	if err != nil {
		return Result{}, err
	}
	touched := map[string]string{}
	if !force {
		if touched, err = t.touched(s, session, kin, target, want, now.id); err != nil {
			return Result{}, err
		}
	}
	p, err := makePlan(s, target, now.id, want, touched, force)
	if err != nil {
		return Result{}, err
	}
	if len(p.Restore)+len(p.Delete) == 0 {
		return Result{Plan: p}, nil
	}
	safety.Session, safety.Phase = session, Before
	if err := t.write(ctx, s, &safety); err != nil {
		return Result{}, err
	}
	j := &journal{Session: session, Target: target.ID, Safety: safety.ID, Temp: ours + strings.ToLower(rand.Text()[:8])}
	for _, list := range [][]Change{p.Restore, p.Delete} {
		for _, c := range list {
			j.Chosen = append(j.Chosen, []byte(c.path))
		}
	}
	if err := t.writeJournal(ctx, s, j); err != nil {
		return Result{}, err
	}
	return t.carryOut(ctx, s, j, p, safety, now)
}

// carryOut does what the plan says, writes the mark after it and removes the
// journal. safety and now are the tree as the plan saw it.
func (t *Tree) carryOut(ctx context.Context, s *object.Store, j *journal, p Plan, safety Mark, now *dir) (Result, error) {
	r, err := t.restorer(s, now, j.Temp)
	if err != nil {
		return Result{}, err
	}
	defer r.close()
	res := Result{Plan: p, Safety: safety}
	res.Restore, res.Delete, res.Insertions, res.Deletions = nil, nil, 0, 0
	settle := func(c Change, err error, done *[]Change) {
		switch {
		case err == nil:
			*done = append(*done, c)
			res.Insertions, res.Deletions = res.Insertions+c.Insertions, res.Deletions+c.Deletions
		case err == errChanged:
			c.Why = JustChanged
			res.Conflict = append(res.Conflict, c)
		default:
			c.Why = err.Error()
			res.Failed = append(res.Failed, c)
		}
	}
	made := r.makeWay(ctx, p)
	for _, c := range p.Delete {
		settle(c, made[c.path], &res.Delete)
	}
	for _, c := range p.Restore {
		if err := ctx.Err(); err != nil {
			return res, context.Cause(ctx)
		}
		err := made[c.path]
		if err == nil {
			err = r.restore(c)
		}
		settle(c, err, &res.Restore)
	}
	r.unstage()
	r.setModes()
	if err := ctx.Err(); err != nil {
		return res, context.Cause(ctx)
	}
	if res.After, err = t.takeResult(ctx, s, j.Session, now, res); err != nil {
		return res, err
	}
	if err := t.removeJournal(ctx); err != nil {
		return res, err
	}
	if n := len(res.Failed); n > 0 {
		return res, fmt.Errorf("%d of %d paths were not taken back; the first, %s: %s", n, n+len(res.Restore)+len(res.Delete),
			Printable(res.Failed[0].Path), res.Failed[0].Why)
	}
	return res, nil
}
