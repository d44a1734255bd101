package policy_test

import (
	"testing"

	"harness"
	"harness/policy"
)

func TestModesGrantsAndRulesDecide(t *testing.T) {
	ruled := []harness.Rule{{ID: "rul_1", Directory: "/w", Tool: "write"}, {ID: "rul_2", Directory: "/w", Tool: "bash"}}
	granted := []harness.Grant{{Tool: "bash", Scope: harness.InSession}}
	for _, c := range []struct {
		name   string
		mode   harness.Mode
		grants []harness.Grant
		rules  []harness.Rule
		use    harness.ToolUse
		want   policy.Outcome
		rule   string
	}{
		{"normal asks for edits", harness.Normal, nil, nil, harness.ToolUse{Tool: "write", Access: harness.AccessEdit}, policy.Ask, "mode.normal"},
		{"normal asks for shell", harness.Normal, nil, nil, harness.ToolUse{Tool: "bash", Access: harness.AccessExecute}, policy.Ask, "mode.normal"},
		{"normal asks for network", harness.Normal, nil, nil, harness.ToolUse{Tool: "fetch", Access: harness.AccessNetwork}, policy.Ask, "mode.normal"},
		{"a call of unknown access is asked about", harness.Normal, nil, nil, harness.ToolUse{Tool: "odd"}, policy.Ask, "mode.normal"},
		{"reading is free", harness.Normal, nil, nil, harness.ToolUse{Tool: "read", Access: harness.AccessRead}, policy.Allow, "access.read"},
		{"accept edits allows edits", harness.AcceptEdits, nil, nil, harness.ToolUse{Tool: "write", Access: harness.AccessEdit}, policy.Allow, "mode.accept_edits"},
		{"accept edits still asks for shell", harness.AcceptEdits, nil, nil, harness.ToolUse{Tool: "bash", Access: harness.AccessExecute}, policy.Ask, "mode.accept_edits"},
		{"full auto allows all", harness.FullAuto, nil, nil, harness.ToolUse{Tool: "bash", Access: harness.AccessExecute}, policy.Allow, "mode.full_auto"},
		{"a grant allows its tool", harness.Normal, granted, nil, harness.ToolUse{Tool: "bash", Access: harness.AccessExecute}, policy.Allow, "grant.session"},
		{"a grant allows no other tool", harness.Normal, granted, nil, harness.ToolUse{Tool: "write", Access: harness.AccessEdit}, policy.Ask, "mode.normal"},
		{"a rule allows its tool", harness.Normal, nil, ruled, harness.ToolUse{Tool: "bash", Access: harness.AccessExecute}, policy.Allow, "rule.rul_2"},
		{"a rule allows no other tool", harness.Normal, nil, ruled, harness.ToolUse{Tool: "fetch", Access: harness.AccessNetwork}, policy.Ask, "mode.normal"},
		{"a session's own grant comes before the directory's rule", harness.Normal, granted, ruled, harness.ToolUse{Tool: "bash"}, policy.Allow, "grant.session"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := policy.Decide(nil, policy.Context{Mode: c.mode}, c.grants, c.rules, c.use)
			if got.Outcome != c.want || got.Rule != c.rule {
				t.Errorf("Decide(%s, %v, %v, %+v) = %s by %s, want %s by %s", c.mode, c.grants, c.rules, c.use, got.Outcome, got.Rule, c.want, c.rule)
			}
		})
	}
}
