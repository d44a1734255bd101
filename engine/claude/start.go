package claude

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"sync"

	"harness"
	"harness/engine/internal/program"
)

// start starts the program. ear hears it from its first word.
func (o *Options) start(l launch, ear *listener) (*process, error) {
	state, err := o.prepare(l)
	if err != nil {
		return nil, err
	}
	program, err := exec.LookPath(o.Program[0])
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return nil, fmt.Errorf("find the program: %w", err)
	}
	var fit harness.Outfit
	if o.Outfit != nil {
		if fit, err = o.Outfit(l.session); err != nil {
			return nil, err
		}
	}
	spec := harness.WorkspaceSpec{
		Session: l.session, Directory: l.directory, ReadOnly: slices.Concat([]string{program}, o.ReadOnly, fit.ReadOnly), Sockets: slices.Concat(o.Sockets, fit.Sockets),
		Writable: []string{state}, Hidden: o.Hidden, Network: o.Network, Env: environ(state, slices.Concat(o.Env, fit.Env)), Limits: o.Limits,
	}
	run := harness.Process{Args: slices.Concat([]string{program}, o.Program[1:], l.args(o.Settings))}
	if fit.Wrap != nil {
		run.Args = fit.Wrap(run.Args)
	}
	p := &process{launch: l, listener: ear, dead: make(chan struct{})}
	started := make(chan error)
	var alive sync.WaitGroup // dead says that it is done
	alive.Go(func() {
		pprof.SetGoroutineLabels(context.Background()) // it outlives the turn that starts it
		defer close(p.dead)
		if fit.Close != nil {
			defer fit.Close()
		}
		p.keep(o, spec, run, started)
	})
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// keep runs the program to its end. It reports whether it started.
func (p *process) keep(o *Options, spec harness.WorkspaceSpec, run harness.Process, started chan<- error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p.end = cancel
	work, err := o.Sandbox.Open(ctx, spec)
	if err != nil {
		started <- err
		return
	}
	is := work.Isolation()
	p.notice = describe(o.Notice, is)
	if !slices.Contains(is.Enforces, harness.GuardWrite) { // else it has a place of its own
		temp, err := os.MkdirTemp("", "hc") // short: a socket must fit in
		if err != nil {
			started <- errors.Join(err, work.Close())
			return
		}
		defer os.RemoveAll(temp)
		run.Env = []string{"TMPDIR=" + temp}
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		started <- errors.Join(err, work.Close())
		return
	}
	p.in = ours
	out := &program.Lines{Max: o.MaxLine, Take: p.deliver}
	run.Stdin, run.Stdout, run.Stderr = theirs, out, &p.errs
	child, err := work.Start(ctx, run)
	theirs.Close()
	if err != nil {
		started <- errors.Join(err, ours.Close(), work.Close())
		return
	}
	p.pid = child.Ref().PID
	started <- nil
	p.exit, p.err = child.Wait()
	out.End()
	p.err = errors.Join(p.err, work.Close())
	p.hangUp()
}

// describe is a notice about where the program runs.
func describe(n harness.SandboxNotice, is harness.Isolation) harness.SandboxNotice {
	n.Isolation, n.Enforces, n.Lacks = is.Kind, nil, nil
	for _, g := range is.Enforces {
		n.Enforces = append(n.Enforces, string(g))
	}
	for _, g := range is.Lacks {
		n.Lacks = append(n.Lacks, string(g))
	}
	n.RequestedBackend, n.ResolvedBackend = cmp.Or(n.RequestedBackend, is.Kind), cmp.Or(n.ResolvedBackend, is.Kind)
	for _, why := range []string{is.Reason, "claude's own sandbox is off: this one is around it"} {
		if why != "" && n.Reason != "" {
			why = "; " + why
		}
		n.Reason += why
	}
	return n
}
