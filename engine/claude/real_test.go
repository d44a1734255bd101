package claude_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"harness"
	"harness/engine/enginetest"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
)

func TestTheRealProgram(t *testing.T) {
	bridge.Alone(t, map[string]func(*testing.T){
		"ABranchTakesTheConversationAlong":  branches,
		"ACancelLeavesNothing":              cancelled,
		"ASessionHasOneProcess":             bridge.OneRealProcess,
		"ItsSocketsAreInADirectoryOfItsOwn": func(t *testing.T) { bridge.Socketed(t, "cc-socks/*.sock") },
		"KeepsThePromisesOfEngines": func(t *testing.T) {
			bridge.RealPromises(t, suiteModel, enginetest.Situations{
				Say: "inner say", Fail: "inner fail", Long: "inner long", Retry: "inner retry", Think: "inner think", Tool: "inner tool", Ask: "inner ask",
				Steer: "inner steer", Resume: "inner resume",
			})
		},
	})
}

// cancelled: what a command left that was cut short is gone with the turn.
func cancelled(t *testing.T) {
	t.Parallel()
	s := bridge.Real(t, program.Options{}, shell.Call("(setsid sleep 300 >/dev/null 2>&1 &); echo yes > started; for i in 1 2 3 4 5 6 7 8 9; do sleep 3; done"))
	s.Freely()
	s.Say("go")
	s.Wrote("started", "yes")
	s.Do(harness.Cancel{})
	s.Ended(1)
	s.NotRunning("sleep\x00300")
}

// branches: each session sees its own directory of those that there are.
func branches(t *testing.T) {
	t.Parallel()
	opts := bridgetest.Namespaces(t)
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
	s.Freely()
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
