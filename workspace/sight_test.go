package workspace_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"harness"
	"harness/workspace"
)

const session = harness.SessionID("ses_test")

// open returns a tree in a new directory, with its data elsewhere.
func open(t testing.TB, opts *workspace.Options) (*workspace.Tree, string) {
	t.Helper()
	dir := t.TempDir()
	return openAt(t, t.TempDir(), dir, opts), dir
}

func openAt(t testing.TB, data, dir string, opts *workspace.Options) *workspace.Tree {
	t.Helper()
	tree, err := workspace.Open(data, dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// put writes files, given as path and content by turns, with the directories
// they need. A path that ends with a slash is a directory.
func put(t testing.TB, dir string, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		var err error
		if strings.HasSuffix(files[i], "/") {
			err = os.MkdirAll(path, 0o755)
		} else if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = os.WriteFile(path, []byte(files[i+1]), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func remove(t testing.TB, dir string, paths ...string) {
	t.Helper()
	for _, p := range paths {
		must(t, os.RemoveAll(filepath.Join(dir, p)))
	}
}

func take(t testing.TB, tree *workspace.Tree, p workspace.Phase) workspace.Mark {
	t.Helper()
	m, err := tree.Take(t.Context(), session, p)
	must(t, err)
	return m
}

func rewind(t testing.TB, tree *workspace.Tree, m workspace.Mark, force bool) workspace.Result {
	t.Helper()
	r, err := tree.Rewind(t.Context(), session, m.ID, force)
	must(t, err)
	return r
}

// sight is everything there is to see of a tree, a line for each name.
func sight(t testing.TB, dir string) string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		info, err := e.Info()
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%q %v", rel, info.Mode())
		switch {
		case info.Mode().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %q", b)
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" -> %q", to)
		}
		lines = append(lines, line)
		return nil
	})
	must(t, err)
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// wantSight fails with the lines that differ.
func wantSight(t testing.TB, what, dir, want string) {
	t.Helper()
	got := sight(t, dir)
	if got == want {
		return
	}
	have := map[string]bool{}
	for _, l := range strings.Split(got, "\n") {
		have[l] = true
	}
	var diff []string
	for _, l := range strings.Split(want, "\n") {
		if !have[l] {
			diff = append(diff, "- "+l)
		}
		delete(have, l)
	}
	for l := range have {
		diff = append(diff, "+ "+l)
	}
	sort.Strings(diff)
	t.Fatalf("%s: the tree differs:\n%s", what, strings.Join(diff, "\n"))
}

func paths(list []workspace.Change) string {
	var s []string
	for _, c := range list {
		s = append(s, c.Path)
	}
	sort.Strings(s)
	return strings.Join(s, " ")
}
