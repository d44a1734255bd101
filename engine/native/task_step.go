package native

import (
	"context"
	"strings"

	"harness"
)

// taskStep is the only step of background work that has no plan of its own: S3 has
// every such run tell how far it is.
const taskStep = "task"

// maxStepTitle bounds the title of a step, as in the schema of a plan.
const maxStepTitle = 200

// beginTask makes the whole of a background turn its first step.
func (r *turn) beginTask(ctx context.Context) error {
	if r.t.Kind != harness.Background || r.conv.turn.step != "" || r.conv.turn.partial {
		return nil
	}
	if err := r.progress(ctx, nil, r.task("in_progress")); err != nil {
		return err
	}
	r.conv.turn.step = taskStep
	return nil
}

// endTask says that it is done, unless a plan took its place.
func (r *turn) endTask(ctx context.Context) error {
	if r.conv.turn.step != taskStep || r.planned.Load() {
		return nil
	}
	return r.progress(ctx, r.task("in_progress"), r.task(stepCompleted))
}

func (r *turn) task(status string) []step {
	title, _, _ := strings.Cut(strings.TrimSpace(harness.PlainText(r.t.Parts)), "\n")
	return []step{{ID: taskStep, Title: cut(title, maxStepTitle), Status: status}}
}
