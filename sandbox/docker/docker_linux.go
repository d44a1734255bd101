package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"harness"
	"harness/internal/temp"
	"harness/sandbox/internal/cover"
	"harness/sandbox/internal/files"
	"harness/sandbox/internal/pins"
	"harness/sandbox/internal/proc"
	"harness/sandbox/internal/shim"
	"harness/sandbox/internal/view"
)

// Sandbox makes a container for each workspace.
type Sandbox struct {
	opts Options

	mu     sync.Mutex // guards what follows, which Probe finds out
	client []string
	limits shim.Pong
}

// New returns the sandbox. Whether it works is for Probe to find out.
func New(opts *Options) *Sandbox {
	s := &Sandbox{}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Shim == "" {
		s.opts.Shim, _ = os.Executable()
	}
	if s.opts.Idle == 0 {
		s.opts.Idle = 10 * time.Minute
	}
	return s
}

// Limits that Probe asks for, to see whether the engine sets them.
var probeLimits = harness.Limits{Pids: 256, Memory: 256 << 20}

// Probe makes a container, runs a process in it, and removes what earlier
// processes have left.
func (s *Sandbox) Probe(ctx context.Context) (harness.Isolation, error) {
	if s.opts.Image == "" {
		return harness.Isolation{}, errors.New("docker: no image is configured")
	}
	client, err := s.find(ctx)
	if err != nil {
		return harness.Isolation{}, err
	}
	dir, err := temp.New()
	if err != nil {
		return harness.Isolation{}, err
	}
	defer dir.Remove()
	s.mu.Lock()
	s.client = client
	s.mu.Unlock()
	w, err := s.open(harness.WorkspaceSpec{Directory: dir.Path, Limits: probeLimits})
	if err != nil {
		return harness.Isolation{}, err
	}
	defer w.Close()
	var out, said bytes.Buffer
	c, err := w.Start(ctx, harness.Process{Args: []string{inside}, Stdout: &out, Stderr: &said}) // which ends with an error: it has no plan
	if err != nil {
		return harness.Isolation{}, fmt.Errorf("docker: %w", err)
	}
	if exit, err := c.Wait(); err != nil || exit.Code != 126 {
		return harness.Isolation{}, fmt.Errorf("docker: a process ended with %d, want 126: %w %s", exit.Code, err, bytes.TrimSpace(said.Bytes()))
	}
	limits, err := w.container.ping(ctx)
	if err != nil {
		return harness.Isolation{}, fmt.Errorf("docker: %w", err)
	}
	s.mu.Lock()
	s.limits = limits
	s.mu.Unlock()
	return w.Isolation(), nil
}

// find returns the client that works and removes containers whose makers are dead.
func (s *Sandbox) find(ctx context.Context) ([]string, error) {
	clients := [][]string{{"docker"}, {"podman"}}
	if len(s.opts.Command) > 0 {
		clients = [][]string{s.opts.Command}
	}
	var errs []error
	for _, client := range clients {
		if _, err := exec.LookPath(client[0]); err != nil {
			errs = append(errs, err)
			continue
		}
		out, err := command(ctx, client, "ps", "-a", "--filter", "name=^"+prefix, "--format", "{{.Names}}").Output()
		if err != nil {
			if failed, ok := errors.AsType[*exec.ExitError](err); ok {
				err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(failed.Stderr))
			}
			errs = append(errs, fmt.Errorf("%s: %w", client[0], err))
			continue
		}
		for name := range strings.FieldsSeq(string(out)) {
			f := strings.Split(strings.TrimPrefix(name, prefix), "-")
			pid, _ := strconv.Atoi(f[0])
			if started, err := strconv.ParseUint(f[min(1, len(f)-1)], 10, 64); len(f) == 3 && err == nil && !proc.Alive(pid, started) {
				_ = command(ctx, client, "rm", "-f", name).Run()
			}
		}
		return client, nil
	}
	return nil, fmt.Errorf("docker: no engine: %w", errors.Join(errs...))
}

// Open opens a workspace. Its container is made when it is needed.
func (s *Sandbox) Open(ctx context.Context, spec harness.WorkspaceSpec) (harness.Workspace, error) {
	s.mu.Lock()
	known := s.client != nil
	s.mu.Unlock()
	if !known {
		client, err := s.find(ctx)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		s.client = client
		s.mu.Unlock()
	}
	return s.open(spec)
}

func (s *Sandbox) open(spec harness.WorkspaceSpec) (*workspace, error) {
	var err error
	if spec.Directory, err = filepath.EvalSymlinks(spec.Directory); err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	seen, err := view.Of(spec)
	if err != nil {
		return nil, err
	}
	tree, err := files.Open(spec.Directory, seen)
	if err != nil {
		return nil, err
	}
	pinned, err := pins.Find(spec.Directory, seen.Hidden...)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("pin repositories: %w", err), tree.Close())
	}
	covered, err := cover.New(spec.Directory, seen, pinned)
	if err != nil {
		return nil, errors.Join(err, tree.Close())
	}
	scratch, err := temp.New()
	if err != nil {
		return nil, errors.Join(err, covered.Close(), tree.Close())
	}
	w := newWorkspace(s, spec, tree, pinned, scratch)
	w.view, w.cover = seen, covered
	return w, nil
}

// options returns the options of run for a workspace.
func (w *workspace) options() ([]string, error) {
	var owner syscall.Stat_t
	if err := syscall.Stat(w.spec.Directory, &owner); err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	args := []string{
		"--pull", "never", "--log-driver", "none", "--hostname", "sandbox",
		"--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--security-opt", "label=disable",
		"--read-only", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp",
		"--ulimit", "nofile=4096:4096", "--ulimit", "nproc=8192:8192", // engines otherwise raise them, which not everybody may
		"--user", fmt.Sprintf("%d:%d", owner.Uid, owner.Gid), // who may write there
	}
	network := "none"
	if w.spec.Network {
		network = "host"
	}
	args = append(args, "--network", network)
	if n := w.spec.Limits.Pids; n > 0 {
		args = append(args, "--pids-limit", strconv.Itoa(n))
	}
	if n := w.spec.Limits.Memory; n > 0 {
		args = append(args, "--memory", strconv.FormatInt(n, 10)+"b", "--memory-swap", strconv.FormatInt(n, 10)+"b")
	}
	mounts, err := w.pins.Current()
	if err != nil {
		return nil, err
	}
	covers, err := w.cover.Mounts()
	if err != nil {
		return nil, err
	}
	bind := func(from, to string, readOnly bool) {
		if strings.ContainsAny(from, ",\"\n") {
			err = fmt.Errorf("mount %q: the engine does not take such a name", from)
		}
		m := "type=bind,source=" + from + ",target=" + to
		if readOnly {
			m += ",readonly"
		}
		args = append(args, "--mount", m)
	}
	bind(w.sandbox.opts.Shim, inside, true)
	for _, p := range w.view.ReadOnly {
		bind(p, p, true)
	}
	for _, p := range w.cover.Elsewhere() {
		bind(p, p, false)
	}
	bind(w.spec.Directory, w.spec.Directory, false)
	for _, m := range append(mounts, covers...) {
		bind(m.Source(), m.Path, m.ReadOnly)
	}
	for _, p := range w.spec.Sockets {
		bind(p, p, true)
	}
	return args, err
}
