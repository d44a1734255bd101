package native_test

import (
	"strings"
	"testing"

	"harness"
)

func TestCancelEndsWhatRuns(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		r := newRig(t, client, `
when step 1
  say I wait.
  call bash {"command":"echo begun; sleep 600 & echo $! > pid; wait"}
else
  say Done.
`, nil)
		r.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart("wait")})
		r.until("the command", func(st *harness.State) bool { return strings.Contains(said(st), "begun") })
		r.do(harness.Cancel{})
		st := r.rest()
		if st.Status != harness.Idle {
			t.Errorf("%s\n%s", st.Status, r.story())
		}
		if pid := strings.TrimSpace(r.file("pid")); alive(pid) {
			t.Errorf("process %s runs", pid)
		}
		if o := one[*harness.ToolOutcome](r); o.Reason != harness.TurnCancelled {
			t.Errorf("outcome %+v", o)
		}
		r.prompt("what happened?")
		if body := string(r.last().Body); !strings.Contains(body, "I wait.") || !strings.Contains(body, "This call was cancelled") {
			t.Errorf("the next request does not say what happened: %s", body)
		}
	})
}

// said is everything that a watcher reads of the turn.
func said(st *harness.State) string {
	var b strings.Builder
	for _, m := range st.Messages {
		b.WriteString(m.Content.String())
		for _, c := range m.Calls {
			b.WriteString(c.Output.String())
		}
	}
	return b.String()
}

func TestCancelKeepsTheTextSoFar(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		r := newRig(t, client, "when user \"hello\"\n  say Half an\n  part bash {\"comm\n  pause\nelse\n  say Whole.", nil)
		r.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart("hello")})
		r.until("some text", func(st *harness.State) bool { return strings.Contains(said(st), "Half an") })
		r.do(harness.Cancel{})
		r.rest()
		if len(all[*harness.ToolCall](r)) > 0 {
			t.Errorf("half a call became one\n%s", r.story())
		}
		r.prompt("go on")
		if body := string(r.last().Body); !strings.Contains(body, "Half an") || r.said() != "Whole." {
			t.Errorf("said %q after %s", r.said(), body)
		}
	})
}
