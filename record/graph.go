package record

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"harness"
)

// step is a part of the work. The native engine's plans have the same form.
type step struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Status string `json:"status,omitempty"` // as the engine tells it
}

// graph is what a turn's work consists of: the task itself, until the engine
// tells of steps. An engine that keeps a graph of its own has the last word.
type graph struct {
	steps []step
	own   bool // the engine has told of one
}

// Bounds of a graph: those of the native engine's plans.
const (
	maxSteps = 50
	maxTitle = 200
)

// hear takes note of a step. Engines name it as they like, and tell of it again
// when it gets on.
func (g *graph) hear(p *harness.StepProgress) {
	s := step{p.StepID, clipped(p.Title), p.Status}
	if i := slices.IndexFunc(g.steps, func(o step) bool { return o.ID == s.ID }); i >= 0 {
		g.steps[i] = s
	} else if len(g.steps) < maxSteps {
		g.steps = append(g.steps, s)
	}
}

// task is the graph of work that is not divided yet.
func task(t harness.Turn) *harness.Artifact {
	first, _, _ := strings.Cut(strings.TrimSpace(harness.PlainText(t.Parts)), "\n")
	return drawn(t.Session, "task", []step{{ID: string(t.ID), Title: clipped(first)}})
}

// graphed reports whether the turn's log has a graph.
func graphed(ctx context.Context, t harness.Turn, h harness.Host) bool {
	if t.Began == 0 {
		return false
	}
	for e, err := range h.History(ctx, t.Began-1) {
		if err != nil {
			return true // nobody knows
		}
		if a, ok := e.Payload.(*harness.Artifact); ok && e.Turn == t.ID && a.ArtifactType == harness.ArtifactTaskGraph {
			return true
		}
	}
	return false
}

// told is the graph that the engine's steps make; nil if there are none, or the
// engine has its own.
func (r *run) told() *harness.Artifact {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.graph.own || len(r.graph.steps) == 0 {
		return nil
	}
	return drawn(r.turn.Session, "steps", r.graph.steps)
}

func drawn(id harness.SessionID, title string, steps []step) *harness.Artifact {
	a := made(id, harness.ArtifactTaskGraph, title, struct {
		Steps []step `json:"steps"`
	}{steps})
	a.Metadata = json.RawMessage(a.Content)
	return a
}

func clipped(s string) string {
	if len(s) <= maxTitle {
		return s
	}
	cut := maxTitle
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
