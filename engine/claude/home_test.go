package claude_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"harness"
	"harness/engine/claude"
	"harness/sandbox/bwrap"
)

// TestABranchTakesTheConversationAlong of the real program, in a sandbox where
// each session sees its own directory of those that there are.
func TestABranchTakesTheConversationAlong(t *testing.T) {
	program := real(t)
	box := bwrap.New(nil)
	if _, err := box.Probe(t.Context()); err != nil {
		t.Skip(err)
	}
	state, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := realStage(t, claude.Options{Program: []string{program}, Sandbox: box, Network: true, State: state, Hidden: []string{".harness"}}, `
when user "three" and step 1
  call Bash {"command":"echo sees $(ls $HOME/..); cat $HOME/../ses_1/config/projects/*/*; ls -A .harness; echo x > .harness/x"}
when user "three"
  say The third.
when user "two"
  say The second.
else
  say The first.`)
	s.ask("one")
	at := s.state().Seq
	s.ask("two")
	s.id = s.create(harness.NewSession{ID: "ses_2", Directory: s.dir, From: &harness.Branch{Session: "ses_1", Seq: at}})
	s.do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.FullAuto)}})
	s.ask("three")
	s.told(-1, "The first.", "three", "sees ses_2")
	if log := tellAll(s.log()); strings.Contains(log, "resume_lost") {
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
	if left, err := os.ReadDir(s.dir + "/.harness"); err != nil || len(left) > 0 {
		t.Errorf("the program wrote what is hidden: %v, %v", left, err)
	}
}

// TestNoLinkOfAParentIsFollowed when a branch takes a conversation along: it is
// what the parent's program has made, so it can lead to another session's.
func TestNoLinkOfAParentIsFollowed(t *testing.T) {
	for name, plant := range map[string]func(projects, other string) error{
		"file": func(p, other string) error {
			return os.Symlink(filepath.Join("../../../../ses_9", other), filepath.Join(p, "x", "CONV.jsonl"))
		},
		"directory": func(p, _ string) error { return os.Remove(filepath.Join(p, "x")) },
		"projects": func(p, _ string) error {
			if err := os.RemoveAll(p); err != nil {
				return err
			}
			return os.Symlink("../../ses_9/config/projects", p)
		},
		"absolute": func(p, other string) error {
			return os.Symlink(filepath.Join(p, "../../../ses_9", other), filepath.Join(p, "x", "CONV.jsonl"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			const other = "config/projects/x/CONV.jsonl"
			projects := filepath.Join(state, "ses_1/config/projects")
			for _, dir := range []string{filepath.Join(projects, "x"), filepath.Join(state, "ses_9/config/projects/x")} {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(state, "ses_9", other), []byte("secret"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := plant(projects, other); err != nil {
				t.Fatal(err)
			}
			err := claude.Prepare(state, "ses_2", "ses_1", "CONV")
			if text, _ := os.ReadFile(filepath.Join(state, "ses_2", other)); len(text) > 0 {
				t.Errorf("got %q, %v", text, err)
			}
		})
	}
}

func TestAConversationIsTakenAlongWhole(t *testing.T) {
	state := t.TempDir()
	const name = "config/projects/x/CONV.jsonl"
	if err := os.MkdirAll(filepath.Join(state, "ses_1", filepath.Dir(name)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "ses_1", name), []byte("said"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it is there
		if err := claude.Prepare(state, "ses_2", "ses_1", "CONV"); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(filepath.Join(state, "ses_2", name)); string(text) != "said" {
			t.Errorf("got %q, %v", text, err)
		}
	}
	if err := claude.Prepare(state, "ses_3", "ses_none", "CONV"); err != nil {
		t.Errorf("a parent that has none: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(state, "ses_none")); err == nil {
		t.Error("a home was made for somebody else")
	}
	if err := os.Symlink("ses_1", filepath.Join(state, "ses_4")); err != nil {
		t.Fatal(err)
	}
	if err := claude.Prepare(state, "ses_4", "", ""); err == nil {
		t.Error("a link was taken for a home")
	}
}
