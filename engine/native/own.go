package native

import (
	"context"
	"encoding/json"
	"fmt"

	"harness"
	"harness/tool"
)

// own is a tool that needs the turn it runs in, or the decision by which it runs.
type own struct {
	spec tool.Spec
	plan func(input json.RawMessage) (tool.Plan, error)
	run  func(ctx context.Context, env *tool.Env, input json.RawMessage, d harness.Decision) (tool.Result, error)
}

func (o *own) Spec() tool.Spec { return o.spec }

func (o *own) Plan(_ *tool.Env, input json.RawMessage) (tool.Plan, error) { return o.plan(input) }

func (o *own) Run(ctx context.Context, env *tool.Env, input json.RawMessage) (tool.Result, error) {
	return o.run(ctx, env, input, harness.Decision{})
}

// read decodes an input that fits the schema.
func read[T any](input json.RawMessage) (v T, err error) {
	if err := json.Unmarshal(input, &v); err != nil {
		return v, fmt.Errorf("the arguments cannot be read: %w", err)
	}
	return v, nil
}
