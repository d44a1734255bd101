package sqlite

import (
	"context"
	"sync"
	"sync/atomic"
)

// task is something for the writer to do inside a transaction.
type task struct {
	apply func(*writer) error // a *harness.Error refuses; any other error fails the transaction
	size  int                 // bytes it will write, roughly
	after func()              // if set, called once the outcome is settled and before it is told
	state atomic.Int32
	done  chan error // room for the one answer
}

// The states of a task. Whoever moves it away from waiting decides.
const (
	waiting   = iota
	taken     // the writer answers
	withdrawn // its caller gave up; it has no effect
)

// Bounds of one transaction: enough to share a flush widely, small enough that
// nobody waits long behind it.
const (
	groupTasks = 4096
	groupBytes = 16 << 20
	groupSpare = 8  // low tasks that ride along with appends
	groupAlone = 64 // low tasks when there is no append
)

// queue hands tasks to the writer: appends first, the rest as there is room.
type queue struct {
	wake chan struct{} // size 1: something changed since the writer last looked

	mu      sync.Mutex // guards the fields below
	appends []*task
	low     []*task
	closed  bool
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

// do queues t and waits for its outcome. If ctx ends before the writer has
// taken t, t is withdrawn and has no effect; afterwards do waits, so that the
// answer is always the truth.
func (q *queue) do(ctx context.Context, t *task, low bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.done = make(chan error, 1)
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return errClosed
	}
	if low {
		q.low = append(q.low, t)
	} else {
		q.appends = append(q.appends, t)
	}
	q.mu.Unlock()
	q.signal()
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

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
}

// take moves the next group out of the queue into group[:0], and says whether
// the queue is closed.
func (q *queue) take(group []*task) ([]*task, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	group = group[:0]
	q.appends, group = pick(q.appends, group, groupTasks)
	low := groupSpare
	if len(group) == 0 {
		low = groupAlone
	}
	q.low, group = pick(q.low, group, low)
	return group, q.closed
}

// pick moves at most n tasks that were not withdrawn from queue to group.
func pick(queue, group []*task, n int) (rest, picked []*task) {
	size, i := 0, 0
	for ; i < len(queue) && n > 0 && size < groupBytes; i++ {
		if t := queue[i]; t.state.CompareAndSwap(waiting, taken) {
			group = append(group, t)
			size += t.size
			n--
		}
	}
	left := copy(queue, queue[i:])
	clear(queue[left:])
	return queue[:left], group
}
