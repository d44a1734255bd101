package main

import (
	"context"
	"fmt"
	"iter"

	"harness/model"
	"harness/model/offline"
)

// stay is the offline model for sessions that ask for no other. One that does is
// told that there is none: rules are no answer of the model that somebody named.
type stay struct{ *offline.Client }

// Stream answers, or fails for good.
func (c stay) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	if r.Model == "" || r.Model == offline.Model {
		return c.Client.Stream(ctx, r)
	}
	return func(yield func(model.Chunk, error) bool) {
		yield(model.Chunk{}, &model.Error{Fault: model.BadRequest, Provider: offline.Provider, Message: fmt.Sprintf(
			"there is no model %q here: this server has no provider (--model, --key) and answers by the rules of its offline model", r.Model)})
	}
}
