package batch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"harness/internal/batch"
)

var bounds = batch.Bounds{Tasks: 4, Bytes: 100, Spare: 1, Alone: 3}

// callers are tasks that goroutines wait for, in the order they were queued.
type callers struct {
	t       *testing.T
	q       *batch.Queue[string]
	wg      sync.WaitGroup
	answers map[string]error
	mu      sync.Mutex // guards answers
}

func newCallers(t *testing.T) *callers {
	return &callers{t: t, q: batch.New[string](bounds), answers: map[string]error{}}
}

// do queues a task and returns when it is in the queue.
func (c *callers) do(ctx context.Context, low bool, size int, work string) {
	c.wg.Go(func() {
		do := c.q.Do
		if low {
			do = c.q.DoLow
		}
		err := do(ctx, batch.NewTask(work, size))
		c.mu.Lock()
		defer c.mu.Unlock()
		c.answers[work] = err
	})
	synctest.Wait()
}

// mustTake takes a group, checks it and answers it.
func (c *callers) mustTake(want ...string) {
	c.t.Helper()
	group, _ := c.q.Take(nil)
	var got []string
	for _, t := range group {
		got = append(got, t.Work)
		t.Answer(fmt.Errorf("answer to %s", t.Work))
	}
	if !slices.Equal(got, want) {
		c.t.Errorf("took %q, want %q", got, want)
	}
}

func (c *callers) mustHaveAnswers(n int) {
	c.t.Helper()
	c.wg.Wait()
	for work, err := range c.answers {
		if err == nil || err.Error() != "answer to "+work {
			c.t.Errorf("%s got %v", work, err)
		}
	}
	if len(c.answers) != n {
		c.t.Errorf("%d answers, want %d", len(c.answers), n)
	}
}

func TestAGroupIsTheFirstRankInOrderAndALittleOfTheSecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCallers(t)
		for i := range 5 {
			c.do(t.Context(), true, 1, fmt.Sprintf("low %d", i))
			c.do(t.Context(), false, 1, fmt.Sprintf("first %d", i))
		}
		c.mustTake("first 0", "first 1", "first 2", "first 3", "low 0")
		c.mustTake("first 4", "low 1")
		c.mustTake("low 2", "low 3", "low 4")
		c.mustTake()
		c.mustHaveAnswers(10)
	})
}

func TestAGroupEndsWithTheTaskThatFillsIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCallers(t)
		for i, size := range []int{99, 1000, 1, 100, 1} {
			c.do(t.Context(), false, size, fmt.Sprint(i))
		}
		c.mustTake("0", "1")
		c.mustTake("2", "3")
		c.mustTake("4")
		c.mustHaveAnswers(5)
	})
}

func TestATaskWhoseCallerGaveUpIsWithdrawn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCallers(t)
		ctx, cancel := context.WithCancel(t.Context())
		c.do(t.Context(), false, 1, "before")
		c.do(ctx, false, 1, "given up")
		c.do(t.Context(), false, 1, "after")
		cancel()
		c.do(ctx, false, 1, "late")
		c.mustTake("before", "after")
		c.mustTake()
		c.wg.Wait()
		for work, want := range map[string]error{"given up": context.Canceled, "late": context.Canceled} {
			if !errors.Is(c.answers[work], want) {
				t.Errorf("%s got %v", work, c.answers[work])
			}
		}
	})
}

func TestATaskThatWasTakenIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCallers(t)
		ctx, cancel := context.WithCancel(t.Context())
		c.do(ctx, false, 1, "a")
		group, _ := c.q.Take(nil)
		cancel()
		synctest.Wait()
		if len(c.answers) != 0 {
			t.Fatal("the caller went away before it had its answer")
		}
		group[0].Answer(errors.New("answer to a"))
		c.mustHaveAnswers(1)
	})
}

func TestAClosedQueueIsEmptiedAndTakesNothingMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCallers(t)
		c.do(t.Context(), true, 1, "a")
		c.q.Close()
		if err := c.q.Do(t.Context(), batch.NewTask("b", 1)); !errors.Is(err, batch.ErrClosed) {
			t.Errorf("work after Close: %v", err)
		}
		c.mustTake("a")
		if group, closed := c.q.Take(nil); len(group) != 0 || !closed {
			t.Errorf("took %d, closed %v", len(group), closed)
		}
		c.mustHaveAnswers(1)
	})
}

// TestNoWakeIsMissed: a worker that sleeps whenever it finds nothing serves
// everything, and every answer reaches its own caller.
func TestNoWakeIsMissed(t *testing.T) {
	t.Parallel()
	q := batch.New[int](batch.Bounds{Tasks: 64, Bytes: 1 << 20, Spare: 8, Alone: 8})
	var served atomic.Int64
	var worker sync.WaitGroup
	worker.Go(func() {
		var group []*batch.Task[int]
		for {
			var closed bool
			group, closed = q.Take(group)
			switch {
			case len(group) > 0:
				for _, t := range group {
					served.Add(1)
					t.Answer(fmt.Errorf("%d", t.Work))
				}
			case closed:
				return
			default:
				q.Await()
			}
		}
	})
	const callers, each = 16, 500
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for j := range each {
				do := q.Do
				if j%3 == 0 {
					do = q.DoLow
				}
				work := i*each + j
				if err := do(t.Context(), batch.NewTask(work, 1)); err == nil || err.Error() != fmt.Sprint(work) {
					t.Errorf("%d got %v", work, err)
					return
				}
			}
		})
	}
	wg.Wait()
	q.Close()
	worker.Wait()
	if served.Load() != callers*each {
		t.Errorf("served %d", served.Load())
	}
}

// TestEveryWorkerHearsOfTheEnd has several workers on one queue: each task is
// done once, and all of them end.
func TestEveryWorkerHearsOfTheEnd(t *testing.T) {
	t.Parallel()
	q := batch.New[int](bounds)
	var workers, callers sync.WaitGroup
	var done atomic.Int64
	for range 3 {
		workers.Go(func() {
			for {
				group, closed := q.Take(nil)
				for _, task := range group {
					done.Add(1)
					task.Answer(nil)
				}
				if len(group) == 0 {
					if closed {
						return
					}
					q.Await()
				}
			}
		})
	}
	for i := range 100 {
		callers.Go(func() {
			if err := q.Do(t.Context(), batch.NewTask(i, 1)); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	q.Close()
	workers.Wait()
	if n := done.Load(); n != 100 {
		t.Errorf("%d tasks were done", n)
	}
}
