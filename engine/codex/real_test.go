package codex_test

import (
	"os"
	"path/filepath"
	"testing"

	"harness"
	"harness/engine/enginetest"
	"harness/engine/internal/program"
)

func TestTheRealProgram(t *testing.T) {
	bridge.Alone(t, map[string]func(*testing.T){
		"RunsNothingOfTheWorkspaceUnasked": runsNothingUnasked,
		"CountsWhatItUses":                 counts,
		"KeepsThePromisesOfEngines": func(t *testing.T) {
			bridge.RealPromises(t, suiteModel, enginetest.Situations{
				Say: "inner say", Fail: "inner fail", Long: "inner long", Retry: "inner retry", Think: "inner think", Tool: "inner tool", Ask: "inner ask",
				Steer: "inner steer", Resume: "inner say",
			})
		},
	})
}

// runsNothingUnasked of the workspace although it has full access there: a
// project that it trusts could start servers.
func runsNothingUnasked(t *testing.T) {
	t.Parallel()
	s := bridge.Real(t, program.Options{}, "say Hello.")
	planted := filepath.Join(s.Dir, "planted")
	if err := os.MkdirAll(filepath.Join(s.Dir, ".codex"), 0o755); err != nil {
		t.Fatal(err)
	}
	config := "[mcp_servers.planted]\ncommand = \"/bin/sh\"\nargs = [\"-c\", \"touch " + planted + "; cat\"]\n"
	if err := os.WriteFile(filepath.Join(s.Dir, ".codex", "config.toml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	s.Ask("one")
	s.Ask("two")
	s.Reboot()
	s.Ask("three")
	if _, err := os.Stat(planted); err == nil {
		t.Error("a server of the workspace was started")
	}
}

// counts adds up what the requests of a turn use.
func counts(t *testing.T) {
	t.Parallel()
	s := bridge.Real(t, program.Options{}, `
when step 1
  call exec_command {"cmd":"true","yield_time_ms":5000}
  usage in=100 out=10 cached=20
else
  say Done.
  usage in=200 out=5 cached=30`)
	s.Freely()
	s.Ask("go")
	var last *harness.Usage
	for _, e := range s.Events() {
		if u, ok := e.Payload.(*harness.Usage); ok {
			last = u
		}
	}
	if last == nil || last.InputTokens != 350 || last.OutputTokens != 15 || last.CachedTokens != 50 || last.CostUSD != nil || last.ContextPct == nil || last.Model != "mock-model" {
		t.Errorf("the usage is %+v", last)
	}
}
