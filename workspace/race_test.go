//go:build unix

package workspace

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"harness/workspace/folder"
	"harness/workspace/object"
)

func TestWhatChangedWithinATickIsNotTrusted(t *testing.T) {
	t.Parallel()
	began := time.Unix(1_700_000_000, 123_456_789)
	for _, c := range []struct {
		ago     time.Duration
		coarse  bool
		trusted bool
	}{
		{0, false, false}, {10 * time.Millisecond, false, false}, {time.Second, false, true}, {-time.Hour, false, false},
		{time.Second, true, false}, {3 * time.Second, true, true},
	} {
		at := began.Add(-c.ago)
		if c.coarse {
			at = at.Truncate(time.Second)
		}
		st := folder.Stat{Kind: folder.File, Ctime: at.UnixNano(), Mtime: 1}
		n := node{Entry: Entry{Kind: File}}
		n.stamp(&st, began)
		if n.same(&st) != c.trusted {
			t.Errorf("%+v: trusted is %v", c, n.same(&st))
		}
	}
}

// TestWhatChangesBetweenPlanAndDeedStays stops a rewind after its plan, changes
// the tree as somebody outside would, and lets it go on.
func TestWhatChangesBetweenPlanAndDeedStays(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	for name, c := range map[string]struct {
		meddle func(dir string) error
		path   string // that is then neither restored nor deleted
	}{
		"edited":        {func(dir string) error { return os.WriteFile(dir+"/edited", []byte("user"), 0o644) }, "edited"},
		"removed":       {func(dir string) error { return os.Remove(dir + "/edited") }, "edited"},
		"made again":    {func(dir string) error { return os.WriteFile(dir+"/deleted", []byte("user"), 0o644) }, "deleted"},
		"created later": {func(dir string) error { return os.WriteFile(dir+"/created", []byte("user"), 0o644) }, "created"},
		"not empty":     {func(dir string) error { return os.WriteFile(dir+"/new/user", nil, 0o644) }, "new"},
		"a link out":    {func(dir string) error { os.RemoveAll(dir + "/d"); return os.Symlink(outside, dir+"/d") }, "d/f"},
		"a link to git": {func(dir string) error { os.RemoveAll(dir + "/d"); return os.Symlink(".git", dir+"/d") }, "d/f"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			fill := func(content string, paths ...string) {
				for _, p := range paths {
					if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, p)), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(dir, p), []byte(content), 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			tree, err := Open(t.TempDir(), dir, nil)
			must(err)
			fill("repository", ".git/f")
			fill("before", "edited", "deleted", "other", "d/f")
			mark, err := tree.Take(t.Context(), "ses_x", Before)
			must(err)
			fill("agent", "edited", "created", "other", "d/f", "new/x")
			must(os.Remove(filepath.Join(dir, "deleted")))

			time.Sleep(2 * fineTick) // sleep: the file system's clock must tick before times are trusted

			s, err := object.Open(t.Context(), tree.objects(), nil)
			must(err)
			defer s.Close()
			_, want, err := tree.read("ses_x", mark.ID)
			must(err)
			m, now, _, err := tree.scan(t.Context(), s, nil, want)
			must(err)
			p, err := makePlan(s, mark, now.id, want, nil, false)
			must(err)
			must(c.meddle(dir))
			res, _ := tree.carryOut(t.Context(), s, &journal{Session: "ses_x", Temp: ours + "x"}, p, m, now)

			done := map[string]bool{}
			for _, list := range [][]Change{res.Restore, res.Delete} {
				for _, c := range list {
					done[c.path] = true
				}
			}
			if done[c.path] || !done["other"] {
				t.Errorf("%s should stay, other should not: %v", c.path, done)
			}
			if b, _ := os.ReadFile(filepath.Join(dir, "other")); string(b) != "before" {
				t.Errorf("other is %q", b)
			}
			if b, err := os.ReadFile(filepath.Join(dir, c.path)); err == nil && string(b) == "before" {
				t.Errorf("%s was overwritten", c.path)
			}
			if b, _ := os.ReadFile(filepath.Join(dir, ".git/f")); string(b) != "repository" {
				t.Errorf(".git/f is %q", b)
			}
			if entries, _ := os.ReadDir(outside); len(entries) != 0 {
				t.Errorf("written outside: %v", entries)
			}
		})
	}
}
