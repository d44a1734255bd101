package claude

import (
	"os"
	"path/filepath"
	"testing"

	"harness"
)

// prepare makes the home of a session that goes on with a conversation of another.
func prepare(state string, id, from harness.SessionID) error {
	home, err := (&Options{Base: Base{State: state}}).prepare(launch{session: id, from: from, resume: "CONV"})
	if err != nil {
		return err
	}
	return home.Close()
}

// TestNoLinkOfAParentIsFollowed when a branch takes a conversation along: it is
// what the parent's program has made, so it can lead to another session's.
func TestNoLinkOfAParentIsFollowed(t *testing.T) {
	t.Parallel()
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
			err := prepare(state, "ses_2", "ses_1")
			if text, _ := os.ReadFile(filepath.Join(state, "ses_2", other)); len(text) > 0 {
				t.Errorf("got %q, %v", text, err)
			}
		})
	}
}

// TestOnlyTheConversationIsTakenAlong of all that the parent has had.
func TestOnlyTheConversationIsTakenAlong(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	dir := "config/projects/x"
	if err := os.MkdirAll(filepath.Join(state, "ses_1", dir), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"CONV.jsonl", "OTHER.jsonl"} {
		if err := os.WriteFile(filepath.Join(state, "ses_1", dir, name), []byte("said"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second time it is there
		if err := prepare(state, "ses_2", "ses_1"); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(state, "ses_2", dir, "CONV.jsonl")); string(text) != "said" {
		t.Errorf("got %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(state, "ses_2", dir, "OTHER.jsonl")); err == nil {
		t.Error("another conversation was taken along")
	}
}
