package native

import (
	"context"
	"encoding/json"
	"errors"

	"harness"
)

// recall learns from the log which files the model has read and written, and how
// they looked, before this process opened the workspace. It is done before the
// first change of a file, which needs it, because the whole log must be read.
func (s *session) recall(ctx context.Context, r *turn) error {
	release, err := s.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	if s.recalled || s.env == nil {
		return nil
	}
	var failed error
	s.env.State.Recall(func(yield func(string, json.RawMessage) bool) {
		for e, err := range r.h.History(ctx, 0) {
			if err != nil {
				failed = err
				return
			}
			if p, ok := e.Payload.(*harness.ToolResult); ok && !yield(p.ToolName, p.Result) {
				return
			}
		}
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case failed != nil && !errors.Is(failed, harness.ErrTooLarge): // a runner may not have all of it
		return failed
	}
	s.recalled = true
	return nil
}
