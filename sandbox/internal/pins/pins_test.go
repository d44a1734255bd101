package pins_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"harness/sandbox/internal/pins"
)

// plant writes files below a fresh directory.
func plant(t *testing.T, files ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name, text, _ := strings.Cut(f, "=")
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(strings.ReplaceAll(text, "DIR", dir)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// find returns the mounts of a workspace, relative to base, with "ro" or "rw".
func find(t *testing.T, base, dir string) (*pins.Pins, []string) {
	t.Helper()
	p, err := pins.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range p.Mounts {
		rel, err := filepath.Rel(base, m.Path)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, map[bool]string{true: "ro ", false: "rw "}[m.ReadOnly]+rel)
	}
	return p, got
}

func TestEveryDirectoryAboveAPinIsAMount(t *testing.T) {
	dir := plant(t, "a/b/.git/HEAD=x", "a/b/.git/config=x", "a/b/.git/hooks/h=x", "other/file=x", "empty/.git/x=not a repository")
	_, got := find(t, dir, dir)
	if want := []string{"rw a", "rw a/b", "rw a/b/.git", "ro a/b/.git/hooks", "ro a/b/.git/config"}; !slices.Equal(got, want) {
		t.Errorf("mounts %q, want %q", got, want)
	}
}

func TestWhatIsSkippedIsNotLookedInto(t *testing.T) {
	dir := plant(t, "a/.git/HEAD=x", "b/.git/HEAD=x", "b/c/.git/HEAD=x")
	p, err := pins.Find(dir, "b")
	if err != nil || len(p.Mounts) == 0 {
		t.Fatal(p, err)
	}
	for _, m := range p.Mounts {
		if strings.HasPrefix(m.Path, filepath.Join(dir, "b")) {
			t.Errorf("%s is pinned", m.Path)
		}
	}
}

func TestWhatIsMissingIsMadeToBeHeld(t *testing.T) {
	dir := plant(t, ".git/HEAD=x")
	_, got := find(t, dir, dir)
	if want := []string{"rw .git", "ro .git/hooks", "ro .git/config"}; !slices.Equal(got, want) {
		t.Errorf("mounts %q, want %q", got, want)
	}
}

func TestAWorktreeIsBelievedOnlyIfItsRepositoryAgrees(t *testing.T) {
	base := plant(t,
		"tree/.git=gitdir: DIR/main/.git/worktrees/t\n", "main/.git/HEAD=x", "main/.git/config=x", "main/.git/hooks/h=x",
		"main/.git/worktrees/t/gitdir=DIR/tree/.git\n", "main/.git/worktrees/t/config.worktree=x")
	_, got := find(t, base, filepath.Join(base, "tree"))
	want := []string{"ro tree/.git", "rw main/.git", "ro main/.git/hooks", "ro main/.git/config", "rw main/.git/worktrees", "rw main/.git/worktrees/t", "ro main/.git/worktrees/t/config.worktree"}
	if !slices.Equal(got, want) {
		t.Errorf("mounts %q, want %q", got, want)
	}
	if err := os.WriteFile(filepath.Join(base, "main/.git/worktrees/t/gitdir"), []byte("/elsewhere/.git\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, got := find(t, base, filepath.Join(base, "tree")); !slices.Equal(got, []string{"ro tree/.git"}) {
		t.Errorf("a repository that knows nothing of it was mounted: %q", got)
	}
}

func TestAPinThatBecameALinkIsRefused(t *testing.T) {
	dir := plant(t, "sub/.git/HEAD=x")
	p, _ := find(t, dir, dir)
	if err := os.Rename(filepath.Join(dir, "sub"), filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	if got, err := p.Current(); err != nil || len(got) != 0 {
		t.Errorf("mounts that are gone: %v, %v", got, err)
	}
	if err := os.Symlink("moved", filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Current(); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a link in the place of a mount: %v", err)
	}
}

func TestARedirectionThatWasNotThereIsRemoved(t *testing.T) {
	dir := plant(t, ".git/HEAD=x", "linked/.git/HEAD=x", "linked/.git/commondir=../../.git")
	p, got := find(t, dir, dir)
	if !slices.Contains(got, "ro linked/.git/commondir") {
		t.Errorf("one that was there is not held: %q", got)
	}
	for _, name := range []string{".git/commondir", "linked/.git/commondir"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("../evil"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Clean(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".git/commondir")); err == nil {
		t.Error("it is still there")
	}
	if _, err := os.Stat(filepath.Join(dir, "linked/.git/commondir")); err != nil {
		t.Errorf("one that was there before was removed: %v", err)
	}
}

func TestATreeThatIsTooLargeIsSaidToBeUnpinned(t *testing.T) {
	dir := plant(t, "a/x=", "b/x=", "c/x=")
	for most, want := range map[int]string{3: "the workspace has more than 3 directories", 4: ""} {
		if p, err := pins.FindUpTo(dir, most, 100); err != nil || p.Broken != want {
			t.Errorf("up to %d: broken is %q, %v, want %q", most, p.Broken, err, want)
		}
	}
}

// A directory with a million names costs what the bound says, not what it holds.
func TestTheSearchEndsAfterSoManyNames(t *testing.T) {
	dir := t.TempDir()
	for i := range 3000 {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for most, want := range map[int]string{2000: "the workspace has too many files to look through", 3000: ""} {
		if p, err := pins.FindUpTo(dir, 10, most); err != nil || p.Broken != want {
			t.Errorf("up to %d: broken is %q, %v, want %q", most, p.Broken, err, want)
		}
	}
}
