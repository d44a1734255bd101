//go:build linux

package sandboxtest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"harness"
)

func (b *bench) files(t *testing.T) {
	t.Run("AreReadAndWrittenByBothSides", func(t *testing.T) {
		w, dir := b.open(t)
		if err := w.WriteFile("a/b.txt", []byte("from outside"), 0o640); err != nil {
			t.Fatal(err)
		}
		if got := sh(t, w, "cat a/b.txt && echo from inside >c.txt"); got.out != "from outside" || got.Code != 0 {
			t.Errorf("the process says %+v", got)
		}
		if got, err := fs.ReadFile(w, "c.txt"); string(got) != "from inside\n" {
			t.Errorf("read c.txt: %q, %v", got, err)
		}
		if info, err := os.Stat(filepath.Join(dir, "a/b.txt")); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("mode is %v, want 0640: %v", info.Mode(), err)
		}
	})
	t.Run("NoNameLeavesTheWorkspace", b.names)
	t.Run("NoLinkCountsBetweenLookAndDeed", b.swapped)
	t.Run("WhatIsNoFileCostsNothing", b.odd)
	t.Run("WritingDoesNotReachThroughHardLinks", func(t *testing.T) {
		w, dir := b.open(t)
		outside := filepath.Join(t.TempDir(), "outside")
		write(t, outside, "mine")
		if err := os.Link(outside, filepath.Join(dir, "hard")); err != nil {
			t.Fatal(err)
		}
		if err := w.WriteFile("hard", []byte("yours"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := read(outside); got != "mine" {
			t.Errorf("outside is %q", got)
		}
	})
	t.Run("WritingFollowsLinksInside", func(t *testing.T) {
		w, dir := b.open(t)
		write(t, filepath.Join(dir, "real.md"), "old")
		if err := os.Symlink("real.md", filepath.Join(dir, "link.md")); err != nil {
			t.Fatal(err)
		}
		if err := w.WriteFile("link.md", []byte("new"), 0o644); err != nil || read(filepath.Join(dir, "real.md")) != "new" {
			t.Errorf("real.md is %q: %v", read(filepath.Join(dir, "real.md")), err)
		}
	})
	t.Run("GitsOwnFilesAreNotWritten", func(t *testing.T) {
		w, dir := b.open(t)
		write(t, filepath.Join(dir, "sub/.git/hooks/sample"), "")
		if err := os.Symlink("sub/.git/hooks", filepath.Join(dir, "innocent")); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{".git", ".git/hooks/pre-commit", "sub/.git/config", "innocent/pre-commit", "sub/.GIT/hooks/x"} {
			if err := w.WriteFile(name, []byte("evil"), 0o755); !errors.Is(err, fs.ErrPermission) {
				t.Errorf("write %s: %v, want ErrPermission", name, err)
			}
		}
		if got, _ := os.ReadDir(filepath.Join(dir, "sub/.git/hooks")); len(got) != 1 {
			t.Errorf("hooks are %v", got)
		}
	})
	t.Run("WhatIsHiddenIsNotThere", b.hidden)
	t.Run("WhatIsWritableIsElsewhere", b.writable)
	t.Run("ALinkIsNotHidden", b.linkHidden)
	t.Run("TheRootIsNobodysWorkspace", func(t *testing.T) {
		if w, err := b.sandbox.Open(t.Context(), harness.WorkspaceSpec{Directory: "/"}); err == nil {
			w.Close()
			t.Error("opened /")
		}
	})
}

func (b *bench) names(t *testing.T) {
	w, dir := b.open(t)
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	write(t, secret, "secret")
	rel, err := filepath.Rel(dir, outside)
	if err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"file": secret, "dir": outside, "up": rel, "loop": "loop", "proc": "/proc/self/root" + outside, "cwd": "/proc/self/cwd", "chain": "dir",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"../secret", secret, "sub/../../secret", rel + "/secret", "/", "", "sub//../..", ".\x00.",
		"file", "dir/secret", "up/secret", "loop", "proc/secret", "chain/secret", "cwd/sandbox", "sub/../file",
	} {
		if f, err := w.Open(name); err == nil {
			f.Close()
			t.Errorf("opened %q", name)
		}
		if err := w.WriteFile(name, []byte("evil"), 0o644); err == nil {
			t.Errorf("wrote %q", name)
		}
	}
	if got, _ := os.ReadDir(outside); len(got) != 1 || read(secret) != "secret" {
		t.Errorf("outside has changed: %v %q", got, read(secret))
	}
}
