package bridgetest

import (
	"os"
	"path/filepath"
	"strings"

	"harness"
)

// Text is two turns of one process.
var Text = Scene{Name: "text", Model: "think A greeting.\nsay Hello there.\nusage in=10 out=7", Play: func(s *Stage) {
	s.Ask("hello")
	s.Ask("hello again") // the same process
}}

// Interrupt stops an answer; the conversation goes on.
func Interrupt(name string) Scene {
	return Scene{Name: name, Model: `
when user "again"
  say Back.
else
  say Half
  pause`, Play: func(s *Stage) {
		s.Say("go")
		s.Saw("token Half")
		s.Do(harness.Cancel{})
		s.Ended(1)
		s.Ask("again")
	}}
}

// InterruptQuestion stops a turn that waits for an answer.
func (sh Shell) InterruptQuestion(name string) Scene {
	return Scene{Name: name, Model: "when user \"again\"\n  say Back.\nelse\n  " + sh.Call("echo never"), Play: func(s *Stage) {
		s.Say("go")
		s.Pending()
		s.Do(harness.Cancel{})
		s.Ended(1)
		s.Ask("again")
	}}
}

// Killed kills the program in its second answer, when it has written down the
// first, if anybody can see that; the conversation goes on. word is in the
// program's command line.
func (sh Shell) Killed(word, record string) Scene {
	return Scene{Name: "killed", Model: "when user \"again\"\n  say Back.\nwhen step 1\n  say Working.\n  " + sh.Call("echo one") + "\nelse\n  say Half\n  pause", Play: func(s *Stage) {
		s.Say("go")
		s.Decide(harness.Allow, harness.Once, "")
		s.Saw("Half")
		if record != "" {
			s.Wrote(record, "echo one")
		}
		s.Kill(word)
		s.Ended(1)
		s.Ask("again")
		s.Told(-1, "Working.", "echo one", "again")
	}}
}

// Restart ends the kernel and the engine while a question waits. The answer comes
// to the next ones. model makes the same call in both attempts.
func Restart(model string) Scene {
	return Scene{Name: "restart", Model: model, Play: func(s *Stage) {
		s.Say("go")
		s.Pending()
		s.Until("checkpoint with the question", func([]harness.Event) bool { return strings.Contains(s.State().EngineRef, `"asked"`) })
		s.Reboot()
		s.Decide(harness.Allow, harness.Once, "")
		s.Ended(1)
	}}
}

// Resume goes on in another process.
var Resume = Scene{Name: "resume", Model: "when user \"two\"\n  say The second.\nelse\n  say The first.", Play: func(s *Stage) {
	s.Ask("one")
	s.Reboot()
	s.Ask("two")
	s.Told(-1, "The first.", "two")
}}

// Fork branches off after the first of two turns.
var Fork = Scene{Name: "fork", Model: "when user \"three\"\n  say The third.\nwhen user \"two\"\n  say The second.\nelse\n  say The first.", Play: func(s *Stage) {
	s.Ask("one")
	at := s.State().Seq
	s.Ask("two")
	s.ID = s.Create(harness.NewSession{ID: "ses_2", Directory: s.Dir, From: &harness.Branch{Session: "ses_1", Seq: at}})
	s.Ask("three")
	s.Told(-1, "The first.", "three")
	s.NotTold(-1, "The second.")
}}

// Fresh is a turn that is to know nothing of the one before it.
var Fresh = Scene{Name: "fresh", Model: "say Hello.", Play: func(s *Stage) {
	s.Ask("one")
	s.Do(harness.Submit{Parts: harness.TextPart("two"), Source: harness.FromSubmit, OnBusy: harness.Enqueue})
	s.Ended(2)
	s.NotTold(-1, `"one"`)
}}

// ResumeLost takes away what the program remembers of a conversation, which is in
// dir of the workspace.
func ResumeLost(dir string) Scene {
	return Scene{Name: "resume_lost", Model: "say Hello.", Play: func(s *Stage) {
		s.Ask("one")
		s.Reboot()
		if err := os.RemoveAll(filepath.Join(s.Dir, dir)); err != nil {
			s.Fatal(err)
		}
		s.Ask("two")
		s.Told(-1, "conversation-so-far", "user: one", "assistant: Hello.")
	}}
}

// Failing is a turn whose model fails.
func Failing(name, model string) Scene {
	return Scene{Name: name, Model: model, Play: func(s *Stage) { s.Ask("go") }}
}
