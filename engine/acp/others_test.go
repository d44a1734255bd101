package acp_test

import (
	"os"
	"path/filepath"
	"testing"

	"harness"
	"harness/engine/agenttest"
	"harness/engine/internal/bridgetest"
)

// others are agents that the bridge was not made with. Each has the scenes that
// any agent must have.
var others = []bridgetest.Bridge{
	other("claude_acp", bridgetest.Bridge{
		Program: "claude-agent-acp 0.99.1 with Claude Code 2.1.325",
		Package: agenttest.ClaudeACP,
		Shell:   bridgetest.Shell{Tool: "Bash", Input: `{"command":%s,"description":"work"}`},
		Behind: func(url string) (args, env []string) {
			claude, _ := agenttest.Find(agenttest.Claude) // without it the agent says so
			return nil, []string{
				"CLAUDE_CODE_EXECUTABLE=" + claude, "ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=dummy", "CLAUDE_CODE_MAX_RETRIES=1",
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
			}
		},
	}),
	other("gemini", bridgetest.Bridge{
		Program: "Gemini CLI 0.61.0",
		Package: agenttest.Gemini,
		Args:    []string{"--acp", "-m", "gemini-2.5-pro"},
		Shell:   bridgetest.Shell{Tool: "run_shell_command", Input: `{"command":%s,"description":"work"}`},
		Behind: func(url string) (args, env []string) {
			return nil, []string{"GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_API_KEY=dummy", "GEMINI_TELEMETRY_ENABLED=false"}
		},
	}),
}

// other is an agent, named in its recordings.
func other(name string, b bridgetest.Bridge) bridgetest.Bridge {
	b.Name, b.Open, b.Notice, b.Dialect = bridge.Name, bridge.Open, bridge.Notice, bridge.Dialect
	for _, c := range []bridgetest.Scene{counted, allowed(b.Shell), denied(b.Shell), bridgetest.Interrupt("cancel")} {
		c = c.Of(name)
		b.Scenes, b.InCI = append(b.Scenes, c), append(b.InCI, c.Name)
	}
	b.Always = []string{name + "_allow"} // which has text, a question and a result
	return b
}

// counted is two turns, and what each used.
var counted = bridgetest.Scene{Name: bridgetest.Text.Name, Model: bridgetest.Text.Model, Play: func(s *bridgetest.Stage) {
	bridgetest.Text.Play(s)
	turns := 0
	for _, e := range s.Events() {
		if u, ok := e.Payload.(*harness.Usage); ok && u.InputTokens == 10 && u.OutputTokens == 7 {
			turns++
		}
	}
	if turns != 2 {
		s.Errorf("%d turns say what they used", turns)
	}
}}

// allowed is a call that somebody is asked about, and allows.
func allowed(sh bridgetest.Shell) bridgetest.Scene {
	return bridgetest.Scene{Name: "allow", Model: "when step 1 and tool " + sh.Tool + "\n  say I will look.\n  " + sh.Call("echo made > made.txt; cat made.txt") + "\nelse\n  say It says so.", Play: func(s *bridgetest.Stage) {
		s.Say("what does it say?")
		s.Decide(harness.Allow, harness.Once, "")
		s.Ended(1)
		s.Made("made.txt", "made\n")
	}}
}

// denied is one that is refused; the session goes on.
func denied(sh bridgetest.Shell) bridgetest.Scene {
	return bridgetest.Scene{Name: "deny", Model: "when user \"now\"\n  say Still not.\nwhen step 1 and tool " + sh.Tool + "\n  " + sh.Call("touch no.txt") + "\nelse\n  say Then not.", Play: func(s *bridgetest.Stage) {
		s.Say("touch")
		s.Decide(harness.Deny, harness.Once, "not on a Sunday")
		s.Ended(1)
		if _, err := os.Stat(filepath.Join(s.Dir, "no.txt")); err == nil {
			s.Error("it ran")
		}
		s.Ask("and now?")
	}}
}

// TestScenesOfOtherAgentsWithTheStandIn plays what they said when they were
// recorded.
func TestScenesOfOtherAgentsWithTheStandIn(t *testing.T) {
	t.Parallel()
	for _, b := range others {
		b.Replay(t)
	}
}

// TestOtherRealAgents plays the same with the agents themselves.
func TestOtherRealAgents(t *testing.T) {
	t.Parallel()
	for _, b := range others {
		agenttest.Installed(t, b.Package)
	}
	if testing.Short() {
		t.Skip("real agents take their time")
	}
	if !agenttest.Alone(t) {
		return
	}
	for _, b := range others {
		b.PlayReal(t)
	}
}
