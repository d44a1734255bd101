package codex_test

import (
	"os"
	"path/filepath"

	"harness"
	"harness/engine/internal/bridgetest"
)

// scenes are what a session can live through with the program.
var scenes = []bridgetest.Scene{
	bridgetest.Text, bridgetest.Resume, bridgetest.Fork, bridgetest.Fresh, bridgetest.ResumeLost(".harness/codex"),
	bridgetest.Interrupt("interrupt"), shell.InterruptQuestion("interrupt_question"), shell.Killed("app-server", ""),
	bridgetest.Restart("when request 1\n  " + shell.Call("echo one") + "\nwhen request 2\n  " + shell.Call("echo one") + "\nelse\n  say Done."),
	bridgetest.Failing("error_400", "status 400 No such thing."), bridgetest.Failing("error_429", "status 429 Slow down."),
	bridgetest.Failing("error_500", "status 500 Oops."), bridgetest.Failing("error_stream", "say Half\ndrop"),
	{Name: "accept", Model: `
when user "again"
  say The same.
when step 1
  say I will look.
  call exec_command {"cmd":"echo made > made.txt; cat made.txt","yield_time_ms":5000}
else
  say It says so.`, Play: func(s *bridgetest.Stage) {
		s.Say("what does it say?")
		s.Decide(harness.Allow, harness.Once, "")
		s.Ended(1)
		s.Made("made.txt", "made\n")
		s.Ask("and again?")
	}},
	{Name: "decline", Model: `
when user "Sunday"
  say Then not.
when step 1
  call exec_command {"cmd":"touch no.txt","yield_time_ms":5000}
else
  say Why not?`, Play: func(s *bridgetest.Stage) {
		s.Say("touch")
		s.Decide(harness.Deny, harness.Once, "not on a Sunday")
		s.Ended(1)
		s.Told(-1, "not on a Sunday")
		if _, err := os.Stat(filepath.Join(s.Dir, "no.txt")); err == nil {
			s.Error("it ran")
		}
	}},
	{Name: "session", Model: `
when step 1
  call exec_command {"cmd":"echo one","yield_time_ms":5000}
when step 2
  call exec_command {"cmd":"echo one","yield_time_ms":5000}
else
  say Both.`, Play: func(s *bridgetest.Stage) {
		s.Say("both")
		s.Decide(harness.Allow, harness.InSession, "")
		s.Ended(1)
	}},
	{Name: "patch", Model: `
when step 1
  call exec_command {"cmd":"apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a.txt\n+hello\n*** End Patch\nEOF","yield_time_ms":5000}
else
  say Patched.`, Play: func(s *bridgetest.Stage) {
		s.Do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.AcceptEdits)}})
		s.Ask("patch")
		s.Made("a.txt", "hello\n")
	}},
	{Name: "failed_command", Model: `
when step 1
  call exec_command {"cmd":"echo no >&2; exit 3","yield_time_ms":5000}
else
  say It failed.`, Play: func(s *bridgetest.Stage) {
		s.Do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.FullAuto)}})
		s.Ask("fail")
	}},
	{Name: "steer", Model: `
when user "banana"
  say I heard you.
else
  call exec_command {"cmd":"sleep 1; echo slept","yield_time_ms":9000}`, Play: func(s *bridgetest.Stage) {
		s.Say("go")
		s.Decide(harness.Allow, harness.Once, "")
		s.Do(harness.Steer{Parts: harness.TextPart("say banana")})
		s.Ended(1)
		s.Told(-1, "slept", "say banana") // in one request
	}},
	{Name: "configure", Model: "say Done.", Play: func(s *bridgetest.Stage) {
		s.Ask("one")
		s.Do(harness.Configure{Patch: harness.ConfigPatch{Model: new("another"), Effort: new(harness.EffortLow)}})
		s.Ask("two") // the same process
		s.Told(-1, `"model":"another"`, `"effort":"low"`)
		s.Do(harness.Configure{Patch: harness.ConfigPatch{SystemPrompt: new("You are terse.")}})
		s.Ask("three") // another
		s.Told(-1, "You are terse.", "two")
	}},
	// The model says that the window is all but full, so the program shortens the
	// conversation before it goes on.
	{Name: "compact", Model: `
when user "CHECKPOINT COMPACTION"
  say They said hello.
when user "go on"
  say I go on.
else
  say Hello there.
  usage in=250000 out=10`, Play: func(s *bridgetest.Stage) {
		s.Ask("hello")
		s.Ask("go on")
		s.Has("context_compacted")
		s.Told(-1, "They said hello.", "go on")
		s.NotTold(-1, "Hello there.")
		s.Reboot()
		s.Ask("go on, please") // in another process, from what is left
		s.Told(-1, "They said hello.", "I go on.")
	}},
	{Name: "max_turns", Model: `
when user "enough"
  say Enough.
else
  call exec_command {"cmd":"true","yield_time_ms":5000}`, Play: func(s *bridgetest.Stage) {
		s.Do(harness.Configure{Patch: harness.ConfigPatch{MaxTurns: new(2), PermissionMode: new(harness.FullAuto)}})
		s.Ask("go")
		s.Ask("one is enough")
	}},
}
