package workspace

import (
	"context"
	"errors"
	"os"
	"path"
	"strings"

	"harness"
	"harness/workspace/object"
)

// push gives the place what was made here: the packs that it lacks, and then
// notes, all of these or none. It is errMoved if packs are gone that the notes
// may rely on.
func (t *Tree) push(ctx context.Context, s *object.Store, notes ...harness.Parcel) error {
	if t.share == nil {
		return nil
	}
	names, err := object.Packs(t.objects())
	if err != nil {
		return err
	}
	c := t.copied()
	at := c.Version
	for _, name := range names {
		if c.Packs[name] {
			continue
		}
		content, err := s.Pack(name)
		if err != nil {
			return err
		}
		if err := t.deliver(ctx, &c, &at, harness.Delivery{Add: []harness.Parcel{{Name: packsAt + name, Content: content}}}); err != nil {
			return err
		}
		c.Packs[name] = true
		if err := t.saveCopied(c); err != nil {
			return err
		}
	}
	if err := t.deliver(ctx, &c, &at, harness.Delivery{Add: notes}); err != nil {
		return err
	}
	c.Unsure = false
	return t.saveCopied(c)
}

// deliver changes the place, which may have changed since at, if it still has
// the packs that this copy had of it.
func (t *Tree) deliver(ctx context.Context, c *copied, at *uint64, d harness.Delivery) error {
	d.Place = t.share.place
	for {
		d.At = *at
		v, err := t.share.depot.Deliver(ctx, d)
		if err == nil {
			if c.Version == *at { // nothing of others came between
				c.Version = v
			}
			*at = v
			return nil
		}
		if !errors.Is(err, harness.ErrConflict) {
			return err
		}
		p, err := t.share.depot.Place(ctx, t.share.place, 0)
		if err != nil {
			return err
		}
		there := 0
		for _, f := range p.Files {
			if name, ok := strings.CutPrefix(f.Name, packsAt); ok && c.Packs[name] {
				there++
			}
		}
		if there < len(c.Packs) {
			return errMoved
		}
		*at = p.Version
	}
}

// withdraw takes notes out of the place.
func (t *Tree) withdraw(ctx context.Context, names ...string) error {
	if t.share == nil || len(names) == 0 {
		return nil
	}
	_, err := t.share.depot.Deliver(ctx, harness.Delivery{Place: t.share.place, At: harness.AnyVersion, Remove: names})
	return err
}

// collectShared is Collect for all: nobody rewinds meanwhile, and if anything
// came to the place since it was pulled, nothing is removed from it.
func (t *Tree) collectShared(ctx context.Context) (Collected, error) {
	release, err := t.alone(ctx)
	if err != nil {
		return Collected{}, err
	}
	defer release()
	before := t.copied()
	marks, err := t.all()
	if err != nil {
		return Collected{}, err
	}
	if err := t.unsure(); err != nil {
		return Collected{}, err
	}
	sum, err := t.collect(ctx)
	if err != nil {
		return sum, err
	}
	s, err := object.Open(ctx, t.objects(), t.storeOptions())
	if err != nil {
		return sum, err
	}
	defer s.Close()
	names, err := object.Packs(t.objects())
	if err != nil {
		return sum, err
	}
	after, now, d := map[string]bool{}, before, harness.Delivery{Place: t.share.place}
	for _, name := range names {
		after[name] = true
		if before.Packs[name] {
			continue
		}
		content, err := s.Pack(name)
		if err != nil {
			return sum, err
		}
		if now.Version, err = t.share.depot.Deliver(ctx, harness.Delivery{Place: t.share.place, At: now.Version, Add: []harness.Parcel{{Name: packsAt + name, Content: content}}}); err != nil {
			return sum, t.forgetCopy(ctx, s, err)
		}
	}
	for name := range before.Packs {
		if !after[name] {
			d.Remove = append(d.Remove, packsAt+name)
		}
	}
	left, err := t.all()
	if err != nil {
		return sum, err
	}
	for name := range marks {
		if !left[name] {
			d.Remove = append(d.Remove, name)
		}
	}
	now.Packs = after
	if d.At = now.Version; len(d.Remove) > 0 {
		if now.Version, err = t.share.depot.Deliver(ctx, d); err != nil {
			return sum, t.forgetCopy(ctx, s, err)
		}
	}
	return sum, t.saveCopied(now)
}

// forgetCopy gives a copy up that is no longer one: the next pull makes another.
// That others were faster is no error.
func (t *Tree) forgetCopy(ctx context.Context, s *object.Store, why error) error {
	names, err := object.Packs(t.objects())
	if err == nil {
		s.Close()
		err = object.Drop(ctx, t.objects(), names, func() { os.Remove(t.index()) })
	}
	err = errors.Join(err, t.saveCopied(copied{Unsure: true}))
	if errors.Is(why, harness.ErrConflict) {
		return err
	}
	return errors.Join(why, err)
}

// all are the names of all marks here.
func (t *Tree) all() (map[string]bool, error) {
	names := map[string]bool{}
	sessions, err := t.sessions()
	if err != nil {
		return nil, err
	}
	for _, session := range sessions {
		ids, err := t.ids(session)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			names[markName(session, id)] = true
		}
	}
	return names, nil
}

// markName is a mark's name in the place.
func markName(session harness.SessionID, id string) string {
	return path.Join(marksAt, string(session), id)
}
