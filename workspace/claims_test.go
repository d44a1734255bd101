//go:build unix

package workspace_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"harness"
	"harness/workspace"
)

// Each test below is a complaint that people have about other tools.

func TestEditsByAShellAreTakenBack(t *testing.T) {
	t.Parallel()
	tree, dir := open(t, nil)
	put(t, dir, "a.txt", "one\ntwo\n", "src/b.txt", "b\n")
	before := sight(t, dir)
	m := take(t, tree, workspace.Before)
	cmd := exec.Command("sh", "-c", "sed -i s/two/2/ a.txt; mv src/b.txt moved.txt; mkdir -p new/dir; echo x > new/dir/x; ln -s a.txt link; chmod 755 a.txt")
	cmd.Dir = dir
	must(t, cmd.Run())
	take(t, tree, workspace.After)
	res := rewind(t, tree, m, false)
	wantSight(t, "after the rewind", dir, before)
	if got := paths(res.Restore) + " | " + paths(res.Delete); got != "a.txt src/b.txt | link moved.txt new/ new/dir/ new/dir/x" {
		t.Errorf("changes are %s", got)
	}
	if res.Insertions != 2 || res.Deletions != 3 { // two and b come back; 2, moved b and x go
		t.Errorf("+%d -%d lines, want +2 -3", res.Insertions, res.Deletions)
	}
}

func TestRepositoriesAreLeftAlone(t *testing.T) {
	t.Parallel()
	tree, dir := open(t, nil)
	put(t, dir,
		".git/HEAD", "ref: refs/heads/main\n", ".git/hooks/pre-commit", "#!/bin/sh\n", "top.txt", "1",
		"nested/.git/HEAD", "ref: refs/heads/main\n", "nested/inner.txt", "1", // a nested repository
		"module/.git", "gitdir: ../.git/modules/module\n", "module/m.txt", "1", // a submodule
		"tree/.git", "gitdir: /elsewhere/.git/worktrees/tree\n", "tree/w.txt", "1") // a worktree
	m := take(t, tree, workspace.Before)
	if m.Skipped["git"] != 4 {
		t.Errorf("skipped %v, want 4 repositories", m.Skipped)
	}
	for _, f := range []string{"top.txt", "nested/inner.txt", "module/m.txt", "tree/w.txt", "fresh/f.txt"} {
		put(t, dir, f, "2")
	}
	// The session commits, and makes a repository of its own.
	put(t, dir, ".git/HEAD", "changed\n", "nested/.git/index", "changed", "module/.git", "gitdir: changed\n", "fresh/.git/HEAD", "new\n")
	take(t, tree, workspace.After)
	res := rewind(t, tree, m, false)
	if got := paths(res.Restore) + " | " + paths(res.Delete); got != "module/m.txt nested/inner.txt top.txt tree/w.txt | fresh/f.txt" {
		t.Errorf("changes are %s", got)
	}
	if got := paths(res.Skipped); got != "fresh/ fresh/.git" {
		t.Errorf("skipped are %s", got)
	}
	for path, want := range map[string]string{".git/HEAD": "changed\n", "nested/.git/index": "changed", "module/.git": "gitdir: changed\n", "fresh/.git/HEAD": "new\n", "top.txt": "1"} {
		if b, err := os.ReadFile(filepath.Join(dir, path)); string(b) != want {
			t.Errorf("%s is %q (%v), want %q", path, b, err, want)
		}
	}
}

func TestSymlinkLoopsAndLinksOutAreKeptAsLinks(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	put(t, outside, "secret", "outside")
	tree, dir := open(t, nil)
	put(t, dir, "a/b/c.txt", "c")
	for name, to := range map[string]string{"a/up": "..", "self": "self", "out": outside, "a/b/out": outside + "/secret"} {
		must(t, os.Symlink(to, filepath.Join(dir, name)))
	}
	before := sight(t, dir)
	m := take(t, tree, workspace.Before)
	remove(t, dir, "a/up", "self", "out", "a/b/out")
	put(t, dir, "self", "a file", "out/", "")
	rewind(t, tree, m, false)
	wantSight(t, "after the rewind", dir, before)
	if b, _ := os.ReadFile(filepath.Join(outside, "secret")); string(b) != "outside" {
		t.Errorf("the file outside is %q", b)
	}
}

