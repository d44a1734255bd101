package landlock

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"harness"
	"harness/internal/temp"
	"harness/sandbox/internal/cgroup"
	"harness/sandbox/internal/promise"
	"harness/sandbox/internal/run"
	"harness/sandbox/internal/seccomp"
	"harness/sandbox/internal/shim"
	"harness/sandbox/internal/space"
)

// system is what every process may read and execute. /proc shows itself and
// counters; what belongs to other processes is refused by Landlock's own rules.
var system = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/proc",
	"/etc/alternatives", "/etc/ca-certificates", "/etc/gitconfig", "/etc/group", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
	"/etc/localtime", "/etc/mime.types", "/etc/nsswitch.conf", "/etc/os-release", "/etc/passwd", "/etc/pki", "/etc/profile", "/etc/protocols",
	"/etc/services", "/etc/shells", "/etc/ssl", "/etc/terminfo", "/etc/timezone", "/etc/bash.bashrc", "/etc/hosts", "/etc/resolv.conf",
}

// devices may be read and written.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"}

// signalScope is the version of Landlock that keeps signals in.
const signalScope = 6

// Sandbox restricts processes in place.
type Sandbox struct {
	shim string
	root func() *cgroup.Root
}

// New returns the sandbox. Whether it works is for Probe to find out.
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

// Probe runs a process under the real restrictions and sees that they bite.
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
	c, err := w.Start(ctx, harness.Process{Args: []string{"/bin/sh", "-c", "echo >ok && ! echo >" + dir.Path + "-no && exit 7"}, Stderr: &said})
	if err != nil {
		return harness.Isolation{}, err
	}
	if exit, err := c.Wait(); err != nil || exit.Code != 7 {
		_ = os.Remove(dir.Path + "-no")
		return harness.Isolation{}, fmt.Errorf("landlock: a process under it ended with %d, want 7: %w %s", exit.Code, err, bytes.TrimSpace(said.Bytes()))
	}
	return w.Isolation(), nil
}

// Open opens a workspace. It gets a directory for temporary files, which is
// TMPDIR unless the spec has one.
func (s *Sandbox) Open(_ context.Context, spec harness.WorkspaceSpec) (harness.Workspace, error) {
	abi, err := shim.ABI()
	if err != nil {
		return nil, err
	}
	scratch, err := temp.New()
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(spec.Env, func(e string) bool { return strings.HasPrefix(e, "TMPDIR=") }) {
		spec.Env = append(slices.Clone(spec.Env), "TMPDIR="+scratch.Path)
	}
	sp, err := space.Open(spec, s.root())
	if err != nil {
		return nil, errors.Join(err, scratch.Remove())
	}
	return &workspace{Space: sp, sandbox: s, abi: abi, scratch: scratch}, nil
}

type workspace struct {
	*space.Space
	sandbox *Sandbox
	abi     int
	scratch *temp.Dir
}

func (w *workspace) Start(ctx context.Context, p harness.Process) (harness.Child, error) {
	return w.Space.Start(ctx, p, func(at space.Place) (run.Plan, error) {
		if err := w.View.Check(); err != nil {
			return run.Plan{}, err
		}
		return shim.Launch(w.sandbox.shim, shim.Plan{
			Args: p.Args, Env: at.Env, Dir: at.Dir, Cgroup: at.Cgroup,
			Landlock: &shim.Rules{
				Read:  slices.Concat(system, w.View.ReadOnly),
				Write: slices.Concat(devices, w.Spec.Sockets, w.View.Writable, []string{w.Spec.Directory, w.scratch.Path}),
			},
			Seccomp:  &seccomp.Policy{NoInet: !w.Spec.Network, NoUnix: !w.Spec.Network && len(w.Spec.Sockets) == 0},
			DropCaps: true,
		}, at.FD, at.Begin)
	})
}

func (w *workspace) Close() error { return errors.Join(w.Space.Close(), w.scratch.Remove()) }

func (w *workspace) Isolation() harness.Isolation {
	broken := space.Broken(w.sandbox.root())
	if w.Spec.Network {
		broken[harness.GuardNetwork] = "the workspace asked for the network"
	}
	if w.Spec.Network || len(w.Spec.Sockets) > 0 {
		broken[harness.GuardSockets] = "a filter cannot tell one socket from another"
	}
	if w.abi < signalScope {
		broken[harness.GuardProcesses] = fmt.Sprintf("Landlock has version %d here, signals need %d", w.abi, signalScope)
	}
	return promise.Isolation("landlock", Promises(), broken)
}
