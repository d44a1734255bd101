package rest

import (
	"context"
	"fmt"
	"iter"

	"harness"
	"harness/store/memory"
)

// holed is a memory store that cannot read an event.
type holed struct {
	*memory.Store
	at harness.Seq
}

func (d *holed) Read(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error] {
	return func(yield func(harness.Event, error) bool) {
		for e, err := range d.Store.Read(ctx, id, after) {
			if e.Seq == d.at {
				yield(harness.Event{}, fmt.Errorf("secret place: %w", harness.ErrCorrupt))
				return
			}
			if !yield(e, err) {
				return
			}
		}
	}
}
