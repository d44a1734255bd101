package native

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// errBudget is the cause with which a turn ends whose time is over.
var errBudget = errors.New("the time of the turn is over")

// budget is a turn's deadline: a time of day, that moves only while somebody is
// asked.
type budget struct {
	limit time.Duration

	mu       sync.Mutex // guards what follows
	deadline time.Time
	asking   int
	since    time.Time
	timer    *time.Timer
}

// newBudget is the deadline of a turn that began then.
func newBudget(began time.Time, limit time.Duration) *budget {
	return &budget{limit: limit, deadline: began.Add(limit)}
}

// start is ctx with the deadline. stop ends the clock.
func (b *budget) start(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if b.limit < 0 {
		return ctx, func() { cancel(nil) }
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.timer = time.AfterFunc(time.Until(b.deadline), func() { cancel(errBudget) })
	return ctx, func() {
		b.timer.Stop()
		cancel(nil)
	}
}

// pause stops the clock until resume is called: nobody knows how long people
// take.
func (b *budget) pause() (resume func()) {
	if b.limit < 0 {
		return func() {}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asking++; b.asking == 1 {
		b.since = time.Now()
		b.timer.Stop()
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.asking--; b.asking == 0 {
			b.deadline = b.deadline.Add(time.Since(b.since))
			b.timer.Reset(time.Until(b.deadline))
		}
	}
}

// explain says of an error that it is the clock's doing, if so.
func (b *budget) explain(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errBudget) {
		return fmt.Errorf("%w: it had %s, and was not done", errBudget, b.limit)
	}
	return err
}
