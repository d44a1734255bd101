package native

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"harness"
	"harness/tool"
)

// step is one step of a plan.
type step struct {
	ID     string   `json:"id"`
	Title  string   `json:"title"`
	Status string   `json:"status"`
	After  []string `json:"after,omitempty"` // steps that must be done before
}

type steps struct {
	Steps []step `json:"steps"`
}

// Statuses of a step.
const (
	stepPending   = "pending"
	stepCompleted = "completed"
)

// newPlan keeps the plan of a longer piece of work.
func (r *turn) newPlan() tool.Tool {
	var mu sync.Mutex // guards last
	var last []step   // of this turn; the plan itself is the artifact
	return &own{
		spec: tool.Spec{
			Name: "plan",
			Description: `Writes down the plan of a piece of work of more than a few steps, or how far it is. Give all steps each time. Set a step to in_progress when you begin it and to completed when it is done; each completed step is a place to which the session can be taken back.
Do not use it for work that is done in a step or two.`,
			Schema: json.RawMessage(`{"type":"object","properties":{"steps":{"type":"array","minItems":1,"maxItems":50,"items":{"type":"object","properties":{"id":{"type":"string","minLength":1,"maxLength":40},"title":{"type":"string","minLength":1,"maxLength":200},"status":{"type":"string","enum":["pending","in_progress","completed","failed","skipped"]},"after":{"type":"array","items":{"type":"string"},"description":"ids of steps that must be done before"}},"required":["id","title","status"],"additionalProperties":false}}},"required":["steps"],"additionalProperties":false}`),
		},
		plan: func(input json.RawMessage) (tool.Plan, error) {
			p, err := read[steps](input)
			if err == nil {
				err = checkSteps(p.Steps)
			}
			return tool.Plan{Access: harness.AccessRead, Keys: []string{"plan"}, Summary: fmt.Sprintf("a plan of %d steps", len(p.Steps))}, err
		},
		run: func(ctx context.Context, _ *tool.Env, input json.RawMessage, _ harness.Decision) (tool.Result, error) {
			p, err := read[steps](input)
			if err != nil {
				return tool.Result{}, err
			}
			r.planned.Store(true)
			mu.Lock()
			before := last
			last = p.Steps
			mu.Unlock()
			if err := r.progress(ctx, before, p.Steps); err != nil {
				return tool.Result{}, err
			}
			return tool.Result{Text: drawn(p.Steps)}, nil
		},
	}
}

// checkSteps refuses plans that cannot be followed.
func checkSteps(all []step) error {
	place := make(map[string]int)
	for i, s := range all {
		if _, twice := place[s.ID]; twice {
			return fmt.Errorf("two steps have the id %q", s.ID)
		}
		place[s.ID] = i
	}
	for i, s := range all {
		for _, a := range s.After {
			if at, ok := place[a]; !ok || at >= i {
				return fmt.Errorf("step %q comes after %q, which is not a step before it", s.ID, a)
			}
		}
	}
	return nil
}

// progress says what has changed since the plan was last written down.
func (r *turn) progress(ctx context.Context, before, now []step) error {
	graph, err := json.Marshal(steps{now})
	if err != nil {
		panic("native: " + err.Error())
	}
	same := slices.EqualFunc(before, now, func(a, b step) bool { return a.ID == b.ID && a.Title == b.Title && slices.Equal(a.After, b.After) })
	if !same {
		a := harness.NewArtifact(r.t.Session, harness.ArtifactTaskGraph, fmt.Sprintf("plan of %d steps", len(now)), graph)
		a.Metadata = graph
		err := r.h.Emit(ctx, a)
		if unsupported(err) { // nothing keeps it out of line: the event itself has it
			a.Content, a.URI = nil, ""
			err = r.h.Emit(ctx, a)
		}
		if err != nil {
			return err
		}
	}
	for i, s := range now {
		was := slices.IndexFunc(before, func(b step) bool { return b.ID == s.ID })
		if was >= 0 && before[was].Status == s.Status {
			continue
		}
		if err := r.h.Emit(ctx, &harness.StepProgress{StepID: s.ID, Index: i, Total: len(now), Title: s.Title, Status: s.Status}); err != nil {
			return err
		}
		if s.Status != stepCompleted {
			continue
		}
		c := &harness.SessionCheckpoint{SessionID: r.t.Session, Sequence: i + 1, CheckpointType: harness.StepCheckpoint, Status: s.Status, SummaryText: s.Title}
		if err := r.h.Emit(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// drawn is the plan as the model reads it.
func drawn(all []step) string {
	marks := map[string]string{stepPending: "[ ]", "in_progress": "[>]", stepCompleted: "[x]", "failed": "[!]", "skipped": "[-]"}
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintf(&b, "%s %s: %s\n", marks[s.Status], s.ID, s.Title)
	}
	return b.String()
}
