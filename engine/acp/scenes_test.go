package acp_test

import (
	"os"
	"path/filepath"

	"harness"
	"harness/engine/internal/bridgetest"
)

// scenes are what a session can live through with OpenCode.
var scenes = []bridgetest.Scene{
	bridgetest.Text, bridgetest.Resume, bridgetest.ResumeLost(".harness/acp"), bridgetest.Interrupt("cancel"), shell.InterruptQuestion("cancel_question"),
	{Name: "allow", Model: `
when step 1 and tool bash
  say I will look.
  call bash {"command":"echo made > made.txt; cat made.txt","description":"look"}
else
  say It says so.`, Play: func(s *bridgetest.Stage) {
		s.Say("what does it say?")
		s.Decide(harness.Allow, harness.Once, "")
		s.Ended(1)
		s.Made("made.txt", "made\n")
	}},
	{Name: "deny", Model: `
when step 1 and tool bash
  call bash {"command":"touch no.txt","description":"touch"}
else
  say Then not.`, Play: func(s *bridgetest.Stage) {
		s.Say("touch")
		s.Decide(harness.Deny, harness.Once, "not on a Sunday")
		s.Ended(1)
		if _, err := os.Stat(filepath.Join(s.Dir, "no.txt")); err == nil {
			s.Error("it ran")
		}
		s.Ask("and now?")
	}},
	{Name: "edit", Model: `
when step 1 and tool write
  call write {"filePath":"$WORK/a.txt","content":"hello\n"}
else
  say Written.`, Play: func(s *bridgetest.Stage) {
		s.Do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.AcceptEdits)}})
		s.Ask("write")
		s.Made("a.txt", "hello\n")
	}},
	{Name: "configure", Model: "say Done.", Play: func(s *bridgetest.Stage) {
		s.Do(harness.Configure{Patch: harness.ConfigPatch{Model: new("scripted/other"), Agent: new("plan")}})
		s.Ask("one")
		s.Told(-1, `"model":"other"`)
		s.Do(harness.Configure{Patch: harness.ConfigPatch{Model: new(""), SystemPrompt: new("You are terse.")}})
		s.Ask("two")
		s.Told(-1, `"model":"mock"`)
		s.Do(harness.Configure{Patch: harness.ConfigPatch{Effort: new(harness.EffortHigh)}})
		s.Ask("and a half")
		s.Told(-1, `"reasoning_effort":"high"`)
		s.Do(harness.Configure{Patch: harness.ConfigPatch{Model: new("scripted/none")}})
		s.Ask("three")
	}},
}
