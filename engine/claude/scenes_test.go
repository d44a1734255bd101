package claude_test

import (
	"harness"
	"harness/engine/internal/bridgetest"
)

// scenes are what a session can live through with the program. They are cued by
// the log alone, so that they play the same with the stand-in.
var scenes = []bridgetest.Scene{
	bridgetest.Text, bridgetest.Fork, bridgetest.Fresh, bridgetest.ResumeLost(".harness/claude/ses_1/config"),
	bridgetest.Interrupt("interrupt"), shell.InterruptQuestion("interrupt_question"),
	shell.Killed("\x00stream-json\x00", ".harness/claude/ses_1/config/projects/*/*.jsonl"),
	bridgetest.Restart("when step 1\n  " + shell.Call("echo one") + "\nelse\n  say Done."),
	bridgetest.Failing("error_400", "status 400 No such thing."), bridgetest.Failing("error_429", "status 429 Slow down."),
	bridgetest.Failing("error_500", "status 500 Oops."), bridgetest.Failing("error_529", "status 529 Overloaded."),
	// Before the model has answered, the program has noted nothing down: which
	// conversation is the session's is recorded when it has.
	{Name: "interrupt_early", Model: `
when user "again"
  say Back.
else
  pause`, Play: func(s *bridgetest.Stage) {
		s.Say("go")
		s.Saw("turn_start_tools")
		s.Do(harness.Cancel{})
		s.Ended(1)
		if ref := s.State().EngineRef; ref != "" {
			s.Errorf("recorded before the model had answered: %s", ref)
		}
		s.Ask("again")
		s.Told(-1, "conversation-so-far", "user: go")
		if ref := s.State().EngineRef; ref == "" {
			s.Error("nothing recorded")
		}
	}},
	{Name: "tool_allow", Model: `
when user "again"
  say The same.
when step 1
  say I will look.
  call Bash {"command":"echo made > made.txt; cat made.txt"}
else
  say It says so.`, Play: func(s *bridgetest.Stage) {
		s.Say("what does it say?")
		s.Decide(harness.Allow, harness.Once, "")
		s.Ended(1)
		s.Made("made.txt", "made\n")
		s.Ask("and again?") // the same process: its command left nothing
	}},
	{Name: "tool_deny", Model: `
when step 1
  call Write {"file_path":"no.txt","content":"x"}
else
  say Then not.`, Play: func(s *bridgetest.Stage) {
		s.Say("write")
		s.Decide(harness.Deny, harness.Once, "not on a Sunday")
		s.Ended(1)
		s.Told(2, "not on a Sunday")
	}},
	{Name: "always", Model: `
when step 1
  call Bash {"command":"echo one"}
when step 2
  call Bash {"command":"echo one"}
else
  say Both.`, Play: func(s *bridgetest.Stage) {
		s.Say("both")
		s.Decide(harness.Allow, harness.Always, "")
		s.Ended(1)
	}},
	// The program suggests a rule with its question: always gives it that rule, about
	// this one file, so it does not ask again, and the session a rule of its own,
	// which answers the next process.
	{Name: "always_suggested", Policy: "rules: [{ask: Read, place: outside}]", Model: `
when user "others" and step 1
  call Read {"file_path":"/proc/sys/kernel/osrelease"}
when user "others"
  say Not that one.
when step 1
  call Read {"file_path":"/proc/sys/kernel/ostype"}
when step 2
  call Read {"file_path":"/proc/sys/kernel/ostype"}
else
  say Linux.`, Play: func(s *bridgetest.Stage) {
		s.Say("which system?")
		s.Decide(harness.Allow, harness.Always, "")
		s.Ended(1)
		s.Judged(1) // the second call was not even asked about
		s.Ask("and now?")
		s.Judged(1) // nor were those of the next turn
		s.Say("and the others?")
		s.Decide(harness.Deny, harness.Once, "only that one")
		s.Ended(3)
		s.Judged(2) // what it suggested was all of their directory
		s.Reboot()
		s.Ask("and after that?")
		s.Judged(4) // another process asks, and nobody is
	}},
	{Name: "edit_always", Model: `
when step 1
  call Write {"file_path":"$WORK/a.txt","content":"a"}
when step 2
  call Write {"file_path":"$WORK/b.txt","content":"b"}
else
  say Both.`, Play: func(s *bridgetest.Stage) {
		s.Say("both")
		s.Decide(harness.Allow, harness.InSession, "")
		s.Ended(1)
	}},
	// In accept_edits it is policy that allows edits, so its rules about them hold.
	{Name: "edit_rules", Policy: `rules: [{deny: Write, paths: "*.env"}, {ask: Write, paths: "*.lock"}]`, Model: `
when step 1
  call Write {"file_path":"$WORK/a.env","content":"a"}
when step 2
  call Write {"file_path":"$WORK/a.txt","content":"a"}
when step 3
  call Write {"file_path":"$WORK/a.lock","content":"a"}
else
  say One of them.`, Play: func(s *bridgetest.Stage) {
		s.Do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.AcceptEdits)}})
		s.Say("all")
		s.Decide(harness.Deny, harness.Once, "not that")
		s.Ended(1)
		s.Judged(3)
		s.Made("a.txt", "a")
		s.NotMade("a.env")
		s.NotMade("a.lock")
	}},
	{Name: "steer", Model: `
when step 1
  call Bash {"command":"sleep 2; echo slept"}
else
  say I heard you.`, Play: func(s *bridgetest.Stage) {
		s.Say("go")
		s.Decide(harness.Allow, harness.Once, "")
		s.Do(harness.Steer{Parts: harness.TextPart("say banana")})
		s.Ended(1)
		s.Told(2, "slept", "say banana") // in one request
	}},
	{Name: "steer_text", Model: `
when user "banana"
  say Banana.
else
  say Half
  pause gate
  say and the other half`, Play: func(s *bridgetest.Stage) {
		s.Say("go")
		s.Saw("token Half")
		s.Do(harness.Steer{Parts: harness.TextPart("banana")})
		if s.Model != nil {
			s.Model.Open("gate")
		}
		s.Ended(1)
	}},
	{Name: "queue", Model: `
when user "second"
  say Two.
when step 1
  call Bash {"command":"echo one"}
else
  say One.`, Play: func(s *bridgetest.Stage) {
		s.Say("first")
		s.Pending()
		s.Say("second")
		s.Decide(harness.Allow, harness.Once, "")
		s.Ended(2)
	}},
	{Name: "fork_middle", Model: `
when user "three"
  say The third.
when user "two"
  call Bash {"command":"echo two"}
else
  say The first.`, Play: func(s *bridgetest.Stage) {
		s.Ask("one")
		s.Say("two")
		s.Pending()
		at := s.State().Seq
		s.ID = s.Create(harness.NewSession{ID: "ses_2", Directory: s.Dir, From: &harness.Branch{Session: "ses_1", Seq: at}})
		s.Ask("three")
		s.Told(-1, "conversation-so-far", "The first.", "user: two")
		s.ID = "ses_1"
		s.Do(harness.Cancel{})
		s.Ended(2)
	}},
	{Name: "configure", Model: `
when user "edit" and step 1
  call Write {"file_path":"$WORK/a.txt","content":"a"}
else
  say Done.`, Play: func(s *bridgetest.Stage) {
		s.Ask("one")
		s.Do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.AcceptEdits), Model: new("claude-haiku-4-5"), Effort: new(harness.EffortLow)}})
		s.Ask("edit") // the same process
		s.Told(-1, `"model":"claude-haiku-4-5"`)
		s.Made("a.txt", "a")
		s.Do(harness.Configure{Patch: harness.ConfigPatch{Model: new("claude-opus-5-5")}})
		s.Ask("three")
		s.Told(-1, `"effort":"low"`)
		s.Do(harness.Configure{Patch: harness.ConfigPatch{SystemPrompt: new("You are terse."), MaxTurns: new(3)}})
		s.Ask("two") // another
		s.Told(-1, "You are terse.")
	}},
	{Name: "agent", Model: "say Done.", Play: func(s *bridgetest.Stage) {
		s.Ask("one")
		s.Told(-1, `"name":"Write"`)
		s.Do(harness.Configure{Patch: harness.ConfigPatch{Agent: new("Explore")}})
		s.Ask("two") // another process: that agent only reads
		s.Told(-1, `"name":"Read"`)
		s.NotTold(-1, `"name":"Write"`)
	}},
	{Name: "configure_live", Model: `
when step 1
  call Write {"file_path":"$WORK/a.txt","content":"a"}
when step 2
  call Write {"file_path":"$WORK/b.txt","content":"b"}
else
  say Done.`, Play: func(s *bridgetest.Stage) {
		s.Say("go")
		s.Pending()
		s.Do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.AcceptEdits)}})
		s.Decide(harness.Allow, harness.Once, "")
		s.Ended(1)
	}},
	{Name: "max_turns", Model: `call Read {"file_path":"nothing.txt"}`, Play: func(s *bridgetest.Stage) {
		s.Do(harness.Configure{Patch: harness.ConfigPatch{MaxTurns: new(2)}})
		s.Ask("go")
	}},
	{Name: "subagent", Model: `
when user "inner" and step 1
  say inner text
  call Bash {"command":"echo inner"}
when user "inner"
  say inner done
when step 1
  call Task {"description":"sub work","prompt":"inner work","subagent_type":"general-purpose"}
else
  say All done.`, Play: func(s *bridgetest.Stage) {
		s.Say("delegate")
		s.Decide(harness.Allow, harness.Once, "")
		s.Ended(1)
	}},
	{Name: "question", Model: `
when step 1
  call AskUserQuestion {"questions":[{"question":"Which colour?","header":"Colour","multiSelect":false,"options":[{"label":"Red","description":"r"},{"label":"Blue","description":"b"}]}]}
else
  say Good.`, Play: func(s *bridgetest.Stage) {
		s.Say("paint")
		s.Decide(harness.Allow, harness.Once, "Blue")
		s.Ended(1)
		s.Told(2, "Blue")
	}},
	{Name: "plan", Model: `
when step 1
  call EnterPlanMode {}
when step 2
  call ExitPlanMode {}
else
  say Planned.`, Play: func(s *bridgetest.Stage) {
		s.Say("plan")
		s.Decide(harness.Allow, harness.Once, "")
		s.Ended(1)
	}},
	{Name: "parallel", Model: `
when step 1
  call Read {"file_path":"/proc/sys/kernel/ostype"}
  call Bash {"command":"echo two"}
else
  say Both.`, Play: func(s *bridgetest.Stage) {
		s.Say("both")
		s.Decide(harness.Allow, harness.Once, "")
		s.Ended(1)
	}},
	{Name: "compact", Model: `
when user "summary"
  say <summary>They said hello twice.</summary>
else
  say Hello there.`, Play: func(s *bridgetest.Stage) {
		s.Ask("hello")
		s.Ask("hello again")
		s.Ask("/compact")
		s.Ask("go on")
	}},
}