// A directory that was replaced by a link must not lead a rewind elsewhere: not
// out of the tree, and not into the repository.
func TestALinkInPlaceOfADirectoryLeadsNowhere(t *testing.T) {
	t.Parallel()
	for _, to := range []string{"outside", ".git"} {
		outside := t.TempDir()
		tree, dir := open(t, nil)
		put(t, dir, "d/hooks/pre-commit", "harmless", ".git/hooks/x", "x")
		before := sight(t, dir)
		m := take(t, tree, workspace.Before)
		remove(t, dir, "d")
		target := filepath.Join(dir, ".git")
		if to == "outside" {
			target = outside
		}
		must(t, os.Symlink(target, filepath.Join(dir, "d")))
		rewind(t, tree, m, false)
		wantSight(t, "after the rewind", dir, before)
		if s := sight(t, outside); strings.Contains(s, "pre-commit") {
			t.Errorf("written outside: %s", s)
		}
	}
}

func TestFilesAndDirectoriesThatTookEachOthersPlace(t *testing.T) {
	t.Parallel()
	tree, dir := open(t, nil)
	put(t, dir, "file", "f", "dir/x/y", "y", "dir/z", "z", "empty/", "")
	before := sight(t, dir)
	m := take(t, tree, workspace.Before)
	remove(t, dir, "file", "dir", "empty")
	put(t, dir, "file/now/a", "dir", "dir", "a file", "empty", "full")
	changed := sight(t, dir)
	take(t, tree, workspace.After)
	res := rewind(t, tree, m, false)
	wantSight(t, "after the rewind", dir, before)
	rewind(t, tree, res.Safety, false)
	wantSight(t, "after undoing", dir, changed)
}

func TestAModeAloneIsAChange(t *testing.T) {
	t.Parallel()
	tree, dir := open(t, nil)
	put(t, dir, "run.sh", "#!/bin/sh\n", "d/f", "f")
	before := sight(t, dir)
	m := take(t, tree, workspace.Before)
	must(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o755))
	must(t, os.Chmod(filepath.Join(dir, "d"), 0o500))
	res := rewind(t, tree, m, false)
	wantSight(t, "after the rewind", dir, before)
	if paths(res.Restore) != "d/ run.sh" || res.Insertions+res.Deletions != 0 {
		t.Errorf("restored %s, +%d -%d", paths(res.Restore), res.Insertions, res.Deletions)
	}
}

// The length is the same and the time is put back, at once: neither says that
// anything happened.
func TestAnEditThatKeepsTheTimeIsFound(t *testing.T) {
	t.Parallel()
	tree, dir := open(t, nil)
	path := filepath.Join(dir, "f")
	for i := range 20 {
		put(t, dir, "f", "aaaa")
		if i%2 == 1 {
			old := time.Now().Add(-time.Hour)
			must(t, os.Chtimes(path, old, old))
		}
		info, err := os.Stat(path)
		must(t, err)
		m := take(t, tree, workspace.Before)
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		must(t, err)
		_, err = f.WriteString("bbbb")
		must(t, errors.Join(err, f.Close(), os.Chtimes(path, info.ModTime(), info.ModTime())))
		if n := take(t, tree, workspace.After); n.Root == m.Root {
			t.Fatal("the edit was not found")
		}
		rewind(t, tree, m, false)
		if b, _ := os.ReadFile(path); string(b) != "aaaa" {
			t.Fatalf("content is %q", b)
		}
	}
}

// TestAnEditThatKeepsTheTimeIsFoundLater: the file was trusted when the edit
// came; only its change time tells.
func TestAnEditThatKeepsTheTimeIsFoundLater(t *testing.T) {
	t.Parallel()
	tree, dir := open(t, nil)
	path := filepath.Join(dir, "f")
	put(t, dir, "f", "aaaa")
	waitTick(t, dir)
	m := take(t, tree, workspace.Before)
	info, err := os.Stat(path)
	must(t, err)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString("bbbb")
	must(t, errors.Join(err, f.Close(), os.Chtimes(path, info.ModTime(), info.ModTime())))
	if n := take(t, tree, workspace.After); n.Root == m.Root {
		t.Fatal("the edit was not found")
	}
}

func TestSpecialFilesAreSkippedAndNeverWaitedFor(t *testing.T) {
	t.Parallel()
	tree, dir := open(t, nil)
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644))
	put(t, dir, "f", "1")
	m := take(t, tree, workspace.Before)
	if m.Skipped["special"] != 1 {
		t.Errorf("skipped %v", m.Skipped)
	}
	put(t, dir, "f", "2")
	must(t, syscall.Mkfifo(filepath.Join(dir, "later"), 0o644))
	res := rewind(t, tree, m, false)
	if paths(res.Restore) != "f" || paths(res.Delete) != "" || paths(res.Skipped) != "later" {
		t.Errorf("%+v", res.Plan)
	}
}

