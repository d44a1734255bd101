package program

import (
	"fmt"
	"os"
	"sync"
	"time"

	"harness"
)

// patience is how long the program may take to read a line that it is told.
const patience = 30 * time.Second

// maxUnread bounds what waits to be read by the program: several of the longest
// messages. One that is longer waits alone.
const maxUnread = 64 << 20

// outbox is what the program is told. A goroutine of its own writes it, so that
// whoever tells can hear meanwhile: a program that prints a lot before it reads
// would not come to read otherwise.
type outbox struct {
	pipe *os.File

	mu     sync.Mutex // guards what follows
	change sync.Cond  // of it
	lines  [][]byte
	size   int   // of the lines, and of the one that is being written
	over   bool  // no more come
	err    error // why none are written any more
}

func newOutbox(pipe *os.File) *outbox {
	o := &outbox{pipe: pipe}
	o.change.L = &o.mu
	return o
}

// add takes a line over. It waits while too much is unread.
func (o *outbox) add(b []byte) error {
	b = append(b, '\n')
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && !o.over && o.size > 0 && o.size+len(b) > maxUnread {
		o.change.Wait()
	}
	switch {
	case o.err != nil:
		return o.err
	case o.over:
		return os.ErrClosed
	}
	o.lines = append(o.lines, b)
	o.size += len(b)
	o.change.Broadcast()
	return nil
}

// hangUp closes the program's input when it has read what it was told.
func (o *outbox) hangUp() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	o.change.Broadcast()
}

// cut closes the program's input: nobody reads it any more.
func (o *outbox) cut() {
	o.hangUp()
	o.pipe.Close()
}

// write writes every line and hangs up, or returns why it could not.
func (o *outbox) write() error {
	defer o.pipe.Close()
	for {
		b, ok := o.next()
		if !ok {
			return nil
		}
		_ = o.pipe.SetWriteDeadline(time.Now().Add(patience))
		_, err := o.pipe.Write(b)
		if err := o.wrote(len(b), err); err != nil {
			return err
		}
	}
}

// next is the next line; false when there will be none.
func (o *outbox) next() ([]byte, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.lines) == 0 && !o.over {
		o.change.Wait()
	}
	if len(o.lines) == 0 {
		return nil, false
	}
	b := o.lines[0]
	o.lines[0] = nil
	o.lines = o.lines[1:]
	return b, true
}

// wrote notes what came of a line.
func (o *outbox) wrote(n int, err error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.size -= n
	if err != nil {
		o.err, o.lines = fmt.Errorf("tell the program: %w", err), nil
	}
	o.change.Broadcast()
	return o.err
}

// speak writes what the program is told. If that does not work although the
// program lives, whoever listens hears so; else its end is the better reason.
func (p *Process) speak(ended <-chan struct{}) {
	err := p.out.write()
	if err == nil {
		return
	}
	t := time.NewTimer(Farewell)
	defer t.Stop()
	select {
	case <-ended:
	case <-t.C:
		p.deliver(nil, fmt.Errorf("%w: %w", err, harness.ErrRetry))
	}
}

// Tell tells the program a line, which it takes over. Lines are written in order
// while the program is heard. If one cannot be, a later Tell says so, and so
// does a [Line] unless the program ends.
func (p *Process) Tell(b []byte) error { return p.out.add(b) }
