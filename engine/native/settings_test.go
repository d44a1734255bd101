package native_test

import (
	"strings"
	"testing"

	"harness"
)

// What configure sets is in the next request, also within a turn.
func TestSettingsAreHeededFromTheNextAnswerOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, "responses", `
when step 1
  call bash id=wait {"command":"true"}
else
  say Done.
`, nil)
	r.configure(harness.Normal)
	r.do(harness.Configure{Patch: harness.ConfigPatch{Agent: new("code")}})
	r.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart("go")})
	st := r.until("a question", func(st *harness.State) bool { return len(st.Pending) > 0 })
	effort := harness.EffortHigh
	r.do(harness.Configure{Patch: harness.ConfigPatch{SystemPrompt: new("Speak like a pirate."), Model: new("other-model"), Effort: &effort}})
	r.do(harness.Answer{Approval: st.Pending[0].ID, Decision: harness.Decision{Verdict: harness.Allow, Scope: harness.Once}})
	r.rest()
	q := r.server.Requests()
	if len(q) != 2 || strings.Contains(q[0].System, "pirate") || !strings.HasSuffix(q[1].System, "Speak like a pirate.") {
		t.Fatalf("%d requests; the last system prompt is %s", len(q), r.last().System)
	}
	if body := string(q[1].Body); !strings.Contains(body, `"model":"other-model"`) || !strings.Contains(body, `"effort":"high"`) {
		t.Errorf("asked %s", body)
	}
	sum := one[*harness.Antahkarana](r)
	r.sumsUp(sum)
	if !strings.Contains(string(sum.Ahamkara), `"profile":"code"`) {
		t.Errorf("ran as %s", sum.Ahamkara)
	}
}
