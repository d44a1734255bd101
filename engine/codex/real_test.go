package codex_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"harness"
	"harness/engine/agenttest"
	"harness/engine/enginetest"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
	"harness/model/modeltest"
	"harness/sandbox/bwrap"
)

// TestTheRealProgram is all that the real one has to show, where nothing but
// loopback can be reached.
func TestTheRealProgram(t *testing.T) {
	agenttest.Installed(t, bridge.Package)
	if !agenttest.Alone(t) {
		return
	}
	t.Run("Scenes", bridge.PlayReal)
	t.Run("RunsInNamespaces", runsInNamespaces)
	t.Run("RunsNothingOfTheWorkspaceUnasked", runsNothingUnasked)
	t.Run("WhatACommandLeftEndsWithTheTurn", leavesNothing)
	t.Run("CountsWhatItUses", counts)
	t.Run("NothingIsLeftHoweverItEnds", func(t *testing.T) {
		t.Parallel()
		bridgetest.Harass(bridge.Real(t, program.Options{}, `
when step 1
  call exec_command {"cmd":"`+bridgetest.Stay+`","yield_time_ms":20000}
else
  say Done.`), 1500)
	})
	t.Run("KeepsThePromisesOfEngines", func(t *testing.T) {
		if os.Getenv("LONG") == "" {
			t.Skip("LONG=1 runs the suite with the real program")
		}
		bridge.RealPromises(t, modeltest.Serve(t, suiteModel).URL, enginetest.Situations{
			Say: "inner say", Fail: "inner fail", Long: "inner long", Retry: "inner retry", Think: "inner think", Tool: "inner tool", Ask: "inner ask",
			Steer: "inner steer", Resume: "inner say",
		})
	})
}

// runsInNamespaces of a sandbox in which nothing but the workspace can be
// written: it works, remembers, and says what holds.
func runsInNamespaces(t *testing.T) {
	t.Parallel()
	box := bwrap.New(nil)
	if _, err := box.Probe(t.Context()); err != nil {
		t.Skip(err)
	}
	s := bridge.Real(t, program.Options{Sandbox: box, Network: true}, `
when user "again"
  say Back.
when step 1
  call exec_command {"cmd":"echo made > made.txt; touch /outside 2>/dev/null && echo out; ls $HOME","yield_time_ms":5000}
else
  say Done.`)
	s.Say("go")
	s.Decide(harness.Allow, harness.Once, "")
	s.Ended(1)
	s.Made("made.txt", "made\n")
	if log := bridgetest.Tell(s.Events()); strings.Contains(log, `out\n`) || !strings.Contains(log, "sandbox_notice namespaces") {
		t.Errorf("the log is\n%s", log)
	}
	for _, e := range s.Events() {
		if n, ok := e.Payload.(*harness.SandboxNotice); ok && !strings.Contains(n.Reason, "codex's own sandbox is off") {
			t.Errorf("the notice does not say that the inner sandbox is off: %q", n.Reason)
		}
	}
	s.Reboot()
	s.Ask("again")
	s.Told(-1, "echo made", "again")
	if b, err := os.ReadFile(s.Dir + "/.harness/codex/.gitignore"); err != nil || string(b) != "*\n" {
		t.Errorf("what the program keeps is not ignored: %q, %v", b, err)
	}
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

// leavesNothing is about a command that has left its shell.
func leavesNothing(t *testing.T) {
	t.Parallel()
	s := bridge.Real(t, program.Options{}, `
when step 1
  call exec_command {"cmd":"setsid sleep 300 >/dev/null 2>&1 & echo left","yield_time_ms":5000}
else
  say Done.`)
	s.Do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.FullAuto)}})
	s.Ask("go")
	s.NotRunning("sleep")
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
	s.Do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.FullAuto)}})
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
