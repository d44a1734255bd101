package native

import (
	"context"

	"harness"
	"harness/engine/native/conscience"
)

// reckon sums up the turn from its events.
func (r *turn) reckon(ctx context.Context) error {
	if err := r.checkpoint(ctx); err != nil { // so that the log has all of them
		return err
	}
	var events []harness.Event
	for e, err := range r.h.History(ctx, max(r.t.Began, 2)-2) {
		if err != nil {
			return err
		}
		if _, said := e.Payload.(*harness.UserMessage); e.Turn == r.t.ID || said && e.Seq < r.t.Began {
			events = append(events, e)
		}
	}
	return r.h.Emit(ctx, conscience.Of(r.t.Directory, events))
}
