package kernel

import (
	"cmp"
	"context"
	"fmt"

	"harness"
)

// isolate makes the directory of a session that works in one of its own, and puts
// it into the session's first event. What is to be said about it is an artifact;
// undo takes it back if there will be no session.
func (k *Kernel) isolate(ctx context.Context, id harness.SessionID, n harness.NewSession, st *harness.State, first *harness.SessionState) (about *harness.Artifact, undo func(context.Context), err error) {
	undo = func(context.Context) {}
	if !n.Isolated {
		return nil, undo, nil
	}
	if k.opts.Tasks == nil {
		return nil, undo, fmt.Errorf("create %s: nothing makes workspaces here: %w", id, harness.ErrUnsupported)
	}
	source := cmp.Or(n.Directory, first.Directory, st.Directory)
	if source == "" {
		return nil, undo, fmt.Errorf("create %s: a workspace of no directory: %w", id, harness.ErrInvalid)
	}
	directory, about, err := k.opts.Tasks.Create(ctx, id, source)
	if err != nil {
		return nil, undo, fmt.Errorf("create %s: make a workspace of %s: %w", id, source, err)
	}
	first.Directory = directory
	undo = func(ctx context.Context) { k.deisolate(context.WithoutCancel(ctx), id) }
	if k.opts.Shelf != nil {
		err = k.opts.Shelf.Put(ctx, about.ArtifactID, about.Content)
	}
	if err != nil {
		undo(ctx)
		return nil, undo, fmt.Errorf("create %s: %w", id, err)
	}
	kept := *about
	kept.Content = nil
	return &kept, undo, nil
}

// deisolate removes the directory of its own that a session had.
func (k *Kernel) deisolate(ctx context.Context, id harness.SessionID) {
	if k.opts.Tasks == nil {
		return
	}
	if err := k.opts.Tasks.Remove(ctx, id); err != nil {
		k.log.Warn("workspace of a session that is gone is left", "session", id, "err", err)
	}
}
