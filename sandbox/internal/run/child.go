// Package run watches over one process of a sandbox: its streams, its limits
// and its end. How a tree is killed and how one knows that it is gone is the
// sandbox's business; when, and what Wait says, is this package's.
package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"harness"
)

// Plan is a process that is about to start.
type Plan struct {
	Cmd     *exec.Cmd // without streams
	Process harness.Process
	Limits  harness.Limits

	// Start starts Cmd; nil is Cmd.Start. If it fails it has given back what the
	// plan holds.
	Start func() error
	// Drop gives back what the plan holds if Start is never called; nil holds
	// nothing.
	Drop func()
	// Ready is called after Start and before Process.Before, while the process
	// is held. If it fails, the tree is killed.
	Ready func() error
	// Release lets the process run.
	Release func() error
	// Terminate asks the process to end.
	Terminate func()
	// Kill kills the tree. It may be called again and must work at any time
	// after Start.
	Kill func()
	// Gone returns when the tree has ended, after Cmd has; its error becomes Wait's.
	Gone func() error
	// MemoryKills counts kills for lack of memory; nil is none.
	MemoryKills func() int
	// Handle is what Ref says besides the process.
	Handle string
	// Started finds the start time of a process; nil if the system has none.
	Started func(pid int) uint64
}

// Child is a process that runs.
type Child struct {
	plan Plan
	ref  harness.ProcessRef
	kill chan struct{} // closed when the tree must end

	mu    sync.Mutex // guards cause
	cause harness.ExitCause
	ended bool // guarded by mu: the cause is final

	done chan struct{} // closed when exit and err are set
	exit harness.Exit
	err  error
}

// Start starts the process. ctx ends it.
func Start(ctx context.Context, p Plan) (*Child, error) {
	c := &Child{plan: p, kill: make(chan struct{}), done: make(chan struct{})}
	var s *streams
	err := ctx.Err()
	if err == nil {
		s, err = c.connect()
	}
	if err != nil {
		if p.Drop != nil {
			p.Drop()
		}
		return nil, err
	}
	start := p.Start
	if start == nil {
		start = p.Cmd.Start
	}
	memoryKills := 0
	if p.MemoryKills != nil {
		memoryKills = p.MemoryKills()
	}
	if err := start(); err != nil {
		s.closeAll()
		return nil, fmt.Errorf("start %q: %w", p.Process.Args[0], err)
	}
	s.closeTheirs()
	c.ref = harness.ProcessRef{PID: p.Cmd.Process.Pid, Handle: p.Handle}
	if p.Started != nil {
		c.ref.Started = p.Started(c.ref.PID)
	}
	err = c.hold()
	if err != nil {
		p.Kill()
	}
	s.copy()
	go c.watch(ctx, s, memoryKills)
	if err != nil {
		<-c.done
		return nil, fmt.Errorf("start %q: %w", p.Process.Args[0], errors.Join(err, c.err))
	}
	return c, nil
}

// hold does what must happen between the start and the first instruction.
func (c *Child) hold() error {
	if c.plan.Ready != nil {
		if err := c.plan.Ready(); err != nil {
			return err
		}
	}
	if c.plan.Process.Before != nil {
		if err := c.plan.Process.Before(c.ref); err != nil {
			return err
		}
	}
	if c.plan.Release != nil {
		return c.plan.Release()
	}
	return nil
}

// Ref names the process.
func (c *Child) Ref() harness.ProcessRef { return c.ref }

// Done is closed when Wait returns.
func (c *Child) Done() <-chan struct{} { return c.done }

// Wait returns when the tree is gone.
func (c *Child) Wait() (harness.Exit, error) {
	<-c.done
	return c.exit, c.err
}

// End makes the tree end for a reason. The first reason counts.
func (c *Child) End(why harness.ExitCause) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == "" && !c.ended {
		c.cause = why
		close(c.kill)
	}
}

// watch ends the tree when it must, and says how it ended.
func (c *Child) watch(ctx context.Context, s *streams, memoryKills int) {
	defer close(c.done)
	ended := make(chan struct{})
	var enforcer sync.WaitGroup
	enforcer.Go(func() { c.enforce(ctx, ended) })

	err := c.plan.Cmd.Wait()
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	close(ended)
	enforcer.Wait()
	gone := c.plan.Gone()
	s.finish()

	c.exit = harness.Exit{Code: code(c.plan.Cmd.ProcessState), Cause: c.cause}
	if c.plan.MemoryKills != nil && c.exit.Cause == "" && c.plan.MemoryKills() > memoryKills {
		c.exit.Cause = harness.ExitMemory
	}
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		gone = errors.Join(err, gone)
	}
	c.err = gone
}

// enforce kills the tree when the context, a limit or End says so.
func (c *Child) enforce(ctx context.Context, ended <-chan struct{}) {
	var wall <-chan time.Time
	if c.plan.Limits.WallTime > 0 {
		t := time.NewTimer(c.plan.Limits.WallTime)
		defer t.Stop()
		wall = t.C
	}
	select {
	case <-ended:
		return
	case <-ctx.Done():
		c.End(harness.ExitCancelled)
	case <-wall:
		c.End(harness.ExitWallTime)
	case <-c.kill:
	}
	if c.plan.Process.Grace > 0 && c.plan.Terminate != nil {
		c.plan.Terminate()
		t := time.NewTimer(c.plan.Process.Grace)
		defer t.Stop()
		select {
		case <-ended:
			return
		case <-t.C:
		}
	}
	c.plan.Kill()
}

// code is the exit code as a shell has it.
func code(s *os.ProcessState) int {
	if s == nil {
		return -1
	}
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
