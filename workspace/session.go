package workspace

import (
	"context"

	"harness"
)

// Session is a tree as one session uses it. It is the harness.Rewinder of a
// workspace: Mark at the start of a turn, End at its end.
type Session struct {
	Tree *Tree
	ID   harness.SessionID
}

var _ harness.Rewinder = Session{}

// Mark takes the snapshot before a turn changes anything.
func (s Session) Mark(ctx context.Context) (string, error) {
	m, err := s.Tree.Take(ctx, s.ID, Before)
	return m.ID, err
}

// End takes the snapshot after a turn. What differs from it later was changed
// from outside.
func (s Session) End(ctx context.Context) (string, error) {
	m, err := s.Tree.Take(ctx, s.ID, After)
	return m.ID, err
}

// Rewind goes back to a mark and leaves conflicts alone; see Tree.Rewind.
func (s Session) Rewind(ctx context.Context, mark string, dryRun bool) (harness.Rewound, error) {
	if dryRun {
		p, err := s.Tree.Plan(ctx, s.ID, mark, false)
		return p.Rewound(true), err
	}
	r, err := s.Tree.Rewind(ctx, s.ID, mark, false)
	return r.Rewound(false), err
}

// Rewound is the plan as the event of a rewind. Paths that are not text are quoted.
func (p *Plan) Rewound(dryRun bool) harness.Rewound {
	w := harness.Rewound{DryRun: dryRun, Insertions: p.Insertions, Deletions: p.Deletions}
	for _, list := range [][]Change{p.Restore, p.Delete} {
		for _, c := range list {
			w.FilesChanged = append(w.FilesChanged, Printable(c.Path))
		}
	}
	for _, c := range p.Conflict {
		w.Conflicts = append(w.Conflicts, Printable(c.Path))
	}
	return w
}
