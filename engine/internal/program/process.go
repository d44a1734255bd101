package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"time"

	"harness"
	"harness/internal/temp"
)

// Launch is how a process is to be started.
type Launch struct {
	Session   harness.SessionID
	Directory string
	Home      *Home    // the program's own directory, which it may write; one process at a time
	Args      []string // of which the first is the program
	// Env is the whole environment but for Options.Env. Without a TMPDIR the
	// program has a temporary directory of its own, which a socket fits in: the
	// sandbox's, or one that is removed when it has ended.
	Env []string
	// Why is what the sandbox notice says besides what holds.
	Why func(harness.Isolation) string
	// Acts reports whether a line that nobody listens to shows the program at
	// work, so that it is not fit for another turn.
	Acts func(line []byte) bool
}

// Process is a run of a program.
type Process struct {
	Notice harness.SandboxNotice
	Work   harness.Workspace // where it runs
	Kept   any               // what its engine knows about it
	Serial int               // of requests to it; its owner counts
	Worked bool              // it has run commands since somebody looked for what they left

	pid  int
	own  map[int]bool // its processes before it ran any command
	acts func([]byte) bool
	out  *outbox

	mu       sync.Mutex // guards what follows
	listener *Listener
	unheard  bool // it did something while nobody listened

	end  context.CancelFunc
	Dead chan struct{} // closed when everything is gone
	exit harness.Exit  // of a dead one, as is what follows
	err  error
	errs Tail
}

// Listener is who hears what a process prints.
type Listener struct {
	Lines chan Line
	gone  chan struct{} // closed when nobody hears any more
}

// NewListener is somebody who can hear one process.
func NewListener() *Listener {
	return &Listener{Lines: make(chan Line), gone: make(chan struct{})}
}

// Line is what a process printed, or why it cannot be heard.
type Line struct {
	Bytes []byte
	Err   error
}

// Start starts a program. ear hears it from its first word.
func (o *Options) Start(l Launch, ear *Listener) (*Process, error) {
	program, err := exec.LookPath(l.Args[0])
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return nil, fmt.Errorf("find the program: %w", err)
	}
	letGo, err := l.Home.hold()
	if err != nil {
		return nil, err
	}
	var fit harness.Outfit
	if o.Outfit != nil {
		if fit, err = o.Outfit(l.Session); err != nil {
			letGo()
			return nil, err
		}
	}
	spec := harness.WorkspaceSpec{
		Session: l.Session, Directory: l.Directory, ReadOnly: slices.Concat([]string{program}, o.ReadOnly, fit.ReadOnly), Hidden: o.Hidden,
		Sockets: slices.Concat(o.Sockets, fit.Sockets), Network: o.Network, Env: slices.Concat(l.Env, o.Env, fit.Env), Limits: o.Limits,
		Writable: []string{l.Home.Path},
	}
	run := harness.Process{Args: slices.Concat([]string{program}, l.Args[1:])}
	if fit.Wrap != nil {
		run.Args = fit.Wrap(run.Args)
	}
	p := &Process{listener: ear, acts: l.Acts, Dead: make(chan struct{})}
	started := make(chan error)
	var alive sync.WaitGroup // Dead says that it is done
	alive.Go(func() {
		pprof.SetGoroutineLabels(context.Background()) // it outlives the turn that starts it
		defer close(p.Dead)
		defer letGo()
		if fit.Close != nil {
			defer fit.Close()
		}
		p.keep(o, l, spec, run, started)
	})
	if err := <-started; err != nil {
		<-p.Dead
		return nil, err
	}
	return p, nil
}

// keep runs the program to its end. It reports whether it started.
func (p *Process) keep(o *Options, l Launch, spec harness.WorkspaceSpec, run harness.Process, started chan<- error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p.end = cancel
	work, err := o.Sandbox.Open(ctx, spec)
	if err != nil {
		started <- err
		return
	}
	p.Work, p.Notice = work, describe(o.Notice, work.Isolation(), l.Why(work.Isolation()))
	if !slices.ContainsFunc(spec.Env, isTemp) && !slices.Contains(work.Isolation().Enforces, harness.GuardWrite) {
		scratch, err := temp.New()
		if err != nil {
			started <- errors.Join(err, work.Close())
			return
		}
		defer func() { p.err = errors.Join(p.err, scratch.Remove()) }()
		run.Env = append(run.Env, "TMPDIR="+scratch.Path)
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		started <- errors.Join(err, work.Close())
		return
	}
	p.out = newOutbox(ours)
	out := &Lines{Max: o.MaxLine, Take: p.deliver}
	run.Stdin, run.Stdout, run.Stderr = theirs, out, &p.errs
	child, err := work.Start(ctx, run)
	theirs.Close()
	if err != nil {
		started <- errors.Join(err, ours.Close(), work.Close())
		return
	}
	p.pid = child.Ref().PID
	started <- nil
	ended := make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() { p.speak(ended) })
	p.exit, p.err = child.Wait()
	out.End()
	close(ended)
	p.out.cut()
	telling.Wait()
	p.err = errors.Join(p.err, work.Close())
}

func isTemp(e string) bool { return strings.HasPrefix(e, "TMPDIR=") }

// deliver hands a line to whoever listens, and waits for it to be taken. Its
// callers are the goroutines that read the program's output, and tell it things.
func (p *Process) deliver(b []byte, err error) {
	p.mu.Lock()
	l := p.listener
	if l == nil && (err != nil || p.acts(b)) {
		p.unheard = true
	}
	p.mu.Unlock()
	if l == nil {
		return
	}
	select {
	case l.Lines <- Line{b, err}:
	case <-l.gone:
	}
}

// Listen makes ear the one who hears, nil for nobody.
func (p *Process) Listen(ear *Listener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		close(p.listener.gone)
	}
	p.listener = ear
}

// Ready notes that the program has not run commands yet: what is there now is
// its own.
func (p *Process) Ready() {
	if p.own == nil {
		p.own, _ = tree(p.pid)
	}
}

// Reusable reports whether another turn may have the process. It has run no
// command whose processes are still there: a turn's processes end with it.
func (p *Process) Reusable() bool {
	select {
	case <-p.Dead:
		return false
	default:
	}
	p.mu.Lock()
	unheard := p.unheard
	p.mu.Unlock()
	return !unheard && !p.strays()
}

func (p *Process) strays() bool {
	if !p.Worked {
		return false
	}
	now, ok := tree(p.pid)
	if !ok || p.own == nil {
		return true
	}
	for pid := range now {
		if !p.own[pid] {
			return true
		}
	}
	p.Worked = false
	return false
}

// Farewell is how long an idle program may take to end by itself.
const Farewell = 3 * time.Second

// Stop lets the program end, or else kills it, and returns when its tree is gone.
func (p *Process) Stop() {
	p.out.hangUp()
	t := time.NewTimer(Farewell)
	defer t.Stop()
	select {
	case <-p.Dead:
	case <-t.C:
		p.Kill()
	}
}

// Kill kills the program and returns when its tree is gone.
func (p *Process) Kill() {
	p.end()
	<-p.Dead
}

// Fate says how a process that is dead ended.
func (p *Process) Fate() string {
	s := fmt.Sprintf("the program ended with %d", p.exit.Code)
	if p.exit.Cause != "" {
		s += " (" + string(p.exit.Cause) + ")"
	}
	if said := p.errs.String(); said != "" {
		s += ": " + said
	}
	if p.err != nil {
		s += ": " + p.err.Error()
	}
	return s
}
