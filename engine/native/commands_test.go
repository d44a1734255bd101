package native_test

import (
	"strings"
	"testing"

	"harness"
	"harness/engine/enginetest"
)

// commanded does what it is told while it is told more.
const commanded = `
when user "hold on"
  say Half
  pause
when user "blue"
  say Blue then.
when step 1
  call bash {"command":"true"}
else
  say Done.
`

// everyCommand is sent to a session with every setting, and shows in what becomes
// of its turns.
func everyCommand(t *testing.T, told *enginetest.Ledger) {
	t.Helper()
	r := newRig(t, "anthropic", commanded, func(r *rig) { r.told = told })
	r.write(".harness/agents/reviewer.md", "You are a reviewer.")
	r.do(harness.Configure{Patch: harness.ConfigPatch{
		PermissionMode: new(harness.AcceptEdits), Model: new("another-model"), Effort: new(harness.EffortLow), MaxTurns: new(9), SystemPrompt: new("Be terse."), Agent: new("reviewer"),
	}})
	r.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart("one")})
	r.answer(harness.Deny, "not now")
	r.rest()
	for _, want := range []string{"not now", "another-model", "Be terse.", "You are a reviewer."} {
		if !strings.Contains(string(r.last().Body), want) {
			t.Errorf("the model was not told %q: %s", want, r.last().Body)
		}
	}
	r.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart("two")})
	r.until("a question", func(st *harness.State) bool { return len(st.Pending) > 0 })
	r.do(harness.Steer{Parts: harness.TextPart("use blue")})
	r.answer(harness.Allow, "")
	r.rest()
	if r.said() != "Blue then." {
		t.Errorf("said %q\n%s", r.said(), r.story())
	}
	r.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart("hold on")})
	r.until("half of it", func(st *harness.State) bool { return strings.Contains(said(st), "Half") })
	r.do(harness.Cancel{})
	r.rest()
}
