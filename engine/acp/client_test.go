package acp_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"harness"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
)

// log is what happened, in words.
func log(s *bridgetest.Stage) string { return bridgetest.Tell(s.Events()) }

// has checks that the log says all of this.
func has(s *bridgetest.Stage, words ...string) {
	s.Helper()
	for _, w := range words {
		if !strings.Contains(log(s), w) {
			s.Errorf("the log does not say %q:\n%s", w, log(s))
		}
	}
}

// TestAFileIsWrittenOnlyIfSomebodyAllows and read without a question.
func TestAFileIsWrittenOnlyIfSomebodyAllows(t *testing.T) {
	t.Parallel()
	s := faulty(t, "", program.Options{})
	s.Say(`do fs/write_text_file "path":"$WORK/a.txt","content":"one\ntwo\nthree\n"`)
	s.Decide(harness.Deny, harness.Once, "no")
	s.Ended(1)
	if _, err := os.Stat(filepath.Join(s.Dir, "a.txt")); err == nil {
		t.Error("it was written")
	}
	has(s, "not allowed: no", "denied no")
	s.Say(`do fs/write_text_file "path":"$WORK/a.txt","content":"one\ntwo\nthree\n"`)
	s.Decide(harness.Allow, harness.Once, "")
	s.Ended(2)
	if b, err := os.ReadFile(filepath.Join(s.Dir, "a.txt")); err != nil || string(b) != "one\ntwo\nthree\n" {
		t.Errorf("a.txt holds %q, %v", b, err)
	}
	s.Ask(`do fs/read_text_file "path":"$WORK/a.txt","line":2,"limit":1`)
	has(s, `token {"content":"two\n"}`)
	s.Ask(`do fs/read_text_file "path":"$WORK/none.txt"`)
	has(s, "no such file")
}

// TestAnAgentThatTalksBeforeItReadsIsHeard while an answer waits for it that is
// longer than a pipe is wide.
func TestAnAgentThatTalksBeforeItReadsIsHeard(t *testing.T) {
	t.Parallel()
	s := faulty(t, "", program.Options{})
	if err := os.WriteFile(filepath.Join(s.Dir, "large.txt"), bytes.Repeat([]byte("y"), 1300<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Ask("flood large.txt")
	has(s, "xread 1331", "turn_end completed")
}

// TestNoFileOutsideTheWorkspaceIsTouched whatever the path looks like.
func TestNoFileOutsideTheWorkspaceIsTouched(t *testing.T) {
	t.Parallel()
	s := faulty(t, "", program.Options{})
	s.Do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.FullAuto)}})
	if err := os.Symlink("/etc", filepath.Join(s.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	for i, path := range []string{"/etc/hostname", "$WORK/../x", "$WORK/link/hostname"} {
		s.Ask(`do fs/read_text_file "path":"` + path + `"`)
		if n := strings.Count(log(s), `"code":`); n != i+1 {
			t.Errorf("%s was read:\n%s", path, log(s))
		}
	}
	s.Ask(`do fs/write_text_file "path":"$WORK/link/x","content":"x"`)
	s.Ask(`do terminal/create "command":"pwd","cwd":"/etc"`)
	if n := strings.Count(log(s), `"code":`); n != 5 {
		t.Errorf("something was done outside:\n%s", log(s))
	}
}

// TestAnAllowedEditCoversItsFile so that nobody is asked twice.
func TestAnAllowedEditCoversItsFile(t *testing.T) {
	t.Parallel()
	s := faulty(t, "", program.Options{})
	s.Say("edit a.txt")
	s.Decide(harness.Allow, harness.Once, "")
	s.Ended(1)
	if b, err := os.ReadFile(filepath.Join(s.Dir, "a.txt")); err != nil || string(b) != "new" {
		t.Errorf("a.txt holds %q, %v", b, err)
	}
	if n := strings.Count(log(s), "tool_call "); n != 1 {
		t.Errorf("there are %d calls:\n%s", n, log(s))
	}
}

// TestATerminalRunsInTheWorkspace if somebody allows, and ends with the turn.
func TestATerminalRunsInTheWorkspace(t *testing.T) {
	t.Parallel()
	s := faulty(t, "", program.Options{})
	s.Say("run echo $WORD; pwd; exit 3")
	s.Decide(harness.Allow, harness.Once, "")
	s.Ended(1)
	has(s, `"exitCode":3`, `hi\\n`+s.Dir, "it ended with 3")
	s.Say("run true")
	s.Decide(harness.Deny, harness.Once, "never")
	s.Ended(2)
	has(s, "not allowed: never")
	s.Do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.FullAuto)}})
	s.Ask("run sleep 300")
	has(s, `"truncated":false`)
	for _, pid := range s.Processes() {
		if b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline")); err == nil && strings.Contains(string(b), "sleep") {
			t.Errorf("%q is left", b)
		}
	}
}

// TestAnAgentThatForgetsIsToldAgain and the session says so.
func TestAnAgentThatForgetsIsToldAgain(t *testing.T) {
	t.Parallel()
	s := faulty(t, "forgetful", program.Options{Idle: -1})
	s.Ask("say")
	s.Ask("say more")
	has(s, "transport_diagnostic degraded resume_lost")
	s = faulty(t, "", program.Options{Idle: -1})
	s.Ask("say")
	s.Ask("say more")
	if strings.Contains(log(s), "resume_lost") || strings.Contains(log(s), "before") {
		t.Errorf("what was replayed is told, or nothing was:\n%s", log(s))
	}
}

// TestABranchIsToldItsPast because the protocol has no places.
func TestABranchIsToldItsPast(t *testing.T) {
	t.Parallel()
	s := faulty(t, "", program.Options{})
	s.Ask("say")
	s.ID = s.Create(harness.NewSession{ID: "ses_2", Directory: s.Dir, From: &harness.Branch{Session: "ses_1", Seq: s.State().Seq}})
	s.Ask("say more")
	has(s, "transport_diagnostic degraded resume_lost")
}
