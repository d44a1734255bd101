package enginetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"harness"
)

func TestHostNumbersFactsOfConcurrentCallers(t *testing.T) {
	t.Parallel()
	h := NewHost("ses_1")
	h.Begin("go")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if err := h.Emit(t.Context(), &harness.Token{Text: "x"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for i, e := range h.Events() {
		if e.Seq != harness.Seq(i+1) {
			t.Fatalf("event %d has seq %d", i, e.Seq)
		}
	}
	if n := h.State().Messages[1].Content.Len(); n != 800 {
		t.Errorf("the message has %d characters, want 800", n)
	}
}

func TestHostDropsFactsThatWouldBreakAPromise(t *testing.T) {
	t.Parallel()
	open := &harness.ToolCall{Name: "bash", ToolCallID: "c"}
	ok := &harness.ToolOutcome{ToolCallID: "c", Status: harness.OutcomeOK}
	for _, c := range []struct {
		name  string
		facts []harness.Payload
		taken int
		says  string
	}{
		{"a call announced twice", []harness.Payload{open, open}, 1, ""},
		{"a call announced after its outcome", []harness.Payload{open, ok, open}, 2, "again, after its outcome"},
		{"a second outcome", []harness.Payload{open, ok, ok}, 2, "which has its outcome"},
		{"a late result", []harness.Payload{open, ok, &harness.ToolResult{ToolCallID: "c"}}, 2, "which has its outcome"},
		{"output of an unknown call", []harness.Payload{&harness.ToolLog{ToolCallID: "d"}}, 0, `unknown call "d"`},
		{"the end of the turn", []harness.Payload{&harness.TurnEnd{}}, 0, "not an engine's to say"},
	} {
		h := NewHost("ses_1")
		h.Begin("go")
		before := len(h.Events())
		for _, p := range c.facts {
			if err := h.Emit(t.Context(), p); err != nil && !errors.Is(err, harness.ErrInvalid) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if got := len(h.Events()) - before; got != c.taken {
			t.Errorf("%s: %d facts taken, want %d", c.name, got, c.taken)
		}
		if got := strings.Join(h.Complaints(), "\n"); c.says == "" && got != "" || !strings.Contains(got, c.says) {
			t.Errorf("%s: complaints %q, want %q", c.name, got, c.says)
		}
	}
}

func TestHostDecidesOnceAndRemembersAcrossAttempts(t *testing.T) {
	t.Parallel()
	h := NewHost("ses_1")
	ctx, cancel := context.WithCancelCause(t.Context())
	h.Answer = func(ctx context.Context, _ harness.ToolUse) (harness.Decision, error) {
		cancel(errStop)
		return harness.Decision{}, context.Cause(ctx)
	}
	u := harness.ToolUse{Call: "c", Tool: "bash"}
	h.Begin("go")
	if _, err := h.Ask(ctx, u); !errors.Is(err, harness.ErrInvalid) {
		t.Errorf("ask before the call: %v", err)
	}
	if err := h.Emit(ctx, &harness.ToolCall{Name: "bash", ToolCallID: "c"}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Ask(ctx, u); err != errStop {
		t.Fatal(err)
	}
	want := harness.Decision{Verdict: harness.Deny, Reason: "no"}
	h.Again()
	h.Decide("c", want)
	h.Decide("c", harness.Decision{Verdict: harness.Allow})
	if got, err := h.Ask(t.Context(), u); err != nil || got != want {
		t.Errorf("decided %v, %v, want %v", got, err, want)
	}
}

func TestHostRefusesCallsOfADoneContextWithItsCause(t *testing.T) {
	t.Parallel()
	h := NewHost("ses_1")
	h.Begin("go")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errStop)
	_, asked := h.Ask(ctx, harness.ToolUse{})
	for _, err := range []error{h.Emit(ctx, &harness.Token{}), h.Checkpoint(ctx, "a"), asked, h.Steer(ctx, "a")} {
		if err != errStop {
			t.Errorf("got %v, want the cause", err)
		}
	}
}

func TestHostKeepsTheLastCheckpointForTheNextTurn(t *testing.T) {
	t.Parallel()
	h := NewHost("ses_1")
	refs := []string{h.Begin("go").Ref}
	if err := h.Checkpoint(t.Context(), "here"); err != nil {
		t.Fatal(err)
	}
	refs = append(refs, h.Again().Ref)
	h.End(nil)
	refs = append(refs, h.Begin("more").Ref)
	if want := []string{"", "here", "here"}; !slices.Equal(refs, want) {
		t.Errorf("references %q, want %q", refs, want)
	}
}
