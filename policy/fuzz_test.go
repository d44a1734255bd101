package policy_test

import (
	"testing"
	"unicode/utf8"

	"harness"
	"harness/policy"
)

// Whatever a line is, deciding ends without a panic. A line that rules about
// commands allow is still allowed with an allowed command beside it, and is not
// with one that no rule is about. What one approval stands for covers the line
// it was about.
func FuzzDecide(f *testing.F) {
	for _, text := range tricky {
		f.Add(text)
	}
	for _, text := range plain {
		f.Add(text)
	}
	p := read(f, generous)
	deny := read(f, `rules: [{deny: "*", commands: ["rm *"]}, {deny: "*", paths: ["**/.env"]}, {deny: "*", hosts: ["*.internal"]}]`)
	c := policy.Context{Mode: harness.Normal, Directory: directory}
	f.Fuzz(func(t *testing.T, text string) {
		use := line(text)
		v := policy.Decide(p, c, nil, nil, use)
		policy.Decide(deny, c, nil, nil, use)
		policy.Decide(deny, c, nil, nil, harness.ToolUse{Tool: "write", Input: input("path", text)})
		policy.Decide(deny, c, nil, nil, harness.ToolUse{Tool: "fetch", Input: input("url", text)})
		policy.Decide(deny, c, nil, nil, harness.ToolUse{Tool: "bash", Input: []byte(text)})
		policy.Decide(p, c, nil, nil, harness.ToolUse{Tool: "patch", Input: input("diff", text)})
		if v.Outcome == policy.Allow {
			if !utf8.ValidString(text) {
				t.Fatalf("%q is allowed", text)
			}
			for _, whole := range []string{"unheard; " + text, "(unheard)\n" + text, "if unheard; then true; fi; " + text} {
				if policy.Decide(p, c, nil, nil, line(whole)).Outcome == policy.Allow {
					t.Fatalf("%q is allowed", whole)
				}
			}
			if whole := "true; " + text; len(whole) < 16<<10 && policy.Decide(p, c, nil, nil, line(whole)).Outcome != policy.Allow {
				t.Fatalf("%q is allowed, %q is not", text, whole)
			}
		}
		rule := harness.Rule{ID: "rul_1", Tool: "bash", Pattern: policy.Bind(directory, "bash", use.Input)}
		if got := policy.Decide(nil, c, nil, []harness.Rule{rule}, use); got.Outcome != policy.Allow {
			t.Fatalf("%q is asked about again, after %q", text, rule.Pattern)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(generous))
	f.Add([]byte("policy:\n  trust: [/a/**]\n  unattended: {default: deny, deadline: 1m}\n  rules:\n  - {deny: '*', hosts: ['*.a.b:80'], place: outside, kind: chat}\n"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := policy.Parse("p.yaml", text)
		if err != nil {
			if harness.AsError(err) != harness.ErrInvalid {
				t.Fatalf("%v is not invalid input", err)
			}
			return
		}
		policy.Decide(policy.Join(p, p, directory), policy.Context{Directory: directory}, nil, nil, line("ls -l && rm x > y"))
	})
}
