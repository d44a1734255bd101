package program

import (
	"context"
	"sync"
	"time"

	"harness"
)

// Pool has a slot for each session that has a process, or wants one. The zero
// value keeps no process.
type Pool struct {
	Idle time.Duration // how long a process is kept; not at all unless it is positive

	mu     sync.Mutex // guards what follows
	slots  map[harness.SessionID]*Slot
	closed bool
}

// Slot is a session's place for a process. Whoever took it owns it.
type Slot struct {
	Process *Process

	users    int           // guarded by the pool's mu: who has it or wants it
	released bool          // likewise: its process is not to be used again
	busy     chan struct{} // holds something while somebody has it
	idle     *time.Timer
}

// Drop lets the slot's process end.
func (s *Slot) Drop() {
	if s.Process != nil {
		s.Process.Stop()
	}
	s.Process = nil
}

// Kill kills the slot's process.
func (s *Slot) Kill() {
	if s.Process != nil {
		s.Process.Kill()
	}
	s.Process = nil
}

// Run makes an attempt at a turn of a session in its slot, one at a time. attempt
// reports whether the process is fit for another turn whatever came of this one;
// if neither is so, it is killed.
func (p *Pool) Run(ctx context.Context, id harness.SessionID, attempt func(*Slot) (clean bool, err error)) error {
	s, err := p.Take(ctx, id)
	if err != nil {
		return err
	}
	defer p.Give(id, s)
	clean, err := attempt(s)
	if err != nil && !clean {
		s.Kill()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Take gets a session's slot, when nobody else has it.
func (p *Pool) Take(ctx context.Context, id harness.SessionID) (*Slot, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, harness.ErrUnavailable
	}
	if p.slots == nil {
		p.slots = make(map[harness.SessionID]*Slot)
	}
	s := p.slots[id]
	if s == nil {
		s = &Slot{busy: make(chan struct{}, 1)} // the one who has it
		p.slots[id] = s
	}
	s.users++
	p.mu.Unlock()
	select {
	case s.busy <- struct{}{}:
	case <-ctx.Done():
		p.leave(id, s)
		return nil, context.Cause(ctx)
	}
	if s.idle != nil {
		s.idle.Stop()
		s.idle = nil
	}
	if p.takeBack(s) {
		s.Drop()
	}
	return s, nil
}

// Give returns a slot. A process in it is kept for a while, if it can be.
func (p *Pool) Give(id harness.SessionID, s *Slot) {
	if s.Process != nil && (p.Idle <= 0 || !s.Process.Reusable()) {
		s.Drop()
	}
	if s.Process != nil {
		s.idle = time.AfterFunc(p.Idle, func() { p.expire(id, s) })
	}
	<-s.busy
	p.mu.Lock()
	released := s.released
	p.mu.Unlock()
	if released {
		p.end(id, s)
		return
	}
	p.leave(id, s)
}

// takeBack reports whether a slot was released since somebody took it last.
func (p *Pool) takeBack(s *Slot) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	released := s.released
	s.released = false
	return released
}

// Release ends a session's process, and returns when it is gone: the session is
// to be run elsewhere. One that a turn uses still, although it was told to end,
// ends with the turn, and Release does not wait for that.
func (p *Pool) Release(id harness.SessionID) {
	p.mu.Lock()
	s := p.slots[id]
	if s == nil || p.closed {
		p.mu.Unlock()
		return
	}
	s.users++
	s.released = true
	p.mu.Unlock()
	p.end(id, s)
}

// leave forgets a slot that nobody wants and that holds nothing.
func (p *Pool) leave(id harness.SessionID, s *Slot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.users--
	if s.users > 0 || len(s.busy) > 0 {
		return
	}
	if s.Process == nil && p.slots[id] == s { // and not one that came after it
		delete(p.slots, id)
	}
}

// expire stops a process that has idled. If somebody has the slot, it is not
// idle, and has another timer afterwards.
func (p *Pool) expire(id harness.SessionID, s *Slot) {
	p.mu.Lock()
	s.users++
	p.mu.Unlock()
	p.end(id, s)
}

// end stops the process of a slot that nobody has. Its caller counts as a user,
// and does not any more.
func (p *Pool) end(id harness.SessionID, s *Slot) {
	defer p.leave(id, s)
	select {
	case s.busy <- struct{}{}:
	default:
		return
	}
	p.takeBack(s)
	if s.idle != nil {
		s.idle.Stop()
		s.Drop()
		s.idle = nil
	}
	<-s.busy
}

// Close waits for turns to end and ends every process. Turns that come later
// fail with [harness.ErrUnavailable].
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	all := make([]*Slot, 0, len(p.slots))
	for _, s := range p.slots {
		s.users++
		all = append(all, s)
	}
	p.mu.Unlock()
	for _, s := range all {
		s.busy <- struct{}{}
		if s.idle != nil {
			s.idle.Stop()
		}
		s.Drop()
		<-s.busy
	}
	return nil
}
