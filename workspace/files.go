package workspace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"harness"
	"harness/workspace/object"
)

// Files is a tree as sessions use it: the harness.Rewinder of a directory. It
// knows who is at work, so that Tidy keeps out of the way.
type Files struct {
	tree *Tree

	mu      sync.Mutex // guards what follows
	working map[harness.SessionID]bool
	using   int                // calls under way
	tidying context.CancelFunc // ends a Tidy under way; nil if there is none
}

var _ harness.Rewinder = (*Files)(nil)

// NewFiles is the Rewinder of a tree. There should be one in a process.
func NewFiles(t *Tree) *Files {
	return &Files{tree: t, working: make(map[harness.SessionID]bool)}
}

// use interrupts a Tidy, and keeps the next one away until done is called.
func (f *Files) use() (done func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.using++
	if f.tidying != nil {
		f.tidying()
	}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.using--
	}
}

// Mark takes a snapshot for the session.
func (f *Files) Mark(ctx context.Context, session harness.SessionID, phase harness.MarkPhase) (harness.Mark, error) {
	defer f.use()()
	m, err := f.tree.Take(ctx, session, phase)
	if err != nil {
		return harness.Mark{}, known(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if phase == Before {
		f.working[session] = true
	} else {
		delete(f.working, session)
	}
	return harness.Mark{ID: m.ID, Incomplete: m.lacks()}, nil
}

// lacks says what the mark is incomplete for, for people.
func (m *Mark) lacks() string {
	if len(m.Incomplete) == 0 {
		return ""
	}
	var skipped []string
	for _, why := range slices.Sorted(maps.Keys(m.Skipped)) {
		skipped = append(skipped, fmt.Sprintf("%d %s", m.Skipped[why], why))
	}
	return fmt.Sprintf("more than the bound of %s; not kept: %s", strings.Join(m.Incomplete, " and "), strings.Join(skipped, ", "))
}

// Rewind goes back to a mark; see Tree.Rewind.
func (f *Files) Rewind(ctx context.Context, to harness.Rewinding) (harness.Rewound, error) {
	defer f.use()()
	kin := kin{to.Lineage, to.Children}
	if to.DryRun {
		p, err := f.tree.planOf(ctx, to.Session, kin, to.Mark, to.Force)
		if err != nil {
			return harness.Rewound{}, known(err)
		}
		w := p.rewound()
		w.DryRun, w.Force = true, to.Force
		return w, nil
	}
	r, err := f.tree.rewindOf(ctx, to.Session, kin, to.Mark, to.Force)
	w := r.rewound()
	w.Force, w.Safety, w.After = to.Force, r.Safety.ID, r.After.ID
	w.Failed = listed(r.Failed)
	return w, known(err)
}

// Forget removes the session's marks. The next Tidy frees what only they kept.
func (f *Files) Forget(session harness.SessionID) error {
	defer f.use()()
	f.mu.Lock()
	delete(f.working, session)
	f.mu.Unlock()
	return f.tree.Forget(session)
}

// tidy collects, unless somebody is at work in the tree, and until somebody
// comes.
func (f *Files) tidy(ctx context.Context) (Collected, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f.mu.Lock()
	if f.using > 0 || len(f.working) > 0 || f.tidying != nil {
		f.mu.Unlock()
		return Collected{}, nil
	}
	f.tidying = cancel
	f.mu.Unlock()
	c, err := f.tree.Collect(ctx)
	f.mu.Lock()
	f.tidying = nil
	f.mu.Unlock()
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = nil // another time
	}
	return c, err
}

// known puts an error into the closed set, where a client may read it.
func known(err error) error {
	switch {
	case err == nil:
	case errors.Is(err, ErrGone):
		return fmt.Errorf("%w: %w", err, harness.ErrUnsupported)
	case errors.Is(err, object.ErrFull):
		return fmt.Errorf("%w: %w", err, harness.ErrStorage)
	case errors.Is(err, ErrDamaged):
		return fmt.Errorf("%w: %w", err, harness.ErrCorrupt)
	}
	return err
}

// rewound is the plan as the event of a rewind. Paths that are not text are
// quoted.
func (p *Plan) rewound() harness.Rewound {
	w := harness.Rewound{
		Insertions: p.Insertions, Deletions: p.Deletions,
		Restore: listed(p.Restore), Delete: listed(p.Delete), Conflict: listed(p.Conflict), Skipped: listed(p.Skipped),
	}
	for _, f := range slices.Concat(w.Restore, w.Delete) {
		w.FilesChanged = append(w.FilesChanged, f.Path)
	}
	for _, f := range w.Conflict {
		w.Conflicts = append(w.Conflicts, f.Path)
	}
	return w
}

func listed(list []Change) []harness.RewoundFile {
	var files []harness.RewoundFile
	for _, c := range list {
		files = append(files, harness.RewoundFile{Path: Printable(c.Path), Insertions: c.Insertions, Deletions: c.Deletions, Binary: c.Binary, Reason: c.Why})
	}
	return files
}
