//go:build linux

// Package space is what the workspaces of this machine have in common: files, a
// control group where there can be one, a thread that starts processes, and the
// list of those that run.
package space

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"harness"
	"harness/sandbox/internal/cgroup"
	"harness/sandbox/internal/files"
	"harness/sandbox/internal/run"
	"harness/sandbox/internal/view"
)

// Space is an open workspace.
type Space struct {
	*files.Tree
	Spec harness.WorkspaceSpec
	View *view.View

	group    *cgroup.Group
	thread   *thread
	starting sync.WaitGroup // calls of Start; added to under mu, while not closed

	mu       sync.Mutex // guards what follows
	closed   bool
	runs     int
	children map[*run.Child]bool
}

// Open opens the directory of spec and makes its control group in root.
//
// It marks the files that this process has open as not to be inherited: whoever
// started the harness may have left it some, and they are not the agent's.
func Open(spec harness.WorkspaceSpec, root *cgroup.Root) (*Space, error) {
	_ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) // Linux 5.11; earlier ones have only Go's own care
	seen, err := view.Of(spec)
	if err != nil {
		return nil, err
	}
	tree, err := files.Open(spec.Directory, seen)
	if err != nil {
		return nil, err
	}
	s := &Space{Tree: tree, Spec: spec, View: seen, children: map[*run.Child]bool{}}
	if s.group, err = root.New(spec.Limits.Pids, spec.Limits.Memory); err != nil {
		return nil, errors.Join(err, tree.Close())
	}
	if s.thread, err = newThread(s.group.Legacy()); err != nil {
		return nil, errors.Join(err, s.group.Close(), tree.Close())
	}
	return s, nil
}

// Place is where one process of the space starts.
type Place struct {
	Dir    string // absolute
	Env    []string
	Cgroup string // the group of its tree, or empty
	FD     int    // of Cgroup, for clone; or -1
	Begin  func(*exec.Cmd) error
}

// Start runs what plan makes of a place.
func (s *Space) Start(ctx context.Context, p harness.Process, plan func(Place) (run.Plan, error)) (harness.Child, error) {
	if len(p.Args) == 0 {
		return nil, errors.New("start: no command")
	}
	dir, err := s.dir(p.Dir)
	if err != nil {
		return nil, err
	}
	n, err := s.begin()
	if err != nil {
		return nil, err
	}
	defer s.starting.Done()
	at := Place{Dir: dir, Env: Env(dir, s.Spec.Env, p.Env), FD: -1, Begin: s.thread.start}
	if at.Cgroup, err = s.group.Run("run-" + strconv.Itoa(n)); err != nil {
		return nil, fmt.Errorf("make a control group: %w", err)
	}
	if at.Cgroup != "" {
		if at.FD, err = unix.Open(at.Cgroup, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
			return nil, errors.Join(err, cgroup.Remove(at.Cgroup))
		}
		defer unix.Close(at.FD)
	}
	made, err := plan(at)
	if err != nil {
		return nil, errors.Join(err, cgroup.Remove(at.Cgroup))
	}
	made.Process, made.Limits, made.MemoryKills = p, s.Spec.Limits, s.group.MemoryKills
	if made.Handle == "" {
		made.Handle = at.Cgroup
	}
	gone := made.Gone
	made.Gone = func() error { return errors.Join(gone(), cgroup.Remove(at.Cgroup)) }
	c, err := run.Start(ctx, made)
	if err != nil {
		return nil, errors.Join(err, cgroup.Remove(at.Cgroup))
	}
	s.keep(c)
	return c, nil
}

// dir returns the absolute form of a directory of the workspace.
func (s *Space) dir(rel string) (string, error) {
	if rel == "" {
		rel = "."
	}
	info, err := fs.Stat(s.Tree, rel)
	switch {
	case err != nil:
		return "", fmt.Errorf("start in %q: %w", rel, err)
	case !info.IsDir():
		return "", fmt.Errorf("start in %q: %w", rel, unix.ENOTDIR)
	}
	return filepath.Join(s.Spec.Directory, rel), nil
}

// begin counts a run, unless the space is closed.
func (s *Space) begin() (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, fmt.Errorf("start: workspace: %w", os.ErrClosed)
	}
	s.starting.Add(1)
	s.runs++
	return s.runs, nil
}

// keep remembers a child and forgets those that are gone.
func (s *Space) keep(c *run.Child) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for old := range s.children {
		select {
		case <-old.Done():
			delete(s.children, old)
		default:
		}
	}
	s.children[c] = true
}

// Close ends every process and gives everything back.
func (s *Space) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.starting.Wait() // from here on nobody else has the children
	for c := range s.children {
		c.End(harness.ExitCancelled)
	}
	for c := range s.children {
		<-c.Done()
	}
	s.thread.close()
	return errors.Join(s.group.Close(), s.Tree.Close())
}

// Env joins environments, later entries win, and adds PWD, as a shell does,
// unless it is given.
func Env(dir string, envs ...[]string) []string {
	all := slices.Concat(append([][]string{{"PWD=" + dir}}, envs...)...)
	seen := map[string]bool{}
	var out []string
	for _, e := range slices.Backward(all) {
		name, _, _ := strings.Cut(e, "=")
		if !seen[name] {
			seen[name] = true
			out = append(out, e)
		}
	}
	slices.Reverse(out)
	return out
}
