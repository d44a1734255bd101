package redacted_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"harness"
	"harness/engine/enginetest"
	"harness/engine/redacted"
	"harness/engine/script"
	"harness/internal/redact"
	"harness/kernel"
	"harness/store/memory"
)

const canary = "canary-9f8e7d6c5b4a"

func redactor(t testing.TB) *redact.Redactor {
	t.Helper()
	r, err := redact.New(canary)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// engine runs a function: for what no script can do.
type engine struct {
	run func(ctx context.Context, h harness.Host) error
}

func (e *engine) Run(ctx context.Context, _ harness.Turn, h harness.Host) error { return e.run(ctx, h) }
func (*engine) Abilities() harness.Abilities {
	return harness.Abilities{Tools: true, Thinks: true, Approve: true}
}

// TestNoSecretGetsIntoTheLog: an engine that shows its secret in every way it
// can, also cut in pieces.
func TestNoSecretGetsIntoTheLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		args := json.RawMessage(`{"command":"curl -H 'x: ` + canary + `'"}`)
		var covered bool
		e := &engine{func(ctx context.Context, h harness.Host) error {
			var failed error
			emit := func(p harness.Payload) { failed = errors.Join(failed, h.Emit(ctx, p)) }
			for i := range len(canary) { // a letter at a time
				emit(&harness.Token{Text: canary[i : i+1]})
			}
			emit(&harness.Token{Text: " and " + canary[:5]})
			emit(&harness.Thinking{Text: "it is " + canary[:9]})
			emit(&harness.Thinking{Text: canary[9:]})
			emit(&harness.ToolCall{ToolCallID: "c1", Name: "bash", Arguments: args})
			d, err := h.Ask(ctx, harness.ToolUse{Call: "c1", Tool: "bash", Access: harness.AccessExecute, Input: args, Description: "send " + canary, Reason: canary})
			covered = d.Covers(args) && !d.Covers(json.RawMessage(`{}`))
			emit(&harness.ToolLog{ToolCallID: "c1", Stream: "stdout", Text: "got " + canary[:7]})
			emit(&harness.ToolLog{ToolCallID: "c1", Stream: "stderr", Text: "no"})
			emit(&harness.ToolLog{ToolCallID: "c1", Stream: "stdout", Text: canary[7:] + "\n"})
			emit(&harness.ToolResult{ToolCallID: "c1", Output: canary, Result: json.RawMessage(`{"k":"` + canary + `"}`)})
			emit(&harness.ToolOutcome{ToolCallID: "c1", Status: harness.OutcomeError, Error: "status 401 for " + canary})
			emit(&harness.Artifact{ArtifactID: "art_1", Title: canary, URI: "file:///x?k=" + canary})
			emit(&harness.Token{Text: "the end " + canary[:4]})
			if failed = errors.Join(failed, err); failed != nil {
				return failed
			}
			return fmt.Errorf("login with %s: %w", canary, harness.ErrRetry)
		}}
		k := kernel.New(memory.New(), map[string]harness.Engine{"e": redacted.New(e, redactor(t))}, &kernel.Options{Engine: "e"})
		defer k.Close()
		id, err := k.Create(t.Context(), harness.NewSession{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.Do(t.Context(), id, harness.Submit{Parts: harness.TextPart("go")}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := k.Do(t.Context(), id, harness.Answer{Call: "c1", Decision: harness.Decision{Verdict: harness.Allow}}); err != nil {
			t.Fatal(err)
		}
		for up, err := range k.Watch(t.Context(), id, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if up.State != nil && up.State.Turn == nil || len(up.Events) > 0 && up.Events[len(up.Events)-1].Type() == "turn_end" {
				break
			}
		}
		var log strings.Builder
		for ev, err := range k.Read(t.Context(), id, 0) {
			if err != nil {
				t.Fatal(err)
			}
			log.Write(ev.JSON())
			log.WriteByte('\n')
		}
		if strings.Contains(log.String(), canary) || strings.Contains(log.String(), canary[:12]) {
			t.Errorf("the log has it:\n%s", log.String())
		}
		for _, want := range []string{redact.Mark + " and canar", "it is " + redact.Mark, `"got "`, `"` + redact.Mark + `\n"`, "the end cana", "status 401 for " + redact.Mark, "login with " + redact.Mark, "send " + redact.Mark, "file:///x?k=" + redact.Mark} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%q is missing in\n%s", want, log.String())
			}
		}
		if !covered {
			t.Error("the decision does not cover the call as it is")
		}
	})
}

// TestTheEngineNoticesNothing: a script engine in this coat passes what every
// engine passes.
func TestTheEngineNoticesNothing(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("testdata/situations.script")
	if err != nil {
		t.Fatal(err)
	}
	enginetest.Test(t, func(t testing.TB) harness.Engine {
		s, err := script.Parse(string(src))
		if err != nil {
			t.Fatal(err)
		}
		return redacted.New(script.New(s, nil), redactor(t))
	}, enginetest.Situations{
		Say: "say", Fail: "fail", Long: "long", Retry: "retry", Think: "think", Tool: "tool", Ask: "ask", Steer: "steer", Resume: "resume", In: synctest.Test,
	})
}
