package talk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"harness"
	"harness/engine/enginetest"
	"harness/engine/internal/program"
	"harness/engine/internal/talk"
)

// TestACallHasOneNameAndOneOutcome whatever ids the program gives.
func TestACallHasOneNameAndOneOutcome(t *testing.T) {
	t.Parallel()
	input := json.RawMessage(`{"command":"x"}`)
	again := talk.Ref{Engine: "e", Thread: "t", Asked: []talk.Asked{
		{Call: "old", Tool: "sh", Digest: harness.Digest(input)}, {Call: "gone", Tool: "sh", Digest: "other"},
	}}
	c := talk.Calls{Again: again, Attempt: 2}
	first := c.Know("1", "sh", input)
	if first.ID != "old" || c.Know("1", "sh", input) != first {
		t.Errorf("the call that was asked about before is %s", first.ID)
	}
	c.Tell(first)
	c.Close(first, talk.End{})
	second := c.Know("1", "sh", input)
	third := c.Know("1x", "sh", json.RawMessage("{}"))
	long := c.Know(strings.Repeat("x", 2*harness.MaxID), "sh", input)
	if second.ID != "1@2" || third.ID != "1x@2" || len(long.ID) > harness.MaxID {
		t.Errorf("calls of another attempt are %s, %s and %s", second.ID, third.ID, long.ID)
	}
	c.Tell(second)
	second.Refuse("no")
	var ends []string
	for _, p := range c.Abandoned() {
		if o, ok := p.(*harness.ToolOutcome); ok {
			ends = append(ends, fmt.Sprintf("%s %s %s", o.ToolCallID, o.Status, o.Reason))
		}
	}
	if got := strings.Join(ends, ", "); got != "1@2 denied no, gone error interrupted" {
		t.Errorf("what is abandoned ends as %s", got)
	}
	if len(c.Close(second, talk.End{})) != 0 || len(c.Abandoned()) != 0 {
		t.Error("a call has two outcomes")
	}
}

// TestThePastIsToldOnceAndWithinBounds keeps the latest.
func TestThePastIsToldOnceAndWithinBounds(t *testing.T) {
	t.Parallel()
	h := enginetest.NewHost("ses_1")
	for i := range 40 {
		h.Begin(fmt.Sprintf("question %d", i))
		if err := h.Emit(t.Context(), &harness.Response{Text: strings.Repeat("answer ", 500)}); err != nil {
			t.Fatal(err)
		}
		h.End(nil)
	}
	turn := h.Begin("now")
	past, err := talk.Past(t.Context(), turn, h)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(past, "question 39") || strings.Contains(past, "question 0\n") || strings.Contains(past, "now") || len(past) > 70<<10 {
		t.Errorf("%d bytes: %.200s", len(past), past)
	}
	turn.Fresh = true
	if past, err := talk.Past(t.Context(), turn, h); past != "" || err != nil {
		t.Errorf("a fresh turn is told %q, %v", past, err)
	}
}

// TestWhatWasSaidToAnAttemptThatFailedIsSaidAgain wherever the next one goes on.
func TestWhatWasSaidToAnAttemptThatFailedIsSaidAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		was  talk.Ref
		want string
	}{
		"begun":     {talk.Ref{Thread: "t", Session: "ses_1", Turn: "trn_1"}, talk.Onward + " Meanwhile this was said, which you may not have heard:\n\n|banana"},
		"not begun": {talk.Ref{Thread: "t", Session: "ses_1", Turn: "trn_0"}, "|go\nbanana"},
		"afresh":    {talk.Ref{}, "|go\nbanana"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := enginetest.NewHost("ses_1")
			h.Begin("go")
			steer := func(text string) {
				var done sync.WaitGroup
				done.Go(func() { _ = h.Steer(t.Context(), text) })
				<-h.Steering()
				done.Wait()
			}
			steer("banana") // and the program dies
			turn := h.Again()
			steer("cherry") // this attempt has heard it
			told := ""
			err := talk.Play(t.Context(), turn, h, &program.Slot{}, c.was, func(_ context.Context, g talk.Goal) error {
				told = g.Before + "|" + harness.PlainText(g.Parts)
				return nil
			})
			if err != nil || told != c.want {
				t.Errorf("told %q, %v; want %q", told, err, c.want)
			}
		})
	}
}

// TestARefOfAnotherEngineIsNone so that its thread is never asked for.
func TestARefOfAnotherEngineIsNone(t *testing.T) {
	t.Parallel()
	r := talk.Ref{Engine: "codex", Session: "ses_1", Thread: "t", Turn: "trn_1", Done: true}
	if got := talk.ParseRef("codex", r.String()); got.String() != r.String() {
		t.Errorf("%s is read as %s", r, got)
	}
	for _, s := range []string{"", "x", `{"engine":"codex"}`, talk.Ref{Engine: "acp", Thread: "t"}.String()} {
		if got := talk.ParseRef("codex", s); got.Thread != "" || got.Completed(harness.Turn{}) {
			t.Errorf("%q is read as %s", s, got)
		}
	}
}

// TestStrangeThingsAreCountedWithinBounds however many there are, and however
// long their names.
func TestStrangeThingsAreCountedWithinBounds(t *testing.T) {
	t.Parallel()
	s := make(talk.Strange)
	for i := range 1000 {
		s.Count(fmt.Sprintf("%d%s", i, strings.Repeat("x", 1<<16)))
	}
	d, ok := s.Diagnostic()[0].(*harness.TransportDiagnostic)
	if !ok || d.FailureCount != 1000 || len(d.Reason) > 16<<10 || len(s) > 51 {
		t.Errorf("%d kinds, and %+v", len(s), d)
	}
}

// TestSpeechIsKeptWithinBounds and said all the same, blocks apart.
func TestSpeechIsKeptWithinBounds(t *testing.T) {
	t.Parallel()
	var s talk.Speech
	said := ""
	for _, text := range []string{"one\n", "two", "\n", "\n", "three"} {
		s.Block()
		for _, p := range s.Say(text) {
			said += p.(*harness.Token).Text
		}
	}
	if said != "one\n\ntwo\n\n\n\nthree" || s.String() != said {
		t.Errorf("%q was said, and %q kept", said, s.String())
	}
	for range 3 {
		if len(s.Say(strings.Repeat("x", 4<<20))) != 1 {
			t.Error("something was not said")
		}
	}
	if n := len(s.String()); n != 0 {
		t.Errorf("%d bytes are kept", n)
	}
}
