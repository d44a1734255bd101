// Package batch gathers the work of many callers for one worker, which does all
// that is waiting at once: a group commit, whose one flush everybody shares.
//
// There is no timer and no group that waits to be filled: a group is what came
// while the worker was busy. Work is of two ranks. All of the first goes before
// any of the second, of which a little rides along with every group, so that it
// gets its turn however busy the first is. Within a rank the order is kept.
//
// The queue itself is not bounded: every task in it has a caller that waits.
package batch

import (
	"context"
	"errors"
	"sync"
)

// ErrClosed is the answer to work that comes after Close.
var ErrClosed = errors.New("the queue is closed")

// Bounds are those of one group: enough to share a flush widely, small enough
// that nobody waits long behind it.
type Bounds struct {
	Tasks int // of the first rank
	Bytes int // of either rank; the task that exceeds it is still in the group
	Spare int // tasks of the second rank that ride along with some of the first
	Alone int // tasks of the second rank when there is none of the first
}

// Queue hands tasks to a worker. It may be more than one, each with groups of its
// own; then the order is kept only within a group.
type Queue[W any] struct {
	bounds Bounds
	wake   chan struct{} // size 1: something changed since the worker last looked

	mu     sync.Mutex // guards the fields below
	first  []*Task[W]
	second []*Task[W]
	closed bool
}

// New makes a queue whose groups keep within b.
func New[W any](b Bounds) *Queue[W] {
	return &Queue[W]{bounds: b, wake: make(chan struct{}, 1)}
}

// Do queues t in the first rank and returns its answer, as [Task.Wait] does.
// After Close it returns [ErrClosed].
func (q *Queue[W]) Do(ctx context.Context, t *Task[W]) error { return q.do(ctx, t, &q.first) }

// DoLow is Do in the second rank.
func (q *Queue[W]) DoLow(ctx context.Context, t *Task[W]) error { return q.do(ctx, t, &q.second) }

func (q *Queue[W]) do(ctx context.Context, t *Task[W], rank *[]*Task[W]) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return ErrClosed
	}
	*rank = append(*rank, t)
	q.mu.Unlock()
	q.signal()
	return t.Wait(ctx)
}

// Close refuses all work from now on. What is in the queue stays for the worker.
func (q *Queue[W]) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
}

func (q *Queue[W]) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Take moves the next group out of the queue into group[:0] and says whether
// the queue is closed. It does not wait: an empty group of a closed queue means
// that the worker is done.
func (q *Queue[W]) Take(group []*Task[W]) (_ []*Task[W], closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	group = group[:0]
	q.first, group = q.pick(q.first, group, q.bounds.Tasks)
	low := q.bounds.Spare
	if len(group) == 0 {
		low = q.bounds.Alone
	}
	q.second, group = q.pick(q.second, group, low)
	if q.closed {
		q.signal() // there may be another worker
	}
	return group, q.closed
}

// Await returns when Take may find something that it did not find before.
func (q *Queue[W]) Await() { <-q.wake }

// pick moves at most n tasks that were not withdrawn from rank to group.
func (q *Queue[W]) pick(rank, group []*Task[W], n int) (rest, picked []*Task[W]) {
	size, i := 0, 0
	for ; i < len(rank) && n > 0 && size < q.bounds.Bytes; i++ {
		if t := rank[i]; t.state.CompareAndSwap(waiting, taken) {
			group = append(group, t)
			size += t.size
			n--
		}
	}
	left := copy(rank, rank[i:])
	clear(rank[left:])
	return rank[:left], group
}
