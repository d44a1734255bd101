package sqlite

import (
	"context"
	"errors"

	"harness/internal/batch"
)

// work is something for the writer to do inside a transaction.
type work struct {
	apply func(*writer) error // a *harness.Error refuses; any other error fails the transaction
	after func()              // if set, called once the outcome is settled and before it is told
}

type task = batch.Task[work]

func newQueue() *batch.Queue[work] {
	return batch.New[work](batch.Bounds{Tasks: 4096, Bytes: 16 << 20, Spare: 8, Alone: 64})
}

// do is apply's outcome in a transaction that it shares with whatever waits at
// the same time; size is about how many bytes it will write. If ctx ends before
// the writer has taken it, it has no effect.
func (s *Store) do(ctx context.Context, size int, apply func(*writer) error) error {
	return refused(s.queue.Do(ctx, batch.NewTask(work{apply: apply}, size)))
}

// doLow is do for what may wait behind appends.
func (s *Store) doLow(ctx context.Context, size int, w work) error {
	return refused(s.queue.DoLow(ctx, batch.NewTask(w, size)))
}

func refused(err error) error {
	if errors.Is(err, batch.ErrClosed) {
		return errClosed
	}
	return err
}
