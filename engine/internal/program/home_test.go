package program_test

import (
	"os"
	"path/filepath"
	"testing"

	"harness"
	"harness/engine/internal/program"
)

// TestAHomeDoesNotReachOutOfItsPlace whatever links the program has made there.
func TestAHomeDoesNotReachOutOfItsPlace(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), t.TempDir()
	secret := filepath.Join(out, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	parent, err := program.OpenHome("", dir, "x", "ses_1")
	if err != nil {
		t.Fatal(err)
	}
	defer parent.Close()
	for name, to := range map[string]string{"config.toml": secret, "sessions": out, "rules": out} {
		if err := os.Symlink(to, filepath.Join(parent.Path, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := parent.Write("config.toml", []byte("ours")); err != nil {
		t.Error(err)
	}
	if err := parent.Remove("rules"); err != nil {
		t.Error(err)
	}
	child, err := program.OpenHome("", dir, "x", "ses_2")
	if err != nil {
		t.Fatal(err)
	}
	defer child.Close()
	_ = child.Adopt("ses_1", "sessions", nil) // it may refuse, or copy nothing
	if _, err := os.Stat(filepath.Join(child.Path, "sessions", "secret")); err == nil {
		t.Error("a file from outside was copied")
	}
	if b, err := os.ReadFile(secret); err != nil || string(b) != "secret" {
		t.Errorf("what is outside is %q, %v", b, err)
	}
}

// TestABranchGetsACopyOfWhatItsParentHas and keeps what it has itself.
func TestABranchGetsACopyOfWhatItsParentHas(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "state")
	parent, err := program.OpenHome(state, t.TempDir(), "x", "ses_1")
	if err != nil {
		t.Fatal(err)
	}
	defer parent.Close()
	child, err := program.OpenHome(state, t.TempDir(), "x", "ses_2")
	if err != nil {
		t.Fatal(err)
	}
	defer child.Close()
	if err := child.Adopt("ses_1", "sessions", nil); err != nil {
		t.Errorf("a parent without any: %v", err)
	}
	for _, h := range []*program.Home{parent, child} {
		if err := os.MkdirAll(filepath.Join(h.Path, "sessions", "2026"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(h.Path, "sessions", "2026", "a"), []byte(filepath.Base(h.Path)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(parent.Path, "sessions", "2026", "b"), []byte("b"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := child.Adopt("ses_1", "sessions", nil); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "ses_2", "b": "b"} {
		if b, err := os.ReadFile(filepath.Join(child.Path, "sessions", "2026", name)); err != nil || string(b) != want {
			t.Errorf("%s is %q, %v; want %q", name, b, err, want)
		}
	}
}

// TestALinkToAnotherSessionIsNotFollowed: what a program leaves in its home does
// not lead a branch of it to somebody else's conversation.
func TestALinkToAnotherSessionIsNotFollowed(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "state")
	homes := map[harness.SessionID]*program.Home{}
	for _, id := range []harness.SessionID{"ses_1", "ses_2", "ses_3"} {
		h, err := program.OpenHome(state, t.TempDir(), "x", id)
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		homes[id] = h
	}
	secret := filepath.Join(homes["ses_3"].Path, "sessions")
	if err := os.Mkdir(secret, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(secret, "secret"), []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{secret, "../ses_3/sessions"} {
		link := filepath.Join(homes["ses_1"].Path, "sessions")
		if err := os.RemoveAll(link); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
		_ = homes["ses_2"].Adopt("ses_1", "sessions", nil) // it may refuse, or copy nothing
		if _, err := os.Stat(filepath.Join(homes["ses_2"].Path, "sessions", "secret")); err == nil {
			t.Errorf("a link to %s was followed", to)
		}
	}
}

// TestALinkIsNotTakenForAHome nor is a home made for somebody else.
func TestALinkIsNotTakenForAHome(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	h, err := program.OpenHome(state, t.TempDir(), "x", "ses_1")
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if err := os.Symlink("ses_1", filepath.Join(state, "ses_2")); err != nil {
		t.Fatal(err)
	}
	if h, err := program.OpenHome(state, t.TempDir(), "x", "ses_2"); err == nil {
		h.Close()
		t.Error("a link was taken for a home")
	}
	if err := h.Adopt("ses_none", "sessions", nil); err != nil {
		t.Errorf("a parent that has no home: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(state, "ses_none")); err == nil {
		t.Error("a home was made for somebody else")
	}
}

// TestABranchTakesOnlyWhatIsWanted from below a directory.
func TestABranchTakesOnlyWhatIsWanted(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	for _, name := range []string{"a/1", "a/2", "b/1"} {
		name = filepath.Join(state, "ses_1", "all", name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h, err := program.OpenHome(state, t.TempDir(), "x", "ses_2")
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if err := h.Adopt("ses_1", "all", func(p string) bool { return filepath.Base(p) == "1" }); err != nil {
		t.Fatal(err)
	}
	got, err := filepath.Glob(filepath.Join(state, "ses_2", "all", "*", "*"))
	if err != nil || len(got) != 2 {
		t.Errorf("there are %v, %v", got, err)
	}
}
