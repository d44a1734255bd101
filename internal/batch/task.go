package batch

import (
	"context"
	"sync/atomic"
)

// Task is work of a caller and the one answer to it.
type Task[W any] struct {
	Work  W
	size  int
	state atomic.Int32
	done  chan error // room for the one answer
}

// The states of a task. Whoever moves it away from waiting decides.
const (
	waiting   = iota
	taken     // the worker answers
	withdrawn // its caller gave up; it has no effect
)

// NewTask makes a task of work that is about size bytes.
func NewTask[W any](work W, size int) *Task[W] {
	return &Task[W]{Work: work, size: size, done: make(chan error, 1)}
}

// Answer tells the caller the outcome. The worker calls it once for every task
// it took; it never blocks.
func (t *Task[W]) Answer(err error) { t.done <- err }

// Wait returns the answer. If ctx ends before the worker has taken t, t is
// withdrawn and has no effect; afterwards Wait waits on, so that what it returns
// is always the truth.
func (t *Task[W]) Wait(ctx context.Context) error {
	select {
	case err := <-t.done:
		return err
	case <-ctx.Done():
		if t.state.CompareAndSwap(waiting, withdrawn) {
			return ctx.Err()
		}
		return <-t.done
	}
}
