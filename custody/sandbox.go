package custody

import (
	"context"
	"io/fs"

	"harness"
)

// Sandbox is s with every process of its workspaces in the book while it lives.
func (b *Book) Sandbox(s harness.Sandbox) harness.Sandbox { return &sandbox{s, b} }

type sandbox struct {
	harness.Sandbox
	book *Book
}

func (s *sandbox) Open(ctx context.Context, spec harness.WorkspaceSpec) (harness.Workspace, error) {
	w, err := s.Sandbox.Open(ctx, spec)
	if err != nil || spec.Session == "" {
		return w, err
	}
	return &workspace{w, s.book, spec.Session}, nil
}

type workspace struct {
	harness.Workspace
	book    *Book
	session harness.SessionID
}

// ReadFile keeps the bound that the workspace has for files.
func (w *workspace) ReadFile(name string) ([]byte, error) { return fs.ReadFile(w.Workspace, name) }

func (w *workspace) Start(ctx context.Context, p harness.Process) (harness.Child, error) {
	record, before := w.book.Before(w.session, ""), p.Before
	p.Before = func(ref harness.ProcessRef) error {
		if err := record(ref); err != nil {
			return err
		}
		if before != nil {
			return before(ref)
		}
		return nil
	}
	c, err := w.Workspace.Start(ctx, p)
	if err != nil {
		return nil, err
	}
	return &child{c, w}, nil
}

type child struct {
	harness.Child
	w *workspace
}

// Wait forgets the process, because nothing of it is left then.
func (c *child) Wait() (harness.Exit, error) {
	exit, err := c.Child.Wait()
	_ = c.w.book.Forget(Entry{Session: c.w.session, ProcessRef: c.Ref()}) // one that stays is found to be dead
	return exit, err
}
