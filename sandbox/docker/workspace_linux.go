package docker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"harness"
	"harness/internal/temp"
	"harness/sandbox/internal/cover"
	"harness/sandbox/internal/files"
	"harness/sandbox/internal/pins"
	"harness/sandbox/internal/promise"
	"harness/sandbox/internal/run"
	"harness/sandbox/internal/seccomp"
	"harness/sandbox/internal/shim"
	"harness/sandbox/internal/space"
	"harness/sandbox/internal/view"
)

type workspace struct {
	*files.Tree
	sandbox *Sandbox
	client  []string
	spec    harness.WorkspaceSpec
	view    *view.View
	pins    *pins.Pins
	cover   *cover.Cover
	scratch *temp.Dir // where the engine's clients run

	starting sync.Mutex // held while a container is made, and over the fields below
	closed   bool
	idle     *time.Timer

	mu        sync.Mutex // guards what follows; taken after starting
	container *container
	children  map[*run.Child]bool
}

func newWorkspace(s *Sandbox, spec harness.WorkspaceSpec, tree *files.Tree, pinned *pins.Pins, scratch *temp.Dir) *workspace {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &workspace{Tree: tree, sandbox: s, client: s.client, spec: spec, pins: pinned, scratch: scratch, children: map[*run.Child]bool{}}
}

// healthy returns the container, or a new one if it does not answer. The caller
// holds starting.
func (w *workspace) healthy(ctx context.Context) (*container, error) {
	if c := w.container; c != nil {
		if _, err := c.ping(ctx); err == nil {
			return c, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		_ = c.stop() // it is not; whoever runs in it has lost it
		w.setContainer(nil)
	}
	options, err := w.options()
	if err != nil {
		return nil, err
	}
	c, _, err := start(ctx, w.client, w.scratch.Path, options, w.sandbox.opts.Image)
	if err != nil {
		return nil, err
	}
	w.setContainer(c)
	return c, nil
}

func (w *workspace) setContainer(c *container) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.container = c
}

// maxPlan is below what the kernel takes for one variable.
const maxPlan = 120 << 10

// Start runs a process in the container.
func (w *workspace) Start(ctx context.Context, p harness.Process) (harness.Child, error) {
	if len(p.Args) == 0 {
		return nil, errors.New("start: no command")
	}
	dir, err := w.dir(p.Dir)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w.starting.Lock()
	defer w.starting.Unlock()
	if w.closed {
		return nil, fmt.Errorf("start: workspace: %w", os.ErrClosed)
	}
	if w.idle != nil {
		w.idle.Stop()
	}
	c, err := w.healthy(ctx)
	if err != nil {
		return nil, err
	}
	defer w.rest()
	variable, err := (&shim.Plan{Args: p.Args, Env: space.Env(dir, w.spec.Env, p.Env), Dir: dir, Seccomp: &seccomp.Policy{}, DropCaps: true}).Variable()
	if err != nil {
		return nil, err
	}
	if len(variable) > maxPlan {
		return nil, fmt.Errorf("start %q: %w: command line and environment", p.Args[0], syscall.E2BIG)
	}
	if p.Before != nil {
		pid := c.cmd.Process.Pid
		if err := p.Before(harness.ProcessRef{PID: pid, Started: shim.Started(pid), Handle: c.name}); err != nil {
			return nil, fmt.Errorf("start %q: %w", p.Args[0], err)
		}
		p.Before = nil
	}
	child, err := run.Start(ctx, w.plan(c, p, variable))
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.children[child] = true
	w.mu.Unlock()
	return child, nil
}

