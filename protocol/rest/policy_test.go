package rest_test

import (
	"context"
	"testing"

	"harness"
	"harness/policy"
	"harness/protocol/rest"
	"harness/store/memory"
)

// tried is how a server answers that has these rules and no others.
func tried(p *policy.Policy) func(context.Context, rest.PolicyQuestion) (rest.PolicyVerdict, error) {
	return func(_ context.Context, q rest.PolicyQuestion) (rest.PolicyVerdict, error) {
		c := policy.Context{Mode: q.Mode, Kind: q.Kind, Directory: "/workspace"}
		v := policy.Decide(p, c, nil, nil, policy.Use(c.Directory, q.Tool, q.Input))
		return rest.PolicyVerdict{Outcome: string(v.Outcome), Rule: v.Rule, Reason: v.Reason, Source: string(v.Source), Always: policy.Bind(c.Directory, q.Tool, q.Input)}, nil
	}
}

// Whoever asks learns what would be decided about a call, and why; nothing is
// called.
func TestPolicyCanBeTried(t *testing.T) {
	t.Parallel()
	p, err := policy.Parse("p.yaml", []byte(`rules: [{deny: bash, commands: ["rm *"], reason: never}, {allow: bash, commands: ["npm test"], mode: normal}]`))
	if err != nil {
		t.Fatal(err)
	}
	s := serveOn(t, memory.New(), "say hi\n", &rest.Options{TryPolicy: tried(p)})
	for body, want := range map[string]rest.PolicyVerdict{
		`{"tool":"bash","input":{"command":"npm test && rm -rf /"}}`:          {Outcome: "deny", Rule: "p.yaml#1", Reason: "never", Source: "file", Always: "command:npm test\nrm -rf /"},
		`{"tool":"bash","input":{"command":"npm test"}}`:                      {Outcome: "allow", Rule: "p.yaml#2", Reason: "allowed by the rule p.yaml#2", Source: "file", Always: "command:npm test"},
		`{"tool":"bash","input":{"command":"npm test"},"mode":"full_auto"}`:   {Outcome: "allow", Rule: "mode.full_auto", Reason: "full auto allows every call that no rule denies", Source: "mode", Always: "command:npm test"},
		`{"tool":"write","input":{"path":"/etc/passwd"},"kind":"background"}`: {Outcome: "ask", Rule: "mode.normal", Reason: "no rule is about it", Source: "mode", Always: "path:/etc/passwd"},
		`{"tool":"read","input":{"path":"a"}}`:                                {Outcome: "allow", Rule: "access.read", Reason: "reading needs no approval", Source: "mode", Always: "inside:"},
	} {
		var got rest.PolicyVerdict
		s.must(200, &got, "POST", "/policy/test", body)
		if got != want {
			t.Errorf("%s: %+v, want %+v", body, got, want)
		}
	}
	s.refused(400, "invalid", "tool", "POST", "/policy/test", `{}`)
	s.refused(400, "invalid", "mode", "POST", "/policy/test", `{"tool":"bash","mode":"yolo"}`)
	for sum, err := range s.k.List(t.Context(), harness.Filter{}) {
		t.Errorf("trying made %+v, %v", sum, err)
	}
	serve(t, "say hi\n").refused(501, "unsupported", "", "POST", "/policy/test", `{"tool":"bash"}`)
}
