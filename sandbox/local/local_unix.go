//go:build unix && !linux

package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"

	"harness"
	"harness/sandbox/internal/files"
	"harness/sandbox/internal/promise"
	"harness/sandbox/internal/run"
	"harness/sandbox/internal/view"
)

// Sandbox is the local one.
type Sandbox struct{}

// New returns the local sandbox.
func New(*Options) *Sandbox { return &Sandbox{} }

// Probe says what process groups can do; they are always there.
func (s *Sandbox) Probe(context.Context) (harness.Isolation, error) {
	return (&workspace{}).Isolation(), nil
}

// Open opens a workspace.
func (s *Sandbox) Open(_ context.Context, spec harness.WorkspaceSpec) (harness.Workspace, error) {
	seen, err := view.Of(spec)
	if err != nil {
		return nil, err
	}
	tree, err := files.Open(spec.Directory, seen)
	if err != nil {
		return nil, err
	}
	return &workspace{Tree: tree, spec: spec}, nil
}

type workspace struct {
	*files.Tree
	spec harness.WorkspaceSpec

	mu       sync.Mutex // guards what follows
	closed   bool
	children []*run.Child
}

func (w *workspace) Start(ctx context.Context, p harness.Process) (harness.Child, error) {
	if len(p.Args) == 0 {
		return nil, errors.New("start: no command")
	}
	rel := filepath.ToSlash(p.Dir)
	if rel == "" {
		rel = "."
	}
	if info, err := fs.Stat(w.Tree, rel); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("start in %q: not a directory of the workspace: %w", p.Dir, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, fmt.Errorf("start: workspace: %w", os.ErrClosed)
	}
	dir := filepath.Join(w.spec.Directory, rel)
	cmd := &exec.Cmd{Path: p.Args[0], Args: p.Args, Dir: dir, Env: append(append([]string{"PWD=" + dir}, w.spec.Env...), p.Env...)}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if found, err := exec.LookPath(p.Args[0]); err == nil {
		cmd.Path = found
	}
	group := func(sig syscall.Signal) { _ = syscall.Kill(-cmd.Process.Pid, sig) }
	c, err := run.Start(ctx, run.Plan{
		Cmd: cmd, Process: p, Limits: w.spec.Limits,
		Terminate: func() { group(syscall.SIGTERM) },
		Kill:      func() { group(syscall.SIGKILL) },
		Gone:      func() error { group(syscall.SIGKILL); return nil },
	})
	if err != nil {
		return nil, err
	}
	w.children = append(w.children, c)
	return c, nil
}

func (w *workspace) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	for _, c := range w.children {
		c.End(harness.ExitCancelled)
		<-c.Done()
	}
	return w.Tree.Close()
}

func (w *workspace) Isolation() harness.Isolation {
	return promise.Isolation("none", Promises(), map[harness.Guarantee]string{
		harness.GuardTree:   "a process group does not hold what leaves it",
		harness.GuardCrash:  "a process group does not hold what leaves it",
		harness.LimitPids:   "this system has no control groups",
		harness.LimitMemory: "this system has no control groups",
	})
}
