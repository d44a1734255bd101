package delta

import (
	"strings"
	"testing"
	"time"

	"harness"
)

// TestAStateSaysWhatItsEngineLacks, and a change of engine changes it.
func TestAStateSaysWhatItsEngineLacks(t *testing.T) {
	t.Parallel()
	deaf := &harness.SessionState{SessionID: "ses_a", Engine: "deaf", Lacks: &harness.Lacks{Events: []harness.Type{"tool_log"}, Commands: []string{"steer"}, Settings: []string{"max_turns"}}}
	var st harness.State
	st.Apply(harness.NewEvent("ses_a", 1, time.Now(), "", deaf))
	const want = `"lacks":{"commands":["steer"],"settings":["maxTurns"]}`
	if got := string(appendState(nil, &st, nil, 0)); !strings.Contains(got, want) {
		t.Errorf("the state is %s", got)
	}
	quiet := &harness.SessionState{Engine: "quiet", Lacks: &harness.Lacks{Events: []harness.Type{"tool_log"}}}
	st.Apply(harness.NewEvent("ses_a", 2, time.Now(), "", quiet))
	if got := string(appendState(nil, &st, nil, 0)); strings.Contains(got, "lacks") {
		t.Errorf("the state is %s", got)
	}
	if got := string(appendLacks(nil, st.Lacks)); got != `{"commands":[],"settings":[]}` {
		t.Errorf("it is cleared with %s", got)
	}
}
