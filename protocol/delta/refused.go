package delta

import (
	"context"

	"harness"
)

// asked is ctx of one thing that the client asks.
func (h *Hub) asked(ctx context.Context, w *watcher) context.Context {
	if w.who != nil {
		ctx = harness.WithSharedCaller(ctx, w.who)
	}
	if h.witness != nil {
		ctx = h.witness.Asked(ctx)
	}
	return ctx
}

// refuse answers what was asked under ctx with an error.
func (h *Hub) refuse(ctx context.Context, w *watcher, what, id string, err error) {
	h.refused(ctx, what, err)
	h.tell(w, appendError(nil, id, err))
}

// refused has it taken down before the client hears of it.
func (h *Hub) refused(ctx context.Context, what string, err error) {
	if h.witness != nil {
		h.witness.Refused(ctx, harness.Refusal{What: what, Code: errorCode(err), Text: harness.ClientText(err)})
	}
}
