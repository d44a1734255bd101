package main

import (
	"context"

	"harness"
	"harness/sandbox"
)

// enclosed is a sandbox, and what was asked for and got.
type enclosed struct {
	box    harness.Sandbox
	notice harness.SandboxNotice
}

// enclose chooses a sandbox. Processes are in the book before they run, where
// there is one.
func (h *housing) enclose(ctx context.Context) (enclosed, error) {
	box, notice, err := h.fence.choose(ctx)
	if err == nil && h.book != nil {
		box = h.book.Sandbox(box)
	}
	return enclosed{box, notice}, err
}

// mayChooseLater says that a sandbox may be chosen when the first workspace is
// opened. To choose is to try, which takes longer than everything else that a
// process does before it answers. A server tells at its start what it has got,
// and so does whoever asks for more than what there is.
func (h *housing) mayChooseLater() bool {
	return h.book == nil && *h.fence.name == sandbox.Auto && len(h.exit.domains()) == 0
}

// later is a sandbox that is chosen when it is first needed.
type later struct {
	pick func() (enclosed, error) // the same each time
}

func (l *later) Probe(ctx context.Context) (harness.Isolation, error) {
	got, err := l.pick()
	if err != nil {
		return harness.Isolation{}, err
	}
	return got.box.Probe(ctx)
}

func (l *later) Open(ctx context.Context, spec harness.WorkspaceSpec) (harness.Workspace, error) {
	got, err := l.pick()
	if err != nil {
		return nil, err
	}
	return got.box.Open(ctx, spec)
}

// notice says what holds in a workspace that was opened here.
func (l *later) notice(w harness.Workspace) harness.SandboxNotice {
	got, err := l.pick()
	if err != nil {
		return harness.SandboxNotice{Reason: err.Error()}
	}
	return sandbox.Notice(got.notice, w)
}
