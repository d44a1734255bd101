package native_test

import (
	"strings"
	"testing"

	"harness"
)

// TestASessionsAgentIsAProfileOfTheWorkspace and one that is not there is told.
func TestASessionsAgentIsAProfileOfTheWorkspace(t *testing.T) {
	t.Parallel()
	r := newRig(t, "anthropic", "say Done.", nil)
	r.write(".harness/agents/reviewer.md", "You only read.\n")
	r.write(".harness/secret.md", "Nobody's business.\n")
	for _, c := range []struct {
		agent, has, refused string
	}{
		{"reviewer", "You only read.", ""},
		{"", "", ""},
		{"code", "", ""},
		{"nobody", "", "agent_profile nobody: there is no .harness/agents/nobody.md"},
		{"../secret", "", "agent_profile ../secret: there is no .harness/secret.md"},
	} {
		before := len(all[*harness.TransportDiagnostic](r))
		r.do(harness.Configure{Patch: harness.ConfigPatch{Agent: &c.agent}})
		r.prompt("who are you?")
		body := string(r.last().Body)
		if has := strings.Contains(body, "You only read."); has != (c.has != "") || strings.Contains(body, "business") {
			t.Errorf("as %q it was told %s", c.agent, body)
		}
		told := all[*harness.TransportDiagnostic](r)[before:]
		if c.refused == "" && len(told) > 0 || c.refused != "" && (len(told) != 1 || told[0].Kind != "control_refused" || told[0].Reason != c.refused) {
			t.Errorf("as %q: %+v", c.agent, told)
		}
	}
}
