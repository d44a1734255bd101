package claude

import (
	"context"
	"time"

	"harness"
)

// slot is a session's place for a process. Whoever has put something into busy
// owns proc and idle.
type slot struct {
	users int // guarded by the engine's mu: who has it or wants it
	busy  chan struct{}
	proc  *process
	idle  *time.Timer
}

// take gets a session's slot, when nobody else has it.
func (e *Engine) take(ctx context.Context, id harness.SessionID) (*slot, error) {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil, harness.ErrUnavailable
	}
	s := e.slots[id]
	if s == nil {
		s = &slot{busy: make(chan struct{}, 1)} // the one who has it
		e.slots[id] = s
	}
	s.users++
	e.mu.Unlock()
	select {
	case s.busy <- struct{}{}:
	case <-ctx.Done():
		e.leave(id, s)
		return nil, context.Cause(ctx)
	}
	if s.idle != nil {
		s.idle.Stop()
		s.idle = nil
	}
	return s, nil
}

// give returns a slot. A process in it is kept for a while.
func (e *Engine) give(id harness.SessionID, s *slot) {
	if s.proc != nil && (e.opts.Idle < 0 || !s.proc.reusable()) {
		s.proc.stop()
		s.proc = nil
	}
	if s.proc != nil {
		s.idle = time.AfterFunc(e.opts.Idle, func() { e.expire(id, s) })
	}
	<-s.busy
	e.leave(id, s)
}

// leave forgets a slot that nobody wants and that holds nothing.
func (e *Engine) leave(id harness.SessionID, s *slot) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s.users--
	if s.users > 0 || len(s.busy) > 0 {
		return
	}
	if s.proc == nil {
		delete(e.slots, id)
	}
}

// expire stops a process that has idled. If somebody has the slot, it is not
// idle, and has another timer afterwards.
func (e *Engine) expire(id harness.SessionID, s *slot) {
	e.mu.Lock()
	s.users++
	e.mu.Unlock()
	defer e.leave(id, s)
	select {
	case s.busy <- struct{}{}:
	default:
		return
	}
	if s.idle != nil && s.proc != nil {
		s.proc.stop()
		s.proc, s.idle = nil, nil
	}
	<-s.busy
}

// Close waits for turns to end and ends every process. Turns that come later
// fail with [harness.ErrUnavailable].
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed = true
	all := make([]*slot, 0, len(e.slots))
	for _, s := range e.slots {
		s.users++
		all = append(all, s)
	}
	e.mu.Unlock()
	for _, s := range all {
		s.busy <- struct{}{}
		if s.idle != nil {
			s.idle.Stop()
		}
		if s.proc != nil {
			s.proc.stop()
			s.proc = nil
		}
		<-s.busy
	}
	return nil
}
