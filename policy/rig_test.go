package policy_test

import (
	"encoding/json"
	"testing"

	"harness"
	"harness/policy"
)

const directory = "/w/project"

// read is a policy from its text.
func read(t testing.TB, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("p.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// try decides about a call in mode normal, as people write one.
func try(t testing.TB, p *policy.Policy, call string) policy.Verdict {
	t.Helper()
	return tryIn(t, p, policy.Context{Mode: harness.Normal, Directory: directory}, call)
}

func tryIn(t testing.TB, p *policy.Policy, c policy.Context, call string) policy.Verdict {
	t.Helper()
	use, err := policy.Example(c.Directory, call)
	if err != nil {
		t.Fatal(err)
	}
	return policy.Decide(p, c, nil, nil, use)
}

// line is a call of bash with a command line.
func line(text string) harness.ToolUse {
	input, err := json.Marshal(map[string]string{"command": text})
	if err != nil {
		panic(err)
	}
	return harness.ToolUse{Tool: "bash", Access: harness.AccessExecute, Input: input}
}
