package kernel

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/policy"
)

// run opens a call of bash with a command line, or of another tool with
// arguments, and asks about it.
func (s *scene) run(call harness.CallID, tool string, access harness.Access, args string) {
	s.do(emitted{s.turn(), report{payload: &harness.ToolCall{ToolCallID: call, Name: tool, Arguments: json.RawMessage(args)}}})
	s.do(asked{nil, s.turn(), harness.ToolUse{Call: call, Tool: tool, Access: access, Input: json.RawMessage(args)}, nil})
}

func (s *scene) line(call harness.CallID, command string) {
	args, _ := json.Marshal(map[string]string{"command": command})
	s.run(call, "bash", harness.AccessExecute, string(args))
}

func (s *scene) waits(call harness.CallID) bool {
	for _, a := range s.m.state.Pending {
		if a.Call == call {
			return true
		}
	}
	return false
}

func (s *scene) answers(call harness.CallID, scope harness.Scope) {
	s.do(commanded{nil, harness.Answer{Call: call, Decision: harness.Decision{Verdict: harness.Allow, Scope: scope, Actor: "ada"}}})
}

// Whoever allows npm test always, or for the session, has not allowed anything
// else: neither what waits already nor what comes.
func TestAStandingAnswerIsAboutItsCommand(t *testing.T) {
	t.Parallel()
	for _, scope := range []harness.Scope{harness.Always, harness.InSession} {
		for _, kept := range []bool{true, false} {
			s := running()
			if !kept {
				s.m.standing = nil
			}
			s.line("c1", "npm test")
			s.line("c2", "rm -rf /")
			s.line("c3", "npm  'test'")
			s.line("c4", "npm test && rm -rf /")
			s.answers("c1", scope)
			if s.waits("c1") || !s.waits("c2") || s.waits("c3") || !s.waits("c4") {
				t.Fatalf("%s, kept %t: %d questions are left", scope, kept, len(s.m.state.Pending))
			}
			s.line("c5", "npm test; npm test")
			s.line("c6", "npm test --script-shell=/tmp/x")
			if s.waits("c5") || !s.waits("c6") {
				t.Errorf("%s, kept %t: asked about c5 %t, about c6 %t", scope, kept, s.waits("c5"), s.waits("c6"))
			}
			switch {
			case kept && scope == harness.Always:
				if len(s.rules) != 1 || s.rules[0].Pattern != "command:npm test" {
					t.Errorf("rules %+v", s.rules)
				}
			default:
				for _, g := range s.m.state.Grants {
					if g.Pattern != "command:npm test" {
						t.Errorf("grants %+v", s.m.state.Grants)
					}
				}
				if again := fold(s.log); len(again.Grants) == 0 || again.Grants[0] != s.m.state.Grants[0] {
					t.Errorf("loaded with %+v, want %+v", again.Grants, s.m.state.Grants)
				}
			}
			// Another answer makes another rule.
			s.answers("c2", scope)
			if s.waits("c2") || s.waits("c4") {
				t.Error("npm test and rm -rf / are both allowed, and a line of both is asked about")
			}
			s.line("c7", "rm -rf /home")
			if !s.waits("c7") {
				t.Error("rm -rf / allows rm -rf /home")
			}
		}
	}
}

// A rule that somebody made elsewhere releases the questions it is about.
func TestARuleReleasesWhatItIsAbout(t *testing.T) {
	t.Parallel()
	s := running()
	s.line("c1", "npm test")
	s.line("c2", "rm -rf /")
	s.rules = []harness.Rule{{ID: "rul_1", Directory: "/w", Tool: "bash", Pattern: "command:npm test"}}
	s.do(ruled{})
	if s.waits("c1") || !s.waits("c2") {
		t.Errorf("asked about c1 %t, about c2 %t", s.waits("c1"), s.waits("c2"))
	}
}

