package workspace

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"harness"
	"harness/workspace/object"
)

// Collected says what a Collect did.
type Collected struct {
	object.Collected
	Marks int // marks removed to stay within Bounds.Disk
}

// Collect frees what no mark needs. If the rest still takes more than seven
// eighths of Bounds.Disk, the oldest marks go until it takes less, but never
// the last two of a session. It waits for snapshots under way, at most until
// ctx ends; snapshots wait for it. If ctx ends in the middle nothing is lost but
// the work.
func (t *Tree) Collect(ctx context.Context) (Collected, error) {
	leave, err := t.enter(ctx)
	if err != nil {
		return Collected{}, err
	}
	defer leave()
	return t.free(ctx)
}

// free is Collect with the tree entered.
func (t *Tree) free(ctx context.Context) (Collected, error) {
	if t.share != nil {
		return t.collectShared(ctx)
	}
	return t.collect(ctx)
}

func (t *Tree) collect(ctx context.Context) (Collected, error) {
	var sum Collected
	for {
		c, err := object.Collect(ctx, t.objects(), t.storeOptions(), func(s *object.Store, keep func(object.ID) bool) error { return t.reach(ctx, s, keep) })
		sum.Pieces, sum.Freed, sum.Packs, sum.Rewrote = sum.Pieces+c.Pieces, sum.Freed+c.Freed, c.Packs, sum.Rewrote+c.Rewrote
		if err != nil {
			return sum, err
		}
		used, err := object.Size(t.objects())
		if err != nil || used <= t.bounds.Disk/8*7 {
			return sum, err
		}
		n, err := t.expire()
		if sum.Marks += n; err != nil || n == 0 {
			return sum, err
		}
	}
}

// reach names everything that marks and the index need.
func (t *Tree) reach(ctx context.Context, s *object.Store, keep func(object.ID) bool) error {
	t.sweepTemporary()
	var walk func(id object.ID) error
	walk = func(id object.ID) error {
		if !keep(id) {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		entries, err := entriesOf(s, id)
		if err != nil {
			return err
		}
		for _, e := range entries {
			switch e.Kind {
			case Dir:
				err = errors.Join(err, walk(e.ID))
			case File:
				keep(e.ID)
			}
		}
		return err
	}
	sessions, err := t.sessions()
	if err != nil {
		return err
	}
	for _, session := range sessions {
		ids, err := t.ids(session)
		if err != nil {
			return err
		}
		for _, id := range ids {
			_, root, err := t.read(session, id)
			if errors.Is(err, ErrGone) {
				continue
			}
			if err != nil {
				return err
			}
			if err := walk(root); err != nil {
				return err
			}
		}
	}
	if index := loadIndex(t.index()); index != nil {
		if err := walk(index.id); err != nil && ctx.Err() == nil { // it only saves work
			os.Remove(t.index())
		}
	}
	return nil
}

// sweepTemporary removes what killed writers left beside the packs. The store
// is held alone, so nobody is writing.
func (t *Tree) sweepTemporary() {
	dirs, _ := filepath.Glob(filepath.Join(t.data, "marks", "*"))
	for _, dir := range append(dirs, t.data) {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".tmp") && !strings.HasPrefix(e.Name(), "tree.") {
				os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
}

// expire removes the older half of the marks that may go.
func (t *Tree) expire() (int, error) {
	type old struct {
		session harness.SessionID
		id      string
	}
	var list []old
	sessions, err := t.sessions()
	if err != nil {
		return 0, err
	}
	for _, session := range sessions {
		ids, err := t.ids(session)
		if err != nil {
			return 0, err
		}
		for _, id := range ids[:max(0, len(ids)-2)] {
			list = append(list, old{session, id})
		}
	}
	slices.SortFunc(list, func(a, b old) int { return cmp.Compare(a.id, b.id) })
	list = list[:(len(list)+1)/2]
	for i, o := range list {
		if err := os.Remove(filepath.Join(t.marks(o.session), o.id)); err != nil {
			return i, err
		}
	}
	return len(list), nil
}
