package claude_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"harness"
	"harness/engine/claude"
	"harness/sandbox/bwrap"
)

// TestTheRealProgramRunsInNamespaces of a sandbox in which nothing but the
// workspace can be written: it works, remembers, and says what holds.
func TestTheRealProgramRunsInNamespaces(t *testing.T) {
	program := real(t)
	box := bwrap.New(nil)
	if _, err := box.Probe(t.Context()); err != nil {
		t.Skip(err)
	}
	s := realStage(t, claude.Options{Program: []string{program}, Sandbox: box, Network: true}, `
when user "again"
  say Back.
when step 1
  call Bash {"command":"echo made > made.txt; touch /outside 2>/dev/null && echo out; ls $HOME"}
else
  say Done.`)
	s.say("go")
	s.decide(harness.Allow, harness.Once, "")
	s.ended(1)
	s.made("made.txt", "made\n")
	if log := tellAll(s.log()); strings.Contains(log, "out\n") || !strings.Contains(log, "sandbox_notice namespaces") {
		t.Errorf("the log is\n%s", log)
	}
	s.reboot()
	s.ask("again")
	s.told(-1, "echo made", "again")
	if b, err := os.ReadFile(s.dir + "/.harness/claude/.gitignore"); err != nil || string(b) != "*\n" {
		t.Errorf("what the program keeps is not ignored: %q, %v", b, err)
	}
}

// TestWhatARealCommandLeftEndsWithTheTurn is about one that has left its shell.
func TestWhatARealCommandLeftEndsWithTheTurn(t *testing.T) {
	s := realStage(t, claude.Options{Program: []string{real(t)}}, `
when step 1
  call Bash {"command":"setsid sleep 300 >/dev/null 2>&1 & echo left"}
else
  say Done.`)
	s.do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.FullAuto)}})
	s.ask("go")
	for _, pid := range s.processes() {
		if b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline"); err == nil && strings.Contains(string(b), "sleep") {
			t.Errorf("%q is left", b)
		}
	}
}
