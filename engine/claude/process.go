package claude

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strconv"
	"sync"
	"time"

	"harness"
)

// process is a run of the program. Whoever has the session's slot owns it; what
// it prints goes to whoever listens.
type process struct {
	launch
	notice harness.SandboxNotice
	cost   float64 // of its turns so far
	tasks  int     // that it says run in the background
	pid    int
	own    map[int]bool // its processes before it ran any command
	worked bool         // it has run some since somebody looked

	write  sync.Mutex // guards what follows
	in     *os.File
	serial int // of requests

	mu       sync.Mutex // guards what follows
	listener *listener
	unheard  bool // it did something while nobody listened

	end  context.CancelFunc
	dead chan struct{} // closed when everything is gone, and the fields below are set
	exit harness.Exit
	err  error
	errs tail
}

// listener is who hears what a process prints.
type listener struct {
	lines chan line
	gone  chan struct{} // closed when nobody hears any more
}

// line is what a process printed, or why it cannot be heard.
type line struct {
	b   []byte
	err error
}

// start starts the program. ear hears it from its first word.
func (o *Options) start(l launch, ear *listener) (*process, error) {
	state, err := o.prepare(l.directory)
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
	spec := harness.WorkspaceSpec{
		Directory: l.directory, ReadOnly: append([]string{program}, o.ReadOnly...), Sockets: o.Sockets, Network: o.Network,
		Env: environ(state, o.Env), Limits: o.Limits,
	}
	run := harness.Process{Args: slices.Concat([]string{program}, o.Program[1:], l.args(o.Settings))}
	p := &process{launch: l, listener: ear, dead: make(chan struct{})}
	started := make(chan error)
	var alive sync.WaitGroup // dead says that it is done
	alive.Go(func() {
		pprof.SetGoroutineLabels(context.Background()) // it outlives the turn that starts it
		defer close(p.dead)
		p.keep(o, spec, run, started)
	})
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// prepare makes the program's own directory.
func (o *Options) prepare(directory string) (string, error) {
	if o.State != "" {
		return o.State, os.MkdirAll(o.State, 0o700)
	}
	root, err := os.OpenRoot(directory)
	if err != nil {
		return "", err
	}
	defer root.Close()
	const name = ".harness/claude"
	if err := root.MkdirAll(name, 0o700); err != nil {
		return "", err
	}
	return filepath.Join(directory, name), root.WriteFile(name+"/.gitignore", []byte("*\n"), 0o600)
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
	out := &lines{max: o.MaxLine, take: p.deliver}
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
	out.end()
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

// deliver hands a line to whoever listens, and waits for it to be taken. Its
// caller is the goroutine that reads the program's output.
func (p *process) deliver(b []byte, err error) {
	p.mu.Lock()
	l := p.listener
	if l == nil && (err != nil || acts(b)) {
		p.unheard = true
	}
	p.mu.Unlock()
	if l == nil {
		return
	}
	select {
	case l.lines <- line{b, err}:
	case <-l.gone:
	}
}

// acts reports whether a line shows the program at work, or cannot be read.
func acts(b []byte) bool {
	m, err := decode(b)
	switch m.(type) {
	case *streamed, *spoken, *request, *result:
		return true
	}
	return err != nil
}

func newListener() *listener {
	return &listener{lines: make(chan line), gone: make(chan struct{})}
}

// listen makes ear the one who hears, nil for nobody.
func (p *process) listen(ear *listener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		close(p.listener.gone)
	}
	p.listener = ear
}

// reusable reports whether another turn may have the process.
func (p *process) reusable() bool {
	select {
	case <-p.dead:
		return false
	default:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.unheard && p.tasks == 0 && !p.strays()
}

// strays reports whether commands have left processes behind, or nobody can
// know: a turn's processes end with the turn.
func (p *process) strays() bool {
	if !p.worked {
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
	p.worked = false
	return false
}

// patience is how long the program may take to read what it is told.
const patience = 30 * time.Second

// send tells the program something.
func (p *process) send(m any) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	p.write.Lock()
	defer p.write.Unlock()
	return p.put(b)
}

// put needs p.write.
func (p *process) put(b []byte) error {
	if p.in == nil {
		return os.ErrClosed
	}
	_ = p.in.SetWriteDeadline(time.Now().Add(patience))
	if _, err := p.in.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("tell the program: %w", err)
	}
	return nil
}

// request asks the program for something and returns the request's id.
func (p *process) request(body any) (string, error) {
	p.write.Lock()
	defer p.write.Unlock()
	p.serial++
	id := "h" + strconv.Itoa(p.serial)
	b, err := json.Marshal(control{Type: "control_request", RequestID: id, Request: body})
	if err != nil {
		return "", err
	}
	return id, p.put(b)
}

// hangUp closes the program's input.
func (p *process) hangUp() {
	p.write.Lock()
	defer p.write.Unlock()
	if p.in != nil {
		p.in.Close()
		p.in = nil
	}
}

// farewell is how long an idle program may take to end by itself.
const farewell = 3 * time.Second

// stop lets the program end, or else kills it, and returns when its tree is gone.
func (p *process) stop() {
	p.hangUp()
	t := time.NewTimer(farewell)
	defer t.Stop()
	select {
	case <-p.dead:
	case <-t.C:
		p.kill()
	}
}

// kill kills the program and returns when its tree is gone.
func (p *process) kill() {
	p.end()
	<-p.dead
	p.hangUp()
}

// fate says how a process that is dead ended.
func (p *process) fate() string {
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
