package claude_test

import (
	"os"
	"testing"

	"harness"
	"harness/engine/claude"
)

// scenes are what a session can live through with the program. They are cued by
// the log alone, so that they play the same with the stand-in.
var scenes = []scene{
	{"text", "think A greeting.\nsay Hello there.\nusage in=10 out=7", func(s *stage) {
		s.ask("hello")
		s.ask("hello again") // the same process
	}},
	{"tool_allow", `
when user "again"
  say The same.
when step 1
  say I will look.
  call Bash {"command":"echo made > made.txt; cat made.txt"}
else
  say It says so.`, func(s *stage) {
		s.say("what does it say?")
		s.decide(harness.Allow, harness.Once, "")
		s.ended(1)
		s.made("made.txt", "made\n")
		s.ask("and again?") // the same process: its command left nothing
	}},
	{"tool_deny", `
when step 1
  call Write {"file_path":"no.txt","content":"x"}
else
  say Then not.`, func(s *stage) {
		s.say("write")
		s.decide(harness.Deny, harness.Once, "not on a Sunday")
		s.ended(1)
		s.told(2, "not on a Sunday")
	}},
	{"always", `
when step 1
  call Bash {"command":"echo one"}
when step 2
  call Bash {"command":"echo one"}
else
  say Both.`, func(s *stage) {
		s.say("both")
		s.decide(harness.Allow, harness.Always, "")
		s.ended(1)
	}},
	{"edit_always", `
when step 1
  call Write {"file_path":"$WORK/a.txt","content":"a"}
when step 2
  call Write {"file_path":"$WORK/b.txt","content":"b"}
else
  say Both.`, func(s *stage) {
		s.say("both")
		s.decide(harness.Allow, harness.InSession, "")
		s.ended(1)
	}},
	{"interrupt", `
when user "again"
  say Back.
else
  say Half
  pause`, func(s *stage) {
		s.say("go")
		s.saw("token Half")
		s.do(harness.Cancel{})
		s.ended(1)
		s.ask("again") // the same process
	}},
	{"interrupt_question", `
when user "again"
  say Back.
else
  call Bash {"command":"echo never"}`, func(s *stage) {
		s.say("go")
		s.pending()
		s.do(harness.Cancel{})
		s.ended(1)
		s.ask("again")
	}},
	{"steer", `
when step 1
  call Bash {"command":"sleep 2; echo slept"}
else
  say I heard you.`, func(s *stage) {
		s.say("go")
		s.decide(harness.Allow, harness.Once, "")
		s.do(harness.Steer{Parts: harness.TextPart("say banana")})
		s.ended(1)
		s.told(2, "slept", "say banana") // in one request
	}},
	{"steer_text", `
when user "banana"
  say Banana.
else
  say Half
  pause gate
  say and the other half`, func(s *stage) {
		s.say("go")
		s.saw("token Half")
		s.do(harness.Steer{Parts: harness.TextPart("banana")})
		if s.model != nil {
			s.model.Open("gate")
		}
		s.ended(1)
	}},
	{"queue", `
when user "second"
  say Two.
when step 1
  call Bash {"command":"echo one"}
else
  say One.`, func(s *stage) {
		s.say("first")
		s.pending()
		s.say("second")
		s.decide(harness.Allow, harness.Once, "")
		s.ended(2)
	}},
	{"killed", `
when user "again"
  say Back.
when step 1
  say Working.
  call Bash {"command":"echo one"}
else
  say Half
  pause`, func(s *stage) {
		s.say("go")
		s.decide(harness.Allow, harness.Once, "")
		s.saw("Half")
		s.kill()
		s.ended(1)
		s.ask("again")
		s.told(-1, "Working.", "echo one", "again")
	}},
	{"restart", `
when step 1
  call Bash {"command":"echo one"}
else
  say Done.`, func(s *stage) {
		s.say("go")
		s.pending()
		s.until("a checkpoint with the question", func([]harness.Event) bool {
			return len(s.state().EngineRef) > 0 && contains(s.state().EngineRef, `"asked"`)
		})
		s.reboot()
		s.decide(harness.Allow, harness.Once, "")
		s.ended(1)
	}},
	{"fork", `
when user "three"
  say The third.
when user "two"
  say The second.
else
  say The first.`, func(s *stage) {
		s.ask("one")
		at := s.state().Seq
		s.ask("two")
		s.id = s.create(harness.NewSession{ID: "ses_2", Directory: s.dir, From: &harness.Branch{Session: "ses_1", Seq: at}})
		s.ask("three")
		s.told(-1, "The first.", "three")
		if s.model != nil && contains(string(s.model.Requests()[2].Body), "The second.") {
			s.Error("the branch has what came after it")
		}
	}},
	{"fork_middle", `
when user "three"
  say The third.
when user "two"
  call Bash {"command":"echo two"}
else
  say The first.`, func(s *stage) {
		s.ask("one")
		s.say("two")
		s.pending()
		at := s.state().Seq
		s.id = s.create(harness.NewSession{ID: "ses_2", Directory: s.dir, From: &harness.Branch{Session: "ses_1", Seq: at}})
		s.ask("three")
		s.told(-1, "conversation-so-far", "The first.", "user: two")
		s.id = "ses_1"
		s.do(harness.Cancel{})
		s.ended(2)
	}},
	{"fresh", "say Hello.", func(s *stage) {
		s.ask("one")
		s.do(harness.Submit{Parts: harness.TextPart("two"), Source: harness.FromSubmit, OnBusy: harness.Enqueue})
		s.ended(2)
	}},
	{"configure", `
when user "edit" and step 1
  call Write {"file_path":"$WORK/a.txt","content":"a"}
else
  say Done.`, func(s *stage) {
		s.ask("one")
		s.do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.AcceptEdits), Model: new("claude-haiku-4-5"), Effort: new(harness.EffortLow)}})
		s.ask("edit") // the same process
		s.told(-1, `"model":"claude-haiku-4-5"`)
		s.made("a.txt", "a")
		s.do(harness.Configure{Patch: harness.ConfigPatch{Model: new("claude-opus-5-5")}})
		s.ask("three")
		s.told(-1, `"effort":"low"`)
		s.do(harness.Configure{Patch: harness.ConfigPatch{SystemPrompt: new("You are terse."), MaxTurns: new(3)}})
		s.ask("two") // another
		s.told(-1, "You are terse.")
	}},
	{"configure_live", `
when step 1
  call Write {"file_path":"$WORK/a.txt","content":"a"}
when step 2
  call Write {"file_path":"$WORK/b.txt","content":"b"}
else
  say Done.`, func(s *stage) {
		s.say("go")
		s.pending()
		s.do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.AcceptEdits)}})
		s.decide(harness.Allow, harness.Once, "")
		s.ended(1)
	}},
	{"max_turns", `call Read {"file_path":"nothing.txt"}`, func(s *stage) {
		s.do(harness.Configure{Patch: harness.ConfigPatch{MaxTurns: new(2)}})
		s.ask("go")
	}},
	{"subagent", `
when user "inner" and step 1
  say inner text
  call Bash {"command":"echo inner"}
when user "inner"
  say inner done
when step 1
  call Task {"description":"sub work","prompt":"inner work","subagent_type":"general-purpose"}
else
  say All done.`, func(s *stage) {
		s.say("delegate")
		s.decide(harness.Allow, harness.Once, "")
		s.ended(1)
	}},
	{"question", `
when step 1
  call AskUserQuestion {"questions":[{"question":"Which colour?","header":"Colour","multiSelect":false,"options":[{"label":"Red","description":"r"},{"label":"Blue","description":"b"}]}]}
else
  say Good.`, func(s *stage) {
		s.say("paint")
		s.decide(harness.Allow, harness.Once, "Blue")
		s.ended(1)
		s.told(2, "Blue")
	}},
	{"plan", `
when step 1
  call EnterPlanMode {}
when step 2
  call ExitPlanMode {}
else
  say Planned.`, func(s *stage) {
		s.say("plan")
		s.decide(harness.Allow, harness.Once, "")
		s.ended(1)
	}},
	{"resume_lost", "say Hello.", func(s *stage) {
		s.ask("one")
		s.reboot()
		if err := os.RemoveAll(s.dir + "/.harness/claude/ses_1/config"); err != nil {
			s.Fatal(err)
		}
		s.ask("two")
		s.told(-1, "conversation-so-far", "user: one", "assistant: Hello.")
	}},
	{"error_400", "status 400 No such thing.", failing},
	{"error_429", "status 429 Slow down.", failing},
	{"error_500", "status 500 Oops.", failing},
	{"error_529", "status 529 Overloaded.", failing},
	{"parallel", `
when step 1
  call Read {"file_path":"/proc/sys/kernel/ostype"}
  call Bash {"command":"echo two"}
else
  say Both.`, func(s *stage) {
		s.say("both")
		s.decide(harness.Allow, harness.Once, "")
		s.ended(1)
	}},
}

func failing(s *stage) { s.ask("go") }

// TestScenesWithTheStandIn plays every scene with what the program said when
// it was recorded.
func TestScenesWithTheStandIn(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range scenes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			story, err := os.Getwd()
			if err != nil {
				t.Fatal(err)
			}
			s := newStage(t, claude.Options{Program: []string{self}, Env: []string{"HARNESS_TEST_CLAUDE=replay", "HARNESS_TEST_STORY=" + story + "/" + c.story()}})
			c.play(s)
			c.golden(s)
		})
	}
}

// TestScenesWithTheRealProgram plays every scene with the program and a model
// that follows a script. UPDATE=1 writes down what they say.
func TestScenesWithTheRealProgram(t *testing.T) {
	program := real(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range scenes {
		t.Run(c.name, func(t *testing.T) {
			update := os.Getenv("UPDATE") != ""
			opts := claude.Options{Program: []string{program}}
			dir := t.TempDir()
			if update {
				opts.Program = []string{self, program}
				opts.Env = []string{"HARNESS_TEST_CLAUDE=record", "HARNESS_TEST_STORY=" + dir}
			}
			s := realStage(t, opts, c.model)
			c.play(s)
			if update {
				c.save(s, dir)
			}
			c.golden(s)
		})
	}
}
