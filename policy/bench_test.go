package policy_test

import (
	"testing"

	"harness"
	"harness/policy"
)

// The cost of a decision. Health and policy together may cost 5 % of an append:
// BenchmarkHealthAndPolicyBesideAnAppend of the kernel sets them beside one.
func BenchmarkDecide(b *testing.B) {
	none := policy.Join(nil, nil, directory)
	full := policy.Join(read(b, generous+"  - {deny: '*', paths: ['**/.env', 'secrets/**']}\n  - {deny: fetch, hosts: ['*.internal']}\n"), nil, directory)
	file := harness.ToolUse{Tool: "write", Access: harness.AccessEdit, Input: input("path", "src/a.go", "content", "package a\n")}
	for _, c := range []struct {
		name string
		p    *policy.Policy
		use  harness.ToolUse
	}{
		{"no policy", nil, line("npm test")},
		{"no rules", none, line("npm test")},
		{"a command", full, line("npm test")},
		{"a line", full, line("cd sub && npm test -- --watch 2>&1 | head -50 > out/a.txt")},
		{"a file", full, file},
	} {
		b.Run(c.name, func(b *testing.B) {
			ctx := policy.Context{Mode: harness.Normal, Directory: directory}
			b.ReportAllocs()
			for b.Loop() {
				policy.Decide(c.p, ctx, nil, nil, c.use)
			}
		})
	}
}
