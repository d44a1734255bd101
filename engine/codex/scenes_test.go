package codex_test

import (
	"os"
	"path/filepath"
	"strings"

	"harness"
	"harness/engine/internal/bridgetest"
)

// scenes are what a session can live through with the program.
var scenes = []bridgetest.Scene{
	{Name: "text", Model: "think A greeting.\nsay Hello there.\nusage in=10 out=7", Play: func(s *bridgetest.Stage) {
		s.Ask("hello")
		s.Ask("hello again") // the same process
	}},
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
	{Name: "interrupt", Model: `
when user "again"
  say Back.
else
  say Half
  pause`, Play: func(s *bridgetest.Stage) {
		s.Say("go")
		s.Saw("token Half")
		s.Do(harness.Cancel{})
		s.Ended(1)
		s.Ask("again") // the same process
	}},
	{Name: "interrupt_question", Model: `
when user "again"
  say Back.
else
  call exec_command {"cmd":"echo never","yield_time_ms":5000}`, Play: func(s *bridgetest.Stage) {
		s.Say("go")
		s.Pending()
		s.Do(harness.Cancel{})
		s.Ended(1)
		s.Ask("again")
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
	{Name: "killed", Model: `
when user "again"
  say Back.
when step 1
  say Working.
  call exec_command {"cmd":"echo one","yield_time_ms":5000}
else
  say Half
  pause`, Play: func(s *bridgetest.Stage) {
		s.Say("go")
		s.Decide(harness.Allow, harness.Once, "")
		s.Saw("Half")
		s.Kill("app-server")
		s.Ended(1)
		s.Ask("again")
		s.Told(-1, "Working.", "echo one", "again")
	}},
	{Name: "restart", Model: `
when request 1
  call exec_command {"cmd":"echo one","yield_time_ms":5000}
when request 2
  call exec_command {"cmd":"echo one","yield_time_ms":5000}
else
  say Done.`, Play: func(s *bridgetest.Stage) {
		s.Say("go")
		s.Pending()
		s.Until("checkpoint with the question", func([]harness.Event) bool { return strings.Contains(s.State().EngineRef, `"asked"`) })
		s.Reboot()
		s.Decide(harness.Allow, harness.Once, "")
		s.Ended(1)
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
	{Name: "fork", Model: `
when user "three"
  say The third.
when user "two"
  say The second.
else
  say The first.`, Play: func(s *bridgetest.Stage) {
		s.Ask("one")
		at := s.State().Seq
		s.Ask("two")
		s.ID = s.Create(harness.NewSession{ID: "ses_2", Directory: s.Dir, From: &harness.Branch{Session: "ses_1", Seq: at}})
		s.Ask("three")
		s.Told(-1, "The first.", "three")
		if s.Model != nil && strings.Contains(string(s.Model.Requests()[2].Body), "The second.") {
			s.Error("the branch has what came after it")
		}
	}},
	{Name: "fresh", Model: "say Hello.", Play: func(s *bridgetest.Stage) {
		s.Ask("one")
		s.Do(harness.Submit{Parts: harness.TextPart("two"), Source: harness.FromSubmit, OnBusy: harness.Enqueue})
		s.Ended(2)
		if s.Model != nil && strings.Contains(string(s.Model.Requests()[1].Body), `"one"`) {
			s.Error("the fresh turn knows the old one")
		}
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
	{Name: "max_turns", Model: `call exec_command {"cmd":"true","yield_time_ms":5000}`, Play: func(s *bridgetest.Stage) {
		s.Do(harness.Configure{Patch: harness.ConfigPatch{MaxTurns: new(2), PermissionMode: new(harness.FullAuto)}})
		s.Ask("go")
	}},
	{Name: "resume_lost", Model: "say Hello.", Play: func(s *bridgetest.Stage) {
		s.Ask("one")
		s.Reboot()
		if err := os.RemoveAll(s.Dir + "/.harness/codex"); err != nil {
			s.Fatal(err)
		}
		s.Ask("two")
		s.Told(-1, "conversation-so-far", "user: one", "assistant: Hello.")
	}},
	{Name: "error_400", Model: "status 400 No such thing.", Play: failing},
	{Name: "error_429", Model: "status 429 Slow down.", Play: failing},
	{Name: "error_500", Model: "status 500 Oops.", Play: failing},
	{Name: "error_stream", Model: "say Half\ndrop", Play: failing},
}

func failing(s *bridgetest.Stage) { s.Ask("go") }
