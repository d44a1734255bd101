package acp_test

import (
	"os"
	"path/filepath"

	"harness"
	"harness/engine/internal/bridgetest"
)

// scenes are what a session can live through with OpenCode.
var scenes = []bridgetest.Scene{
	{Name: "text", Model: "think A greeting.\nsay Hello there.\nusage in=10 out=7", Play: func(s *bridgetest.Stage) {
		s.Ask("hello")
		s.Ask("hello again") // the same process
	}},
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
	{Name: "cancel", Model: `
when user "again"
  say Back.
else
  say Half
  pause`, Play: func(s *bridgetest.Stage) {
		s.Say("go")
		s.Saw("token Half")
		s.Do(harness.Cancel{})
		s.Ended(1)
		s.Ask("again")
	}},
	{Name: "cancel_question", Model: `
when user "again"
  say Back.
else
  call bash {"command":"echo never","description":"never"}`, Play: func(s *bridgetest.Stage) {
		s.Say("go")
		s.Pending()
		s.Do(harness.Cancel{})
		s.Ended(1)
		s.Ask("again")
	}},
	{Name: "resume", Model: `
when user "two"
  say The second.
else
  say The first.`, Play: func(s *bridgetest.Stage) {
		s.Ask("one")
		s.Reboot()
		s.Ask("two") // another process
		s.Told(-1, "The first.", "two")
	}},
	{Name: "resume_lost", Model: "say Hello.", Play: func(s *bridgetest.Stage) {
		s.Ask("one")
		s.Reboot()
		if err := os.RemoveAll(s.Dir + "/.harness/acp"); err != nil {
			s.Fatal(err)
		}
		s.Ask("two")
		s.Told(-1, "conversation-so-far", "user: one", "assistant: Hello.")
	}},
	{Name: "configure", Model: "say Done.", Play: func(s *bridgetest.Stage) {
		s.Do(harness.Configure{Patch: harness.ConfigPatch{Model: new("scripted/other"), Agent: new("plan")}})
		s.Ask("one")
		s.Told(-1, `"model":"other"`)
		s.Do(harness.Configure{Patch: harness.ConfigPatch{Model: new(""), SystemPrompt: new("You are terse.")}})
		s.Ask("two")
		s.Told(-1, `"model":"mock"`)
		s.Do(harness.Configure{Patch: harness.ConfigPatch{Model: new("scripted/none")}})
		s.Ask("three")
	}},
}
