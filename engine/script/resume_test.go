package script_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"harness"
	"harness/engine/enginetest"
)

// story checkpoints wherever it matters.
const story = `say a
checkpoint
call one => 1
repeat 2
  say b
  checkpoint
  ask two {} => 2
  tool three
  log 3
  outcome ok
  say c
  checkpoint
end
retry not yet
ask four
  log 4
  checkpoint
  say d
say e
`

// steps lists what was said and done, without which attempt did it.
func steps(h *enginetest.Host) (list []string) {
	for _, e := range h.Events() {
		switch p := e.Payload.(type) {
		case *harness.Token:
			list = append(list, "say "+p.Text)
		case *harness.ToolCall:
			list = append(list, "call "+string(p.ToolCallID))
		case *harness.ToolLog:
			list = append(list, "log "+string(p.ToolCallID))
		case *harness.ToolResult:
			list = append(list, "result "+string(p.ToolCallID))
		case *harness.ToolOutcome:
			list = append(list, p.Status+" "+string(p.ToolCallID))
		case *harness.ApprovalApplied:
			list = append(list, "decided "+string(p.ToolCallID))
		}
	}
	return list
}

// toTheEnd makes attempts until one does not fail for a while. Every attempt
// has a new engine, as after a restart.
func toTheEnd(t *testing.T, h *enginetest.Host, turn harness.Turn) {
	t.Helper()
	for {
		err := engine(t, story, nil).Run(t.Context(), turn, h)
		if err == nil {
			return
		}
		if !errors.Is(err, harness.ErrRetry) || turn.Attempt > 9 {
			t.Fatalf("attempt %d: %v", turn.Attempt, err)
		}
		turn = h.Again()
	}
}

var errCrash = errors.New("crash")

// TestAnotherAttemptRepeatsNothing stops a turn right after every checkpoint
// and every question, and plays it on with a new engine.
func TestAnotherAttemptRepeatsNothing(t *testing.T) {
	t.Parallel()
	whole := enginetest.NewHost("ses_1")
	toTheEnd(t, whole, whole.Begin("go"))
	if n := strings.Count(strings.Join(steps(whole), "\n"), "say"); n != 7 {
		t.Fatalf("the story itself says %d things:\n%q", n, steps(whole))
	}
	for n := 1; ; n++ {
		h := enginetest.NewHost("ses_1")
		ctx, cancel := context.WithCancelCause(t.Context())
		seen := 0
		h.After = func(what string) {
			if seen += strings.Count(what, "checkpoint "); seen == n {
				cancel(errCrash)
			}
		}
		err := engine(t, story, nil).Run(ctx, h.Begin("go"), h)
		cancel(nil)
		h.After = nil
		if seen < n {
			break
		}
		if !errors.Is(err, errCrash) && !errors.Is(err, harness.ErrRetry) {
			t.Fatalf("checkpoint %d: Run returned %v", n, err)
		}
		toTheEnd(t, h, h.Again())
		if got, want := steps(h), steps(whole); !slices.Equal(got, want) {
			t.Errorf("stopped at checkpoint %d\n got %q\nwant %q", n, got, want)
		}
		if c := h.Complaints(); len(c) > 0 {
			t.Errorf("stopped at checkpoint %d: %q", n, c)
		}
	}
}

// TestAQuestionOutlivesTheAttempt stops a turn that waits for an answer; the
// next attempt asks about the same call and gets the answer.
func TestAQuestionOutlivesTheAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const src = "say a\ncheckpoint\nask bash {} => done"
		h := enginetest.NewHost("ses_1")
		ctx, cancel := context.WithCancelCause(t.Context())
		h.Answer = func(ctx context.Context, _ harness.ToolUse) (harness.Decision, error) {
			cancel(errCrash)
			<-ctx.Done()
			return harness.Decision{}, context.Cause(ctx)
		}
		if err := engine(t, src, nil).Run(ctx, h.Begin("go"), h); !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
		pending := h.State().Pending
		h.Answer = nil
		if err := engine(t, src, nil).Run(t.Context(), h.Again(), h); err != nil {
			t.Fatal(err)
		}
		want := []string{"say a", "call call_1_3", "decided call_1_3", "result call_1_3", "ok call_1_3"}
		if got := steps(h); !slices.Equal(got, want) {
			t.Errorf("got %q\nwant %q", got, want)
		}
		if d := h.State().Decided; len(pending) != 1 || len(d) != 1 || d[0].ID != pending[0].ID {
			t.Errorf("asked as %v, decided as %v", pending, d)
		}
	})
}

func TestAPositionThatDoesNotFitIsReportedAndPlayedFromTheStart(t *testing.T) {
	t.Parallel()
	for _, ref := range []string{
		"claude:abc", "script", "script:0:0:trn_1", "script:1:x:trn_1", "script:1:99:trn_1", "script:1:0.1:trn_1", "script:1:-1:trn_1", "script:1:0.-1:trn_1",
	} {
		h := enginetest.NewHost("ses_1")
		turn := h.Begin("go")
		turn.Ref = ref
		if err := engine(t, "say a", nil).Run(t.Context(), turn, h); err != nil {
			t.Fatal(err)
		}
		got := facts(h, 3)
		if !strings.Contains(got, `"kind":"resume_lost"`) || !strings.HasSuffix(got, "token {\"text\":\"a\"}\n") {
			t.Errorf("%s: got\n%s", ref, got)
		}
	}
}
