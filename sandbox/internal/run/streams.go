package run

import (
	"io"
	"os"
	"sync"
	"time"

	"harness"
)

// streams are the ends of a process's pipes.
type streams struct {
	theirs []*os.File // closed here when the process has them
	ours   []*os.File

	stdin   *os.File
	input   io.Reader
	copies  sync.WaitGroup
	outputs []output
	reads   []*os.File
}

// connect gives the command its streams: files as they are, a pipe for others,
// the null device for what is nil.
func (c *Child) connect() (*streams, error) {
	s := &streams{}
	left := &budget{left: c.plan.Limits.Output, limited: c.plan.Limits.Output > 0, over: func() { c.End(harness.ExitOutput) }}
	p := c.plan.Process
	switch in := p.Stdin.(type) {
	case nil:
	case *os.File:
		c.plan.Cmd.Stdin = in
	default:
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		c.plan.Cmd.Stdin, s.stdin, s.input = r, w, in
		s.theirs, s.ours = append(s.theirs, r), append(s.ours, w)
	}
	for _, o := range []struct {
		to  io.Writer
		set *io.Writer
	}{{p.Stdout, &c.plan.Cmd.Stdout}, {p.Stderr, &c.plan.Cmd.Stderr}} {
		if o.to == nil {
			continue
		}
		r, w, err := os.Pipe()
		if err != nil {
			s.closeAll()
			return nil, err
		}
		*o.set = w
		s.theirs, s.ours = append(s.theirs, w), append(s.ours, r)
		s.outputs, s.reads = append(s.outputs, output{to: o.to, budget: left}), append(s.reads, r)
	}
	return s, nil
}

// copy moves bytes until finish.
func (s *streams) copy() {
	for i, r := range s.reads {
		s.copies.Go(func() { _, _ = io.CopyBuffer(&s.outputs[i], struct{ io.Reader }{r}, make([]byte, 32<<10)) })
	}
	if s.stdin != nil {
		go func() {
			_, _ = io.Copy(s.stdin, s.input)
			s.stdin.Close()
		}()
	}
}

// draining is how long output that a dead tree left in a pipe may take to reach
// a writer that is slow.
const draining = 5 * time.Second

// finish returns when all output is delivered. The tree is gone, so the pipes
// end, unless somebody outside it was handed one.
func (s *streams) finish() {
	if s.stdin != nil {
		s.stdin.Close()
	}
	for _, r := range s.reads {
		_ = r.SetReadDeadline(time.Now().Add(draining))
	}
	s.copies.Wait()
	for _, r := range s.reads {
		r.Close()
	}
}

func (s *streams) closeTheirs() {
	for _, f := range s.theirs {
		f.Close()
	}
}

func (s *streams) closeAll() {
	s.closeTheirs()
	for _, f := range s.ours {
		f.Close()
	}
}

// budget is the output that a process has left, over both streams.
type budget struct {
	mu      sync.Mutex // guards left
	left    int64
	limited bool
	over    func()
}

// take returns how many of n bytes may pass.
func (b *budget) take(n int) int {
	if !b.limited {
		return n
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	ok := int(min(int64(n), b.left))
	b.left -= int64(ok)
	return ok
}

// output delivers what the budget allows and swallows the rest, so that nobody
// on the way blocks. A writer that fails gets no more, and the process does not
// notice.
type output struct {
	to     io.Writer
	failed bool
	*budget
}

func (o *output) Write(p []byte) (int, error) {
	n := o.take(len(p))
	if n > 0 && !o.failed {
		_, err := o.to.Write(p[:n])
		o.failed = err != nil
	}
	if n < len(p) {
		o.over()
	}
	return len(p), nil
}
