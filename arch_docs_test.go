package harness_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLinksOfTheDocsResolve follows every link between our own pages.
func TestLinksOfTheDocsResolve(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || d.Name() == ".git"):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".md":
			return nil
		}
		for _, m := range link.FindAllStringSubmatch(readFile(t, name), -1) {
			to, _, _ := strings.Cut(m[1], "#")
			if to == "" || strings.Contains(to, ":") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), to)); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestArchitectureHasARowForEveryFolder: `ls` is the diagram.
func TestArchitectureHasARowForEveryFolder(t *testing.T) {
	t.Parallel()
	page, _, _ := strings.Cut(readFile(t, "ARCHITECTURE.md"), "\n## ") // the first table
	for _, above := range []string{".", "internal"} {
		entries, err := os.ReadDir(above)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			switch dir := filepath.Join(above, e.Name()); dir {
			case "artifacts", "bin", "docs", "internal", "node_modules": // left by CI, built, not code, or below
			default:
				if n := strings.Count(page, "\n| `"+dir+"/"); e.IsDir() && !strings.HasPrefix(dir, ".") && n != 1 {
					t.Errorf("ARCHITECTURE.md has %d rows for %s/, want one", n, dir)
				}
			}
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`*]+)` ").FindAllStringSubmatch(page, -1) {
		if _, err := os.Stat(m[1]); err != nil {
			t.Errorf("ARCHITECTURE.md has a row for %s, which is not there", m[1])
		}
	}
}