// What is decided is in the log, with the rule and whose it is: the file's, or
// the mode's. A deny is the answer, an ask is a question with its reason.
func TestAFileOfRulesDecides(t *testing.T) {
	t.Parallel()
	p, err := policy.Parse("p.yaml", []byte(`
rules:
  - {deny: "*", paths: ["**/.env"], name: secrets}
  - {ask: bash, commands: ["git push *"], reason: it is published}
  - {allow: bash, commands: ["git *"]}
`))
	if err != nil {
		t.Fatal(err)
	}
	s := running()
	s.m.policy = policy.Join(p, nil, "/w")
	for _, c := range []struct {
		call                   harness.CallID
		tool, args, path, want string
		access                 harness.Access
	}{
		{"c1", "read", `{"path":".env"}`, "p.yaml#secrets", "deny", harness.AccessRead},
		{"c2", "bash", `{"command":"git push"}`, "p.yaml#2", "ask", harness.AccessExecute},
		{"c3", "bash", `{"command":"git log"}`, "p.yaml#3", "allow", harness.AccessExecute},
		{"c4", "bash", `{"command":"git log && cat .env"}`, "p.yaml#secrets", "deny", harness.AccessExecute},
		{"c7", "bash", `{"command":"make"}`, "mode.normal", "ask", harness.AccessExecute},
		{"c8", "read", `{"path":"a"}`, "access.read", "allow", harness.AccessRead},
	} {
		from := len(s.log)
		s.run(c.call, c.tool, c.access, c.args)
		var got *harness.PolicyDecision
		var asked *harness.ApprovalRequired
		for _, e := range s.log[from:] {
			switch p := e.Payload.(type) {
			case *harness.PolicyDecision:
				got = p
			case *harness.ApprovalRequired:
				asked = p
			}
		}
		source := "file"
		if !strings.HasPrefix(c.path, "p.yaml") {
			source = "mode"
		}
		if got == nil || got.Outcome != c.want || got.PolicyPath != c.path || got.ToolCallID != c.call || got.Reason == "" || got.Subject != c.tool || got.Source != source {
			t.Errorf("%s: decided %+v", c.args, got)
		}
		if (asked != nil) != (c.want == "ask") || asked != nil && source == "file" && asked.Reason != "it is published" {
			t.Errorf("%s: asked %+v", c.args, asked)
		}
	}
	// An answer with scope always answers such a question from then on; a deny
	// it does not.
	s.answers("c2", harness.Always)
	s.run("c5", "bash", harness.AccessExecute, `{"command":"git push"}`)
	if s.waits("c2") || s.waits("c5") {
		t.Error("asked again")
	}
	for _, e := range s.log {
		if p, ok := e.Payload.(*harness.PolicyDecision); ok && p.ToolCallID == "c5" && (p.Source != "approval" || p.Outcome != "allow") {
			t.Errorf("an earlier answer decided %+v", p)
		}
	}
	s.rules = append(s.rules, harness.Rule{ID: "rul_x", Directory: "/w", Tool: "read"})
	from := len(s.log)
	s.run("c6", "read", harness.AccessRead, `{"path":".env"}`)
	for _, e := range s.log[from:] {
		if p, ok := e.Payload.(*harness.PolicyDecision); ok && p.Outcome != "deny" {
			t.Errorf("a rule overrules a deny: %+v", p)
		}
	}
}

// In a session that nobody sits at, a question waits as long as the file says,
// if the server's own limit is not shorter.
func TestTheFileSetsADeadlineForUnattendedQuestions(t *testing.T) {
	t.Parallel()
	p, err := policy.Parse("p.yaml", []byte("unattended: {deadline: 10m}"))
	if err != nil {
		t.Fatal(err)
	}
	for own, want := range map[time.Duration]time.Duration{0: 10 * time.Minute, time.Minute: time.Minute, time.Hour: 10 * time.Minute} {
		s := working(func(s *scene) {
			s.m.policy, s.m.approvalTimeout = p, own
			s.line("c1", "ls")
		})
		if len(s.m.state.Pending) != 1 || s.m.state.Pending[0].Deadline == nil || !s.m.state.Pending[0].Deadline.Equal(s.now.Add(want)) {
			t.Errorf("with %s: %+v", own, s.m.state.Pending)
		}
	}
	if p, err = policy.Parse("p.yaml", []byte("unattended: {default: deny}")); err != nil {
		t.Fatal(err)
	}
	s := working(func(s *scene) {
		s.m.policy = p
		s.line("c1", "ls")
	})
	if len(s.m.state.Pending) != 0 {
		t.Errorf("somebody is asked: %+v", s.m.state.Pending)
	}
}
