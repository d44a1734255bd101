package bwrap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"harness"
	"harness/internal/temp"
	"harness/sandbox/internal/cgroup"
	"harness/sandbox/internal/cover"
	"harness/sandbox/internal/pins"
	"harness/sandbox/internal/promise"
	"harness/sandbox/internal/run"
	"harness/sandbox/internal/seccomp"
	"harness/sandbox/internal/space"
)

// Sandbox makes workspaces in namespaces.
type Sandbox struct {
	program string
	root    func() *cgroup.Root
	filter  []byte
	version func() ([3]int, error)
}

// New returns the sandbox. Whether it works is for Probe to find out.
func New(opts *Options) *Sandbox {
	s := &Sandbox{root: sync.OnceValue(cgroup.Find)}
	if opts != nil {
		s.program = opts.Program
		if opts.NoCgroup {
			s.root = func() *cgroup.Root { return &cgroup.Root{} }
		}
	}
	for _, dir := range []string{"/usr/bin", "/bin", "/usr/local/bin"} {
		if p := filepath.Join(dir, "bwrap"); s.program == "" && exists(p) {
			s.program = p
		}
	}
	if f, err := seccomp.Filter(seccomp.Policy{}); err == nil {
		s.filter = seccomp.Bytes(f)
	}
	s.version = sync.OnceValues(s.readVersion)
	return s
}

func (s *Sandbox) readVersion() (v [3]int, err error) {
	if s.program == "" {
		return v, errors.New("bwrap: bubblewrap is not installed")
	}
	out, err := exec.Command(s.program, "--version").Output()
	if err != nil {
		return v, fmt.Errorf("bwrap: ask for its version: %w", err)
	}
	m := regexp.MustCompile(`(\d+)\.(\d+)\.(\d+)`).FindSubmatch(out)
	if m == nil {
		return v, fmt.Errorf("bwrap: no version in %q", out)
	}
	for i := range v {
		v[i], _ = strconv.Atoi(string(m[i+1]))
	}
	return v, nil
}

// disableUserns is the first version that can forbid nested user namespaces.
// The system call filter forbids them, too.
var disableUserns = [3]int{0, 8, 0}

// Probe runs a process under the real profile.
func (s *Sandbox) Probe(ctx context.Context) (harness.Isolation, error) {
	if s.filter == nil {
		_, err := seccomp.Filter(seccomp.Policy{})
		return harness.Isolation{}, err
	}
	dir, err := temp.New()
	if err != nil {
		return harness.Isolation{}, err
	}
	defer dir.Remove()
	w, err := s.Open(ctx, harness.WorkspaceSpec{Directory: dir.Path, Hidden: []string{"hidden"}})
	if err != nil {
		return harness.Isolation{}, err
	}
	defer w.Close()
	var said bytes.Buffer
	c, err := w.Start(ctx, harness.Process{Args: []string{"/bin/sh", "-c", "echo >ok && ! (echo >hidden/no) 2>/dev/null && exit 7"}, Stderr: &said})
	if err != nil {
		return harness.Isolation{}, fmt.Errorf("bwrap: %w %s", err, bytes.TrimSpace(said.Bytes()))
	}
	if exit, err := c.Wait(); err != nil || exit.Code != 7 {
		return harness.Isolation{}, fmt.Errorf("bwrap: a process under it ended with %d, want 7: %w %s", exit.Code, err, bytes.TrimSpace(said.Bytes()))
	}
	return w.Isolation(), nil
}

// Open opens a workspace, pins its repositories and covers what is hidden.
func (s *Sandbox) Open(_ context.Context, spec harness.WorkspaceSpec) (harness.Workspace, error) {
	version, err := s.version()
	if err != nil {
		return nil, err
	}
	// bwrap follows links in what it mounts, so there must be none.
	if spec.Directory, err = filepath.EvalSymlinks(spec.Directory); err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	sp, err := space.Open(spec, s.root())
	if err != nil {
		return nil, err
	}
	pinned, err := pins.Find(spec.Directory, sp.View.Hidden...)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("pin repositories: %w", err), sp.Close())
	}
	covered, err := cover.New(spec.Directory, sp.View, pinned)
	if err != nil {
		return nil, errors.Join(err, sp.Close())
	}
	return &workspace{Space: sp, sandbox: s, pins: pinned, cover: covered, noUserns: slices.Compare(version[:], disableUserns[:]) >= 0}, nil
}

type workspace struct {
	*space.Space
	sandbox  *Sandbox
	pins     *pins.Pins
	cover    *cover.Cover
	noUserns bool
}

func (w *workspace) Start(ctx context.Context, p harness.Process) (harness.Child, error) {
	return w.Space.Start(ctx, p, func(at space.Place) (run.Plan, error) {
		mounts, err := w.pins.Current()
		if err != nil {
			return run.Plan{}, err
		}
		covers, err := w.cover.Mounts()
		if err != nil {
			return run.Plan{}, err
		}
		return w.launch(p.Args, w.profile(mounts, covers, at.Dir, at.Env), at)
	})
}

func (w *workspace) Close() error {
	return errors.Join(w.Space.Close(), w.pins.Clean(), w.cover.Close())
}

func (w *workspace) Isolation() harness.Isolation {
	broken := space.Broken(w.sandbox.root())
	if w.pins.Broken != "" {
		broken[harness.GuardGit] = w.pins.Broken
	}
	if w.cover.Broken != "" {
		broken[harness.GuardHidden] = w.cover.Broken
	}
	if w.Spec.Network {
		broken[harness.GuardNetwork] = "the workspace asked for the network"
		broken[harness.GuardSockets] = "abstract sockets belong to the network"
	}
	return promise.Isolation("namespaces", Promises(), broken)
}
