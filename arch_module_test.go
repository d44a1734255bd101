package harness_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is everything the rules look at: the parsed Go files and the bytes of
// every text file that could be committed.
type module struct {
	fset  *token.FileSet
	files []*goFile
	texts map[string][]byte // by slash-separated path

	spawns map[string]spawns // the go statements it may have
}

type goFile struct {
	*ast.File
	dir  string // slash-separated, "." for the root
	path string
}

// isTest reports whether f is compiled only into tests.
func (f *goFile) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// servesTests reports whether f exists for tests only: a test file, or a file
// of a suite or of the golden-file mechanism.
func (f *goFile) servesTests() bool {
	return f.isTest() || strings.HasSuffix(f.dir, "test") || f.dir == "internal/golden"
}

// uses finds the selectors on the standard package with that name, under
// whatever name f imports it.
func uses(f *goFile, pkg string) (found []*ast.SelectorExpr) {
	i := slices.IndexFunc(f.Imports, func(s *ast.ImportSpec) bool { return importPath(s) == pkg })
	if i < 0 {
		return nil
	}
	local := pkg
	if n := f.Imports[i].Name; n != nil {
		local = n.Name
	}
	ast.Inspect(f.File, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok && id.Name == local {
				found = append(found, s)
			}
		}
		return true
	})
	return found
}

func importPath(s *ast.ImportSpec) string {
	p, _ := strconv.Unquote(s.Path.Value)
	return p
}

// ourDir maps an import of ours to its folder, "." for the root.
func ourDir(s *ast.ImportSpec) (dir string, ours bool) {
	const modulePath = "harness"
	p := importPath(s)
	if p == modulePath {
		return ".", true
	}
	return strings.CutPrefix(p, modulePath+"/")
}

func (m *module) at(n ast.Node) string {
	p := m.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// add parses src as the file at name and counts it in.
func (m *module) add(t testing.TB, name string, src []byte) {
	t.Helper()
	m.texts[name] = src
	if !strings.HasSuffix(name, ".go") || slices.Contains(strings.Split(name, "/"), "testdata") {
		return
	}
	f, err := parser.ParseFile(m.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	m.files = append(m.files, &goFile{File: f, dir: path.Dir(name), path: name})
}

// loadModule reads the module at root. Folders that are fetched or built, and
// folders that are modules of their own, are not part of it.
func loadModule(t testing.TB, root string) *module {
	t.Helper()
	m := &module{fset: token.NewFileSet(), texts: map[string][]byte{}}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, statErr := os.Stat(filepath.Join(name, "go.mod"))
			if rel != "." && (statErr == nil || slices.Contains([]string{".git", ".harness", "bin", "node_modules"}, d.Name())) {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || rel == ".git" { // a file in a linked worktree
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if !bytes.ContainsRune(src, 0) {
			m.add(t, filepath.ToSlash(rel), src)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}
