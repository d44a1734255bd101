package claude_test

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
	t.Run("ABranchTakesTheConversationAlong", branches)
	t.Run("WhatACommandLeftEndsWithTheTurn", leavesNothing)
	t.Run("NothingIsLeftHoweverItEnds", func(t *testing.T) {
		t.Parallel()
		bridgetest.Harass(bridge.Real(t, program.Options{}, `
when step 1
  call Bash {"command":"`+bridgetest.Stay+`"}
else
  say Done.`), 1500)
	})
	t.Run("KeepsThePromisesOfEngines", func(t *testing.T) {
		if os.Getenv("LONG") == "" {
			t.Skip("LONG=1 runs the suite with the real program")
		}
		bridge.RealPromises(t, modeltest.Serve(t, suiteModel).URL, enginetest.Situations{
			Say: "inner say", Fail: "inner fail", Long: "inner long", Retry: "inner retry", Think: "inner think", Tool: "inner tool", Ask: "inner ask",
			Steer: "inner steer", Resume: "inner resume",
		})
	})
}

// namespaces is a sandbox in which nothing but the workspace can be written.
func namespaces(t *testing.T) program.Options {
	t.Helper()
	box := bwrap.New(nil)
	if _, err := box.Probe(t.Context()); err != nil {
		t.Skip(err)
	}
	return program.Options{Sandbox: box, Network: true}
}

// runsInNamespaces: it works, remembers, and says what holds.
func runsInNamespaces(t *testing.T) {
	t.Parallel()
	s := bridge.Real(t, namespaces(t), `
when user "again"
  say Back.
when step 1
  call Bash {"command":"echo made > made.txt; touch /outside 2>/dev/null && echo out; ls $HOME"}
else
  say Done.`)
	s.Say("go")
	s.Decide(harness.Allow, harness.Once, "")
	s.Ended(1)
	s.Made("made.txt", "made\n")
	s.Has("sandbox_notice namespaces")
	if log := bridgetest.Tell(s.Events()); strings.Contains(log, `out\n`) {
		t.Errorf("it wrote outside:\n%s", log)
	}
	s.Reboot()
	s.Ask("again")
	s.Told(-1, "echo made", "again")
	if b, err := os.ReadFile(s.Dir + "/.harness/claude/.gitignore"); err != nil || string(b) != "*\n" {
		t.Errorf("what the program keeps is not ignored: %q, %v", b, err)
	}
}

// branches: each session sees its own directory of those that there are.
func branches(t *testing.T) {
	t.Parallel()
	opts := namespaces(t)
	state, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	opts.State, opts.Hidden = state, []string{".harness"}
	s := bridge.Real(t, opts, `
when user "three" and step 1
  call Bash {"command":"echo sees $(ls $HOME/..); cat $HOME/../ses_1/config/projects/*/*; ls -A .harness; echo x > .harness/x"}
when user "three"
  say The third.
when user "two"
  say The second.
else
  say The first.`)
	s.Ask("one")
	at := s.State().Seq
	s.Ask("two")
	s.ID = s.Create(harness.NewSession{ID: "ses_2", Directory: s.Dir, From: &harness.Branch{Session: "ses_1", Seq: at}})
	s.Do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.FullAuto)}})
	s.Ask("three")
	s.Told(-1, "The first.", "three", "sees ses_2")
	if log := bridgetest.Tell(s.Events()); strings.Contains(log, "resume_lost") {
		t.Errorf("the conversation was lost:\n%s", log)
	}
	for _, id := range []string{"ses_1", "ses_2"} {
		if found, err := filepath.Glob(filepath.Join(state, id, "config/projects/*/*.jsonl")); len(found) == 0 {
			t.Errorf("%s has no conversation: %v", id, err)
		}
		if info, err := os.Stat(filepath.Join(state, id)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s is for others: %v, %v", id, info, err)
		}
	}
	if left, err := os.ReadDir(s.Dir + "/.harness"); err != nil || len(left) > 0 {
		t.Errorf("the program wrote what is hidden: %v, %v", left, err)
	}
}

// leavesNothing is about a command that has left its shell.
func leavesNothing(t *testing.T) {
	t.Parallel()
	s := bridge.Real(t, program.Options{}, `
when step 1
  call Bash {"command":"setsid sleep 300 >/dev/null 2>&1 & echo left"}
else
  say Done.`)
	s.Do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.FullAuto)}})
	s.Ask("go")
	s.NotRunning("sleep")
}