func TestBoundsAreNamedAndWhatTheyCutOffIsNotTouched(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]workspace.Bounds{"files": {Files: 5}, "bytes": {Bytes: 40}, "time": {Time: 1}} {
		tree, dir := open(t, &workspace.Options{Bounds: b})
		for _, f := range strings.Fields("1/a 1/b 1/c 1/d 2/e 2/f 2/g 2/h") {
			put(t, dir, f+"/f", "0123456789")
		}
		m := take(t, tree, workspace.Before)
		if strings.Join(m.Incomplete, " ") != name {
			t.Errorf("incomplete is %v, want %s", m.Incomplete, name)
		}
		before := sight(t, dir)
		if res := rewind(t, tree, m, true); len(res.Restore)+len(res.Delete) != 0 {
			t.Errorf("%s: an unchanged tree was changed: %+v", name, res.Plan)
		}
		wantSight(t, name, dir, before)
	}
}

func TestADirectoryWithTooManyNamesAndAWayTooDeepAreCutOff(t *testing.T) {
	t.Parallel()
	tree, dir := open(t, &workspace.Options{Bounds: workspace.Bounds{Files: 500}})
	put(t, dir, "f", "1", strings.Repeat("d/", 400)+"deep", "1")
	for i := range 501 {
		put(t, dir, "many/"+strings.Repeat("n", i%200+1)+string(rune('a'+i/200)), "1")
	}
	m := take(t, tree, workspace.Before)
	if m.Skipped["too_many_files"] < 2 || m.Incomplete == nil {
		t.Errorf("%+v", m)
	}
	put(t, dir, "f", "2")
	remove(t, dir, "many")
	if res := rewind(t, tree, m, false); paths(res.Restore) != "f" || paths(res.Skipped) != "many" {
		t.Errorf("%+v", res.Plan)
	}
}

func TestAFileTooLargeToKeepIsReportedAndNotLost(t *testing.T) {
	t.Parallel()
	tree, dir := open(t, &workspace.Options{Bounds: workspace.Bounds{FileBytes: 1000}})
	large := strings.Repeat("x", 1001)
	put(t, dir, "was-large", large, "was-small", "small", "zero", "")
	m := take(t, tree, workspace.Before)
	if len(m.Skips) != 1 || m.Skips[0] != (workspace.Skip{Path: "was-large", Reason: workspace.Large}) || m.Incomplete != nil {
		t.Errorf("skips %v, incomplete %v", m.Skips, m.Incomplete)
	}
	put(t, dir, "was-large", "small", "was-small", large, "new-large", large)
	res := rewind(t, tree, m, false)
	if paths(res.Conflict) != "was-small" || paths(res.Skipped) != "new-large was-large" || len(res.Restore)+len(res.Delete) != 0 {
		t.Errorf("%+v", res.Plan)
	}
	res = rewind(t, tree, m, true)
	if paths(res.Restore) != "was-small" {
		t.Errorf("forced: %+v", res.Plan)
	}
}

func TestIgnoredFilesAreNeitherKeptNorDeletedAndKnownOnesStayKnown(t *testing.T) {
	t.Parallel()
	tree, dir := open(t, nil)
	put(t, dir, ".gitignore", "*.log\n/out/\n!keep.log\n", "a.log", "1", "keep.log", "1", "out/x", "1", "src/main.go", "1")
	m := take(t, tree, workspace.Before)
	if m.Skipped["ignored"] != 2 {
		t.Errorf("skipped %v", m.Skipped)
	}
	// The session hides a file that is known already, and makes ignored ones.
	put(t, dir, ".gitignore", "*\n", "src/main.go", "2", "a.log", "2", "b.log", "new", "out/y", "new")
	take(t, tree, workspace.After)
	res := rewind(t, tree, m, false)
	if paths(res.Restore) != ".gitignore src/main.go" || len(res.Delete) != 0 {
		t.Errorf("%+v", res.Plan)
	}
	for path, want := range map[string]string{"src/main.go": "1", "a.log": "2", "b.log": "new", "out/x": "1", "out/y": "new"} {
		if b, _ := os.ReadFile(filepath.Join(dir, path)); string(b) != want {
			t.Errorf("%s is %q, want %q", path, b, want)
		}
	}
}

