package acp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"harness"
	"harness/engine/acp"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
)

// peers is a stage with an agent made with the Go SDK.
func peers(t *testing.T, how string, change func(*acp.Options)) *bridgetest.Stage {
	t.Helper()
	base := program.Options{Env: []string{"HARNESS_TEST_ROLE=peer", "HARNESS_TEST_STORY=" + how}}
	return bridgetest.Open(t, t.TempDir(), base, harness.ConfigPatch{}, func(o program.Options) bridgetest.Engine {
		opts := acp.Options{Command: []string{bridgetest.Self(t)}, Base: o}
		if change != nil {
			change(&opts)
		}
		return acp.New(opts)
	})
}

// TestAnAgentMadeWithTheGoSDKIsUnderstood and understands us: its SDK refuses
// what its schema does not have.
func TestAnAgentMadeWithTheGoSDKIsUnderstood(t *testing.T) {
	t.Parallel()
	s := peers(t, "", nil)
	s.Say("work")
	s.Decide(harness.Allow, harness.Once, "")
	s.Ended(1)
	s.Has("thinking hm", "step_progress 0/1 in_progress look", `tool_call c execute {"command":"make"}`, `tool_result c "made"`, "tool_outcome c ok", "token made", "turn_end completed")
	s.Say("work")
	s.Decide(harness.Deny, harness.Once, "no")
	s.Ended(2)
	s.Has("tool_outcome c denied no", "refused")
	s.Say("write a.txt")
	s.Decide(harness.Allow, harness.Once, "")
	s.Ended(3)
	s.Has("it says two")
	if b, err := os.ReadFile(filepath.Join(s.Dir, "a.txt")); err != nil || string(b) != "one\ntwo\n" {
		t.Errorf("a.txt holds %q, %v", b, err)
	}
	s.Say("run cat a.txt")
	s.Decide(harness.Allow, harness.Once, "")
	s.Ended(4)
	s.Has(`it printed one\ntwo`)
	s.Say("long")
	s.Saw("token working")
	s.Do(harness.Cancel{})
	s.Ended(5)
	s.Has("turn_end cancelled")
	s.Reboot()
	s.Ask("go on") // in another process, which loads the conversation
	s.Has("in ask with small")
	if log := log(s); strings.Contains(log, "resume_lost") || strings.Contains(log, "said before") || strings.Contains(log, "unknown_messages") {
		t.Errorf("the conversation was lost or told again, or something was not understood:\n%s", log)
	}
	var used *harness.Usage
	for _, e := range s.Events() {
		if u, ok := e.Payload.(*harness.Usage); ok {
			used = u
		}
	}
	if used == nil || used.InputTokens != 10 || used.OutputTokens != 7 || used.Model != "small" {
		t.Errorf("the usage is %+v", used)
	}
}

// TestOlderAgentsAreToldTheirModeAndModel with session/set_mode and
// session/set_model, in a process that runs and in the next; what they do not
// have or refuse is told, and the turn runs.
func TestOlderAgentsAreToldTheirModeAndModel(t *testing.T) {
	t.Parallel()
	s := peers(t, "", func(o *acp.Options) { o.Mode = "plan" })
	configure := func(agent, model string) {
		t.Helper()
		s.Do(harness.Configure{Patch: harness.ConfigPatch{Agent: &agent, Model: &model}})
		s.Ask("which?")
	}
	said := func(turn int, want string) {
		t.Helper()
		var all []string
		for _, e := range s.Events() {
			if r, ok := e.Payload.(*harness.Response); ok {
				all = append(all, r.Text)
			}
		}
		if len(all) != turn || all[turn-1] != want {
			t.Errorf("turn %d said %q, want %s", turn, all, want)
		}
	}
	s.Ask("which?")
	said(1, "in plan with small") // the mode of the options
	configure("ask", "big")
	said(2, "in ask with big")
	s.Reboot()
	s.Ask("which?")
	said(3, "in ask with big") // told again
	configure("", "")
	said(4, "in plan with small") // as it began
	if log := log(s); strings.Contains(log, "control_refused") {
		t.Errorf("something was refused:\n%s", log)
	}
	configure("broken", "huge")
	said(5, "in plan with small")
	reasons := map[string]bool{}
	for _, e := range s.Events() {
		if d, ok := e.Payload.(*harness.TransportDiagnostic); ok && d.Kind == "control_refused" {
			reasons[d.Reason] = true
		}
	}
	if len(reasons) != 2 || !reasons["model huge: the agent does not offer it"] || !reasons["mode broken: Internal error"] {
		t.Errorf("refused: %v", reasons)
	}
	configure("ask", "small")
	said(6, "in ask with small") // what was refused was not believed
}

// TestAnAgentThatWantsCredentialsIsAuthenticated by the method that was named;
// without one, the turn's error names those that the agent has.
func TestAnAgentThatWantsCredentialsIsAuthenticated(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]string{
		"key":     "turn_end completed",
		"":        "the agent wants to be authenticated; its methods are key, browser",
		"browser": "method browser: authenticate: Invalid params",
	} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			s := peers(t, "locked", func(o *acp.Options) { o.Authenticate = method })
			s.Ask("which?")
			s.Has(want)
			if method == "key" {
				s.Has("in ask with small")
			} else {
				s.Has("turn_end error")
			}
		})
	}
}
