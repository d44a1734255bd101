package kernel

import (
	"cmp"
	"context"
	"fmt"

	"harness"
)

// isolate makes the directory of a session that works in one of its own, and puts
// it into the session's first event; about is what there is to say of it. S3 has
// sessions that work by themselves do so: one that was not told to works in its
// directory itself if nothing can be made of that. undo takes everything back if
// there will be no session.
func (k *Kernel) isolate(ctx context.Context, id harness.SessionID, n harness.NewSession, st *harness.State, first *harness.SessionState) (about []harness.Payload, undo func(context.Context), err error) {
	undo = func(context.Context) {}
	source := cmp.Or(n.Directory, first.Directory, st.Directory)
	told := n.Isolated != nil
	switch {
	case told && !*n.Isolated:
		return nil, undo, nil
	case !told && (first.Kind != harness.Background || n.From != nil || source == "" || k.opts.Tasks == nil):
		return nil, undo, nil
	case k.opts.Tasks == nil:
		return nil, undo, fmt.Errorf("create %s: nothing makes workspaces here: %w", id, harness.ErrUnsupported)
	case source == "":
		return nil, undo, fmt.Errorf("create %s: a workspace of no directory: %w", id, harness.ErrInvalid)
	}
	directory, room, err := k.opts.Tasks.Create(ctx, id, source)
	if err != nil && !told && ctx.Err() == nil {
		return []harness.Payload{notice(first.Kind, "directory", "none", "It works in "+source+" itself: "+k.said(err.Error()))}, undo, nil
	}
	if err != nil {
		return nil, undo, fmt.Errorf("create %s: make a workspace of %s: %w", id, source, err)
	}
	first.Directory = directory
	undo = func(ctx context.Context) { k.deisolate(context.WithoutCancel(ctx), id) }
	if k.opts.Shelf != nil {
		err = k.opts.Shelf.Put(ctx, room.ArtifactID, room.Content)
	}
	if err != nil {
		undo(ctx)
		return nil, undo, fmt.Errorf("create %s: %w", id, err)
	}
	kept := *room
	kept.Content = nil
	return []harness.Payload{notice(first.Kind, "task_workspace", "workspace", "Prepared a task workspace for write-capable work."), &kept}, undo, nil
}

// notice says where a session works.
func notice(k harness.Kind, resolved, isolation, reason string) *harness.SandboxNotice {
	return &harness.SandboxNotice{RequestedBackend: string(k) + "_session", ResolvedBackend: resolved, Isolation: isolation, Reason: reason}
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
