package main

import (
	"context"
	"io/fs"
	"slices"

	"harness"
)

// outfitted is a sandbox whose processes all have an outfit: one for each
// workspace, which is given back with it.
type outfitted struct {
	harness.Sandbox
	fit func(harness.SessionID) (harness.Outfit, error)
}

func (s *outfitted) Open(ctx context.Context, spec harness.WorkspaceSpec) (harness.Workspace, error) {
	fit, err := s.fit(spec.Session)
	if err != nil {
		return nil, err
	}
	spec.Env, spec.ReadOnly, spec.Sockets = slices.Concat(spec.Env, fit.Env), slices.Concat(spec.ReadOnly, fit.ReadOnly), slices.Concat(spec.Sockets, fit.Sockets)
	w, err := s.Sandbox.Open(ctx, spec)
	if err != nil {
		if fit.Close != nil {
			fit.Close()
		}
		return nil, err
	}
	return &outfittedWorkspace{w, fit}, nil
}

type outfittedWorkspace struct {
	harness.Workspace
	fit harness.Outfit
}

// ReadFile keeps the bound that the workspace has for files.
func (w *outfittedWorkspace) ReadFile(name string) ([]byte, error) {
	return fs.ReadFile(w.Workspace, name)
}

func (w *outfittedWorkspace) Start(ctx context.Context, p harness.Process) (harness.Child, error) {
	if w.fit.Wrap != nil {
		p.Args = w.fit.Wrap(p.Args)
	}
	return w.Workspace.Start(ctx, p)
}

func (w *outfittedWorkspace) Close() error {
	if w.fit.Close != nil {
		defer w.fit.Close()
	}
	return w.Workspace.Close()
}
