package bench

import (
	"context"
	"strings"

	"harness"
)

// faucet is an engine whose turns do what the benchmark hands them, until the
// benchmark hands them nothing more. A turn whose prompt is not "pour" says a
// few words and ends.
type faucet struct {
	jobs chan func(ctx context.Context, h harness.Host) error
}

func newFaucet() *faucet {
	return &faucet{jobs: make(chan func(context.Context, harness.Host) error)}
}

// Abilities are Claude Code's: what a session lacks is a part of its state.
func (f *faucet) Abilities() harness.Abilities {
	return harness.Abilities{Tools: true, Steer: true, Resume: true, Thinks: true, Approve: true, Tells: []harness.Type{
		"turn_start_tools", "sandbox_notice", "transport_diagnostic", "subagent_event", "context_compacted", "usage", "completed",
	}}
}

func (f *faucet) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	if harness.PlainText(t.Parts) != "pour" {
		return h.Emit(ctx, &harness.Token{Text: "a few words"})
	}
	for {
		select {
		case job := <-f.jobs:
			if job == nil {
				return nil
			}
			if err := job(ctx, h); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// pour has the running turn emit n events as fast as the session takes them
// and returns when it has taken the last. Text and reasoning alternate, so
// that each emit is one event of the log: two texts in a row would be merged.
func (f *faucet) pour(n int, text string) error {
	done := make(chan error)
	f.jobs <- func(ctx context.Context, h harness.Host) error {
		done <- emit(ctx, h, n, text)
		return nil
	}
	return <-done
}

// drip has the running turn emit one event, and does not wait for it: whoever
// waits is woken at the very moment that is measured, on one of two cores.
func (f *faucet) drip(text string) {
	f.jobs <- func(ctx context.Context, h harness.Host) error { return emit(ctx, h, 1, text) }
}

func emit(ctx context.Context, h harness.Host, n int, text string) error {
	for i := range n {
		var p harness.Payload = &harness.Token{Text: text}
		if i%2 == 1 {
			p = &harness.Thinking{Text: text}
		}
		if err := h.Emit(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// end lets the turn end.
func (f *faucet) end() { f.jobs <- nil }

// chunk is text of so many bytes.
func chunk(n int) string {
	const words = "the quick brown fox jumps over the lazy dog and "
	return strings.Repeat(words, n/len(words)+1)[:n]
}
