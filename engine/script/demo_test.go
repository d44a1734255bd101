package script_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/engine/enginetest"
	"harness/engine/script"
)

// demo plays the built-in demo with a prompt.
func demo(t *testing.T, h *enginetest.Host, ctx context.Context, prompt string) error {
	t.Helper()
	return script.New(script.Demo(), nil).Run(ctx, h.Begin(prompt), h)
}

func TestTheDemoDoesWhatThePromptSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		prompt string
		facts  []harness.Type
		says   string
	}{
		{"hello", []harness.Type{"thinking", "token", "usage"}, "not a language model. You said:\n\n> hello\n\n"},
		{"please ASK me", []harness.Type{"tool_call", "approval_required", "tool_log", "tool_result", "tool_outcome"}, "Allowed"},
		{"use a tool", []harness.Type{"tool_call", "tool_log", "tool_result", "tool_outcome"}, "Two calls worked"},
		{"make a plan", []harness.Type{"step_progress"}, "All three steps"},
		{"slow", []harness.Type{"token"}, "Done."},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := enginetest.NewHost("ses_1")
			if err := demo(t, h, t.Context(), c.prompt); err != nil {
				t.Fatal(err)
			}
			seen := map[harness.Type]bool{}
			for _, e := range h.Events() {
				seen[e.Type()] = true
			}
			for _, want := range c.facts {
				if !seen[want] {
					t.Errorf("%q: no %s", c.prompt, want)
				}
			}
			if said := h.State().Messages[1].Content.String(); !strings.Contains(said, c.says) {
				t.Errorf("%q: it said %q, want %q in it", c.prompt, said, c.says)
			}
			if c := h.Complaints(); len(c) > 0 {
				t.Errorf("complaints: %q", c)
			}
		})
	}
}

// TestTheDemoAndTheReadmeNameTheDemosWords: whoever is told of the demo is told
// of all that it shows.
func TestTheDemoAndTheReadmeNameTheDemosWords(t *testing.T) {
	t.Parallel()
	words := script.DemoWords()
	if len(words) < 2 {
		t.Fatalf("the words are %q", words)
	}
	if list := strings.Join(words, ", "); !strings.Contains(script.Demo().String(), "to see more: "+list+".") {
		t.Errorf("the demo does not end with %q", list)
	}
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	last := len(words) - 1
	if list := "`" + strings.Join(words[:last], "`, `") + "` and `" + words[last] + "`"; !strings.Contains(string(readme), list) {
		t.Errorf("the README does not list %s", list)
	}
}

func TestTheDemoFailsWhenAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		if err := demo(t, enginetest.NewHost("ses_1"), t.Context(), "Fail!"); err == nil {
			t.Error("it did not fail")
		}
	})
}

func TestTheSlowDemoCanBeSteeredAndCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := enginetest.NewHost("ses_1")
		stop := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error)
		go func() { done <- demo(t, h, ctx, "slow") }()
		synctest.Wait()
		begun := time.Now()
		if err := h.Steer(ctx, "faster"); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("it listened only after %s", took)
		}
		synctest.Wait()
		cancel(stop)
		if err := <-done; err != stop {
			t.Errorf("Run returned %v", err)
		}
		messages := h.State().Messages
		if last := messages[len(messages)-1].Content.String(); !strings.HasSuffix(last, "\n\nI heard you: faster") {
			t.Errorf("the last message is %q", last)
		}
	})
}
