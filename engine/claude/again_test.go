package claude_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"harness"
	"harness/engine/enginetest"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
)

// TestAnAnswerThatCameBetweenAttemptsDoesNotHoldTheNextUp is about a question
// that was answered, and whose call was closed, while no engine ran: the next
// attempt makes the call anew, and asks about it.
func TestAnAnswerThatCameBetweenAttemptsDoesNotHoldTheNextUp(t *testing.T) {
	t.Parallel()
	e, _ := bridge.Place(t, []string{bridgetest.Self(t)}, program.Options{Env: []string{"HARNESS_TEST_ROLE=conform"}})
	h := enginetest.NewHost("ses_1")
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	h.Answer = func(ctx context.Context, _ harness.ToolUse) (harness.Decision, error) {
		<-ctx.Done()
		return harness.Decision{}, context.Cause(ctx)
	}
	h.After = func(what string) {
		if strings.Contains(what, `"asked"`) {
			cancel(stop)
		}
	}
	if err := e.Run(ctx, h.Begin("resume"), h); !errors.Is(err, stop) {
		t.Fatalf("the first attempt: %v", err)
	}
	h.Answer, h.After = nil, nil
	waits := h.State().Pending
	if len(waits) != 1 {
		t.Fatalf("questions: %v", waits)
	}
	h.Decide(waits[0].Call, harness.Decision{Verdict: harness.Allow, Scope: harness.Once})
	if err := e.Run(t.Context(), h.Again(), h); err != nil {
		t.Fatalf("the second attempt: %v", err)
	}
	var ok int
	for _, ev := range h.Events() {
		if p, is := ev.Payload.(*harness.ToolOutcome); is && p.Status == harness.OutcomeOK {
			ok++
		}
	}
	if ok != 3 {
		t.Errorf("%d calls were made, want 3:\n%s", ok, bridgetest.Tell(h.Events()))
	}
}

// TestWhatIsApprovedOnceIsOneCall also when the server was restarted meanwhile and
// the program makes the call twice.
func TestWhatIsApprovedOnceIsOneCall(t *testing.T) {
	t.Parallel()
	s := bridge.As(t, "conform", program.Options{}, "HARNESS_TEST_STORY=twice")
	s.Say("twice")
	first := s.Pending()
	s.Until("checkpoint with the question", func([]harness.Event) bool { return strings.Contains(s.State().EngineRef, `"asked"`) })
	s.Reboot()
	s.Decide(harness.Allow, harness.Once, "")
	s.Saw("approval_required toolu_again")
	if second := s.Pending(); second.Call == first.Call {
		t.Errorf("%s is asked about twice", second.Call)
	}
	s.Decide(harness.Deny, harness.Once, "once is enough")
	s.Ended(1)
	s.Has("tool_outcome "+string(first.Call)+" ok", "tool_call toolu_again", "tool_outcome toolu_again denied once is enough")
}
