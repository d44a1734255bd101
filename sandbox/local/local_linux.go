package local

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"harness"
	"harness/internal/temp"
	"harness/sandbox/internal/cgroup"
	"harness/sandbox/internal/promise"
	"harness/sandbox/internal/run"
	"harness/sandbox/internal/shim"
	"harness/sandbox/internal/space"
)

// Sandbox is the local one.
type Sandbox struct {
	shim string
	root func() *cgroup.Root
}

// New returns the local sandbox.
func New(opts *Options) *Sandbox {
	s := &Sandbox{shim: shim.Self, root: sync.OnceValue(cgroup.Find)}
	if opts != nil && opts.Shim != "" {
		s.shim = opts.Shim
	}
	if opts != nil && opts.NoCgroup {
		s.root = func() *cgroup.Root { return &cgroup.Root{} }
	}
	return s
}

// Probe runs a process and ends it.
func (s *Sandbox) Probe(ctx context.Context) (harness.Isolation, error) {
	dir, err := temp.New()
	if err != nil {
		return harness.Isolation{}, err
	}
	defer dir.Remove()
	w, err := s.Open(ctx, harness.WorkspaceSpec{Directory: dir.Path})
	if err != nil {
		return harness.Isolation{}, err
	}
	defer w.Close()
	var said bytes.Buffer
	c, err := w.Start(ctx, harness.Process{Args: []string{"/bin/sh", "-c", "exit 7"}, Stderr: &said})
	if err != nil {
		return harness.Isolation{}, fmt.Errorf("local: %w", err)
	}
	if exit, err := c.Wait(); err != nil || exit.Code != 7 {
		return harness.Isolation{}, fmt.Errorf("local: a process under it ended with %d, want 7: %w %s", exit.Code, err, said.Bytes())
	}
	return w.Isolation(), nil
}

// Open opens a workspace.
func (s *Sandbox) Open(_ context.Context, spec harness.WorkspaceSpec) (harness.Workspace, error) {
	sp, err := space.Open(spec, s.root())
	if err != nil {
		return nil, err
	}
	return &workspace{Space: sp, sandbox: s}, nil
}

type workspace struct {
	*space.Space
	sandbox *Sandbox
}

func (w *workspace) Start(ctx context.Context, p harness.Process) (harness.Child, error) {
	return w.Space.Start(ctx, p, func(at space.Place) (run.Plan, error) {
		return shim.Launch(w.sandbox.shim, shim.Plan{Args: p.Args, Env: at.Env, Dir: at.Dir, Cgroup: at.Cgroup}, at.FD, at.Begin)
	})
}

func (w *workspace) Isolation() harness.Isolation {
	return promise.Isolation("none", Promises(), space.Broken(w.sandbox.root()))
}