func TestRootAndHomeAreRefused(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "users", "me")
	put(t, home, "project/f", "1")
	for _, dir := range []string{"/", home, filepath.Dir(home), home + "/project/f"} {
		if _, err := workspace.Open(t.TempDir(), dir, &workspace.Options{Home: home}); !errors.Is(err, workspace.ErrRefused) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	openAt(t, t.TempDir(), home+"/project", &workspace.Options{Home: home})
}

func TestOurOwnDataInsideTheTreeIsNotPartOfIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tree := openAt(t, filepath.Join(dir, "data"), dir, nil)
	put(t, dir, "f", "1", ".harness/threads/x/events.jsonl", "log 1")
	m := take(t, tree, workspace.Before)
	put(t, dir, "f", "2", ".harness/threads/x/events.jsonl", "log 2")
	take(t, tree, workspace.After)
	rewind(t, tree, m, false)
	if b, _ := os.ReadFile(filepath.Join(dir, ".harness/threads/x/events.jsonl")); string(b) != "log 2" {
		t.Errorf("the session's log went back to %q", b)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "f")); string(b) != "1" {
		t.Errorf("f is %q", b)
	}
}

func TestIdentifiersAreNotPaths(t *testing.T) {
	t.Parallel()
	tree, dir := open(t, nil)
	put(t, dir, "f", "1")
	m := take(t, tree, workspace.Before)
	for _, bad := range []string{"", "..", "../x", "a/b", ".hidden", "x\x00"} {
		if _, err := tree.Take(t.Context(), harness.SessionID(bad), workspace.Before); !errors.Is(err, harness.ErrInvalid) {
			t.Errorf("Take for session %q: %v", bad, err)
		}
		if _, err := tree.Rewind(t.Context(), session, bad, false); !errors.Is(err, workspace.ErrGone) {
			t.Errorf("Rewind to %q: %v", bad, err)
		}
		if err := tree.Forget(harness.SessionID(bad)); !errors.Is(err, harness.ErrInvalid) {
			t.Errorf("Forget %q: %v", bad, err)
		}
	}
	if _, err := tree.Rewind(t.Context(), session, m.ID[:len(m.ID)-1]+"/", false); !errors.Is(err, workspace.ErrGone) {
		t.Error(err)
	}
}

func TestAnUnreadableDirectoryIsSkippedAndStays(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		asNobody(t)
		return
	}
	tree, dir := open(t, nil)
	put(t, dir, "locked/f", "1", "secret", "1", "open", "1")
	must(t, os.Chmod(filepath.Join(dir, "locked"), 0))
	must(t, os.Chmod(filepath.Join(dir, "secret"), 0))
	defer os.Chmod(filepath.Join(dir, "locked"), 0o700)
	m := take(t, tree, workspace.Before)
	if m.Skipped["unreadable"] != 2 {
		t.Errorf("skipped %v", m.Skipped)
	}
	put(t, dir, "open", "2")
	if res := rewind(t, tree, m, true); paths(res.Restore) != "open" || len(res.Delete) != 0 {
		t.Errorf("%+v", res.Plan)
	}
}

func TestAReadOnlyDirectoryIsTakenBackAndReadOnlyAgain(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		asNobody(t)
		return
	}
	tree, dir := open(t, nil)
	put(t, dir, "d/f", "1", "d/g", "1")
	m := take(t, tree, workspace.Before)
	put(t, dir, "d/f", "2", "d/new", "2")
	remove(t, dir, "d/g")
	must(t, os.Chmod(filepath.Join(dir, "d"), 0o500))
	defer os.Chmod(filepath.Join(dir, "d"), 0o700)
	res := rewind(t, tree, m, false)
	if paths(res.Restore) != "d/ d/f d/g" || paths(res.Delete) != "d/new" {
		t.Errorf("%+v", res)
	}
	rewind(t, tree, res.Safety, false)
	if info, _ := os.Stat(filepath.Join(dir, "d")); info.Mode().Perm() != 0o500 {
		t.Errorf("mode is %v", info.Mode())
	}
}

// asNobody runs the test again as a user whom modes bind.
func asNobody(t *testing.T) {
	t.Helper()
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Skip("no way to run as another user here")
	}
	dir, err := os.MkdirTemp("/tmp", "harness-nobody")
	must(t, err)
	defer os.RemoveAll(dir)
	exe := filepath.Join(dir, "test")
	must(t, errors.Join(os.WriteFile(exe, self, 0o755), os.Chmod(dir, 0o777)))
	cmd := exec.Command(exe, "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env, cmd.Dir = []string{"TMPDIR=" + dir}, dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Fatalf("as nobody: %v\n%s", err, out)
	}
}
