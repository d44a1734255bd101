package modeltest

import (
	"context"
	"iter"
	"testing"

	"harness/model"
)

// noteCounter expects that many notes in each stream.
type noteCounter struct {
	model.Client
	want int
	tb   testing.TB
}

func (n noteCounter) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		notes := 0
		for c, err := range n.Client.Stream(ctx, r) {
			if c.Kind == model.ChunkNote {
				notes++
			}
			if !yield(c, err) {
				return
			}
		}
		if notes != n.want {
			n.tb.Errorf("%d notes, want %d", notes, n.want)
		}
	}
}
