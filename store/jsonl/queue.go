package jsonl

import (
	"context"
	"errors"

	"harness/internal/batch"
)

// work is something for the writer to do. It answers its task, or leaves that to
// the batch it joins.
type work func(*writer, *task)

type task = batch.Task[work]

func newQueue() *batch.Queue[work] {
	return batch.New[work](batch.Bounds{Tasks: 4096, Bytes: 16 << 20, Spare: 8, Alone: 8})
}

// do is the outcome of w, which shares its flush with whatever waits at the same
// time; size is how many bytes it will write. If ctx ends before the writer has
// taken it, it has no effect.
func (s *Store) do(ctx context.Context, size int, w work) error {
	return refused(s.queue.Do(ctx, batch.NewTask(w, size)))
}

// doLow is do for what may wait behind appends.
func (s *Store) doLow(ctx context.Context, w work) error {
	return refused(s.queue.DoLow(ctx, batch.NewTask(w, 0)))
}

func refused(err error) error {
	if errors.Is(err, batch.ErrClosed) {
		return errClosed
	}
	return err
}
