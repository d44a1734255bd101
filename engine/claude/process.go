package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"harness"
	"harness/engine/internal/program"
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
	errs program.Tail
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
