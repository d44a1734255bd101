package ignore_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"harness/workspace/ignore"
)

// ignored asks the way a walk does: from the top, not below what is ignored.
func ignored(rules map[string]string, path string, isDir bool) bool {
	var r *ignore.Rules
	dir := ""
	names := strings.Split(path, "/")
	for i, name := range names {
		r = r.Add(dir, []byte(rules[dir]))
		if r.Match(dir, name, i < len(names)-1 || isDir) {
			return true
		}
		dir = strings.TrimPrefix(dir+"/"+name, "/")
	}
	return false
}

func TestRulesOfGitignore(t *testing.T) {
	t.Parallel()
	rules := map[string]string{
		"":    "# comment\n*.log\n!keep.log\n/top\nbuild/\na/**/z\n**/deep\nall/**\n\\#hash\n\\!bang\nspace\\ \ntrail  \nq?x\n[a-c]1\r\nmid/dle\n",
		"sub": "!x.log\nown\n",
	}
	for path, want := range map[string]bool{
		"x.log": true, "d/x.log": true, "keep.log": false, "top": true, "d/top": false, "build": false, "build/x": true, "d/build/x": true,
		"a/z": true, "a/b/z": true, "a/b/c/z": true, "b/z": false, "deep": true, "x/deep": true, "all": false, "all/x": true, "#hash": true, "!bang": true,
		"space ": true, "trail": true, "qqx": true, "qx": false, "b1": true, "d1": false, "mid/dle": true, "x/mid/dle": false,
		"sub/x.log": false, "sub/y.log": true, "own": false, "sub/own": true, "sub/d/own": true,
	} {
		if got := ignored(rules, path, false); got != want {
			t.Errorf("%s: ignored is %v", path, got)
		}
	}
}

func TestAPatternThatBranchesEverywhereIsCheap(t *testing.T) {
	t.Parallel()
	began := time.Now()
	rules := map[string]string{"": strings.Repeat("a*", 200) + "b\n" + strings.Repeat("**/a*/", 100) + "b\n"}
	ignored(rules, strings.Repeat("a", 255), false)
	ignored(rules, strings.Repeat("a/", 200)+"a", false)
	if d := time.Since(began); d > time.Minute {
		t.Errorf("took %v", d)
	}
}

// TestGitAgrees compares random rules and paths with git's own answer.
func TestGitAgrees(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	r := rand.New(rand.NewPCG(3, 4))
	atoms := []string{"a", "b", "ab", "*", "?", "**", "a*", "*b", "[ab]", "[!a]", "a?", "[[:alpha:]]", "\\a"}
	names := []string{"a", "b", "ab", "ba", "aab", "c"}
	word := func(list []string, most int) string {
		var parts []string
		for range 1 + r.IntN(most) {
			parts = append(parts, list[r.IntN(len(list))])
		}
		return strings.Join(parts, "/")
	}
	for range 40 {
		dir := t.TempDir()
		git(t, dir, "init", "-q")
		rules := map[string]string{}
		for _, at := range []string{"", "a", "b/a"} {
			var lines []string
			for range r.IntN(4) {
				line := word(atoms, 3)
				for _, edit := range []func(){func() { line = "!" + line }, func() { line = "/" + line }, func() { line += "/" }} {
					if r.IntN(4) == 0 {
						edit()
					}
				}
				lines = append(lines, line)
			}
			rules[at] = strings.Join(lines, "\n")
			must(t, os.MkdirAll(filepath.Join(dir, at), 0o755), os.WriteFile(filepath.Join(dir, at, ".gitignore"), []byte(rules[at]), 0o644))
		}
		var paths []string
		for range 60 {
			p := word(names, 4)
			if os.MkdirAll(filepath.Join(dir, filepath.Dir(p)), 0o755) == nil {
				if _, err := os.Lstat(filepath.Join(dir, p)); err != nil && os.WriteFile(filepath.Join(dir, p), nil, 0o644) == nil {
					paths = append(paths, p)
				}
			}
		}
		said := strings.Split(git(t, dir, "ls-files", "--others", "--exclude-standard", "-z"), "\x00")
		for _, p := range paths {
			if got, want := ignored(rules, p, false), !slices.Contains(said, p); got != want {
				t.Fatalf("%s: ignored is %v, git says %v, rules %q", p, got, want, rules)
			}
		}
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}