// plan says how to run and end a command in a container.
func (w *workspace) plan(c *container, p harness.Process, variable string) run.Plan {
	id := rand.Text()
	cmd := command(context.Background(), c.client, "exec", "-i", "-e", shim.PlanVariable, c.name, inside, "exec", id)
	cmd.Dir = c.dir
	cmd.Env = append(cmd.Environ(), variable) // not in the command line, which everybody can read
	plan := run.Plan{
		Cmd: cmd, Process: p, Limits: w.spec.Limits, Handle: c.name, Started: shim.Started,
		Terminate: func() { c.order(shim.WordTerminate, id) },
		Kill: func() {
			// The command may not have reached the container yet, so one order
			// is not enough: the client ends when its command has.
			for deadline := time.Now().Add(killPatience); c.kill(id) && time.Now().Before(deadline); {
				if shim.Ended(cmd.Process, 50*time.Millisecond) {
					return
				}
			}
			_ = c.stop()
			_ = cmd.Process.Kill()
		},
		Gone: func() error {
			if !c.kill(id) {
				_ = c.stop()
			}
			w.starting.Lock()
			defer w.starting.Unlock()
			w.rest()
			return w.pins.Clean()
		},
	}
	plan.MemoryKills = func() int {
		p, err := c.ping(context.Background())
		if err != nil {
			return 0
		}
		return p.MemoryKills
	}
	return plan
}

// rest forgets the children that are gone and stops the container when there
// have been none for a while. The caller holds starting.
func (w *workspace) rest() {
	if w.closed {
		return
	}
	if w.idle != nil {
		w.idle.Stop()
	}
	w.idle = time.AfterFunc(w.sandbox.opts.Idle, w.stopIdle)
}

func (w *workspace) stopIdle() {
	w.starting.Lock()
	defer w.starting.Unlock()
	w.mu.Lock()
	for c := range w.children {
		select {
		case <-c.Done():
			delete(w.children, c)
		default:
		}
	}
	c, busy := w.container, len(w.children) > 0
	w.mu.Unlock()
	if w.closed || c == nil || busy {
		return
	}
	_ = c.stop()
	w.setContainer(nil)
}

// Close ends every process and the container.
func (w *workspace) Close() error {
	w.starting.Lock()
	if w.closed {
		w.starting.Unlock()
		return nil
	}
	w.closed = true
	if w.idle != nil {
		w.idle.Stop()
	}
	w.starting.Unlock()
	for c := range w.children { // nobody else has them any more
		c.End(harness.ExitCancelled)
	}
	for c := range w.children {
		<-c.Done()
	}
	var err error
	if w.container != nil {
		err = w.container.stop()
	}
	return errors.Join(err, w.pins.Clean(), w.cover.Close(), w.Tree.Close(), w.scratch.Remove())
}

// dir returns the absolute form of a directory of the workspace.
func (w *workspace) dir(rel string) (string, error) {
	if rel == "" {
		rel = "."
	}
	info, err := fs.Stat(w.Tree, rel)
	switch {
	case err != nil:
		return "", fmt.Errorf("start in %q: %w", rel, err)
	case !info.IsDir():
		return "", fmt.Errorf("start in %q: %w", rel, syscall.ENOTDIR)
	}
	return filepath.Join(w.spec.Directory, rel), nil
}

func (w *workspace) Isolation() harness.Isolation {
	broken := map[harness.Guarantee]string{}
	if w.pins.Broken != "" {
		broken[harness.GuardGit] = w.pins.Broken
	}
	if w.cover.Broken != "" {
		broken[harness.GuardHidden] = w.cover.Broken
	}
	if w.spec.Network {
		broken[harness.GuardNetwork] = "the workspace asked for the network"
		broken[harness.GuardSockets] = "abstract sockets belong to the network"
	}
	w.sandbox.mu.Lock()
	limits := w.sandbox.limits
	w.sandbox.mu.Unlock()
	if limits.Pids != probeLimits.Pids {
		broken[harness.LimitPids] = "the engine sets no limit of processes"
	}
	if limits.Memory != probeLimits.Memory {
		broken[harness.LimitMemory] = "the engine sets no limit of memory"
	}
	return promise.Isolation("container", Promises(), broken)
}
