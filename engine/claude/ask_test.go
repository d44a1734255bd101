package claude

import (
	"encoding/json"
	"testing"

	"harness"
)

func TestWhatIsAskedIsClassedByWhatItTouches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tool, blocked, input string
		want                 harness.Access
	}{
		{"Read", "", `{"file_path":"/etc/passwd"}`, harness.AccessRead},
		{"Write", "", `{"file_path":"/w/a"}`, harness.AccessEdit},
		{"Write", "", `{"file_path":"a/b"}`, harness.AccessEdit},
		{"Edit", "", `{"file_path":"/w/../x"}`, harness.AccessExecute}, // beyond the workspace
		{"Edit", "/elsewhere/a", `{"file_path":"/w/link"}`, harness.AccessExecute},
		{"Bash", "", `{}`, harness.AccessExecute},
		{"WebFetch", "", `{}`, harness.AccessNetwork},
		{"mcp__x__y", "", `{}`, harness.AccessNetwork},
		{"SomethingNew", "", `{}`, harness.AccessExecute},
		{question, "", `{}`, harness.AccessExecute},
	} {
		if got := access(c.tool, outside("/w", c.blocked, []byte(c.input))); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.tool, c.input, got, c.want)
		}
	}
}

func TestAnswersReachTheProgram(t *testing.T) {
	t.Parallel()
	ask := func(tool, input, suggestions string) *request {
		m, err := decode([]byte(`{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"` + tool + `","input":` + input + `,"permission_suggestions":` + suggestions + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		return m.(*request)
	}
	const rules = `[{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"localSettings"},{"type":"setMode","mode":"acceptEdits"},{"type":"addRules","behavior":"deny"}]`
	const readRule = `[{"type":"addRules","rules":[{"toolName":"Read","ruleContent":"//etc/**"}],"behavior":"allow","destination":"session"}]`
	const two = `{"questions":[{"question":"A?"},{"question":"B?"}]}`
	for _, c := range []struct {
		m    *request
		d    harness.Decision
		want string
	}{
		{ask("Bash", `{}`, rules), harness.Decision{Verdict: harness.Allow, Scope: harness.Once}, `{"behavior":"allow","updatedInput":{}}`},
		{ask("Bash", `{}`, rules), harness.Decision{Verdict: harness.Allow, Scope: harness.Always},
			`{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"session"}]}`},
		{ask("Read", `{"file_path":"/etc/hosts"}`, readRule), harness.Decision{Verdict: harness.Allow, Scope: harness.InSession},
			`{"behavior":"allow","updatedInput":{"file_path":"/etc/hosts"},"updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Read","ruleContent":"//etc/hosts"}],"behavior":"allow","destination":"session"}]}`},
		{ask("Read", `{"file_path":"/etc/hosts"}`, readRule), harness.Decision{Verdict: harness.Allow, Scope: harness.Once}, `{"behavior":"allow","updatedInput":{"file_path":"/etc/hosts"}}`},
		{ask("Bash", `{}`, rules), harness.Decision{Verdict: harness.Deny, Reason: "no"}, `{"behavior":"deny","message":"no"}`},
		{ask("Bash", `{}`, rules), harness.Decision{}, `{"behavior":"deny","message":"This was not allowed."}`},
		{ask(question, two, `[]`), harness.Decision{Verdict: harness.Allow, Reason: "yes"}, `{"behavior":"allow","updatedInput":{"answers":{"A?":"yes","B?":"yes"},"questions":[{"question":"A?"},{"question":"B?"}]}}`},
		{ask(question, two, `[]`), harness.Decision{Verdict: harness.Allow, Reason: `{"A?":"1","B?":"2"}`}, `{"behavior":"allow","updatedInput":{"answers":{"A?":"1","B?":"2"},"questions":[{"question":"A?"},{"question":"B?"}]}}`},
		{ask(question, two, `[]`), harness.Decision{Verdict: harness.Allow}, `{"behavior":"allow","updatedInput":{"answers":{"A?":"(no answer: decide yourself)","B?":"(no answer: decide yourself)"},"questions":[{"question":"A?"},{"question":"B?"}]}}`},
		{ask(plan, `{}`, `[]`), harness.Decision{Verdict: harness.Allow}, `{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"setMode","mode":"default","destination":"session"}]}`},
	} {
		if got := encode(t, judgement(c.m, c.d)); got != c.want {
			t.Errorf("%s, %+v:\n%s\nwant\n%s", c.m.Request.ToolName, c.d, got, c.want)
		}
	}
}

// TestASuggestedRuleReachesNoFurtherThanTheCall so that always does not pass by
// policy.
func TestASuggestedRuleReachesNoFurtherThanTheCall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ content, input, want string }{
		{"npm test", `{"command":"npm test"}`, "npm test"},
		{"npm test:*", `{"command":"npm test"}`, ""},
		{"", `{"command":"npm test"}`, ""},
		{"//etc/**", `{"file_path":"/etc/hosts"}`, "//etc/hosts"},
		{"//etc/**", `{"file_path":"/etc/../etc/./hosts"}`, "//etc/hosts"},
		{"//w/**", `{"notebook_path":"/w/a.ipynb"}`, "//w/a.ipynb"},
		{"//etc/**", `{"file_path":"/etc/*"}`, ""},
		{"etc/**", `{"file_path":"etc/hosts"}`, ""},
		{"//etc/**", `{"path":"/etc"}`, ""},
		{"domain:go.dev", `{"url":"https://go.dev/doc"}`, "domain:go.dev"},
		{"domain:*.dev", `{"url":"https://go.dev/doc"}`, ""},
		{"review", `{"skill":"review"}`, "review"},
		{"x", `no object`, ""},
	} {
		r, ok := rule{"T", c.content}.bounded([]byte(c.input))
		if got := map[bool]string{true: r.Content}[ok]; got != c.want {
			t.Errorf("%q about %s: %q, want %q", c.content, c.input, got, c.want)
		}
	}
}

func encode(tb testing.TB, v any) string {
	tb.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}
