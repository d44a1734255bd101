package native_test

import (
	"fmt"
	"strings"
	"testing"

	"harness"
)

// stuckModels are models that get nowhere, and with which call they are stopped
// at the latest: the numbers of docs/health.md.
var stuckModels = []struct {
	name   string
	step   func(n int) string // the model's n-th answer, from 1 on
	policy harness.HealthPolicy
	budget string
	within int // calls
}{
	{"repeats itself", func(int) string { return `call bash {"command":"echo same"}` }, harness.HealthPolicy{LoopWarnings: new(int64(1))}, "loop_warnings", 3},
	{"alternates", func(n int) string { return fmt.Sprintf(`call bash {"command":"echo %d"}`, n%2) }, harness.HealthPolicy{LoopWarnings: new(int64(1))}, "loop_warnings", 6},
	{"fails the same way", func(n int) string {
		if n%2 == 1 {
			return `call read {"path":"missing.txt"}`
		}
		return fmt.Sprintf(`call bash {"command":"echo %d"}`, n)
	}, harness.HealthPolicy{LoopWarnings: new(int64(1))}, "loop_warnings", 5},
	{"burns tokens without evidence", func(n int) string { return fmt.Sprintf(`call read {"path":"missing-%d.txt"}`, n) }, harness.HealthPolicy{EventsWithoutEvidence: new(int64(8))}, "events_without_evidence", 5},
}

// Each is stopped by its detector, from a model's words over real calls to the
// question, and nothing more is called.
func TestAModelThatIsStuckIsStopped(t *testing.T) {
	t.Parallel()
	for _, s := range stuckModels {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			var script strings.Builder
			for n := range 20 {
				fmt.Fprintf(&script, "when step %d\n  %s\n", n+1, s.step(n+1))
			}
			script.WriteString("else\n  say I give up.\n")
			r := newRig(t, "anthropic", script.String(), nil)
			p := s.policy
			p.Action = harness.RequireApproval
			r.do(harness.Configure{Patch: harness.ConfigPatch{Health: &p}})
			r.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart("go")})
			st := r.until("a question", func(st *harness.State) bool { return len(st.Pending) > 0 || st.Turns > 0 && st.Turn == nil })
			if len(st.Pending) == 0 {
				t.Fatalf("it was not stopped\n%s", r.story())
			}
			asked := all[*harness.ApprovalRequired](r)[0]
			if asked.ToolName != "health_policy" || !strings.Contains(string(asked.Input)+asked.Reason, s.budget) {
				t.Errorf("%+v %s", asked, asked.Input)
			}
			if n := len(all[*harness.ToolCall](r)); n > s.within {
				t.Errorf("stopped with call %d, want %d at most\n%s", n, s.within, r.story())
			}
			r.do(harness.Cancel{})
			r.rest()
		})
	}
}
