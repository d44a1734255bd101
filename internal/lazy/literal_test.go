package lazy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestEveryExpressionOfTheSourceCompiles: a wrong one would be found by its first
// user, not at the start.
func TestEveryExpressionOfTheSourceCompiles(t *testing.T) {
	t.Parallel()
	found := 0
	err := fs.WalkDir(os.DirFS("../.."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasPrefix(path, "internal/lazy/") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), "../../"+path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok || !isRegexp(lit.Type) {
				return true
			}
			expr, ok := text(lit.Elts[0].(*ast.KeyValueExpr).Value)
			if !ok {
				t.Errorf("%s has an expression that is no literal", path)
			} else if _, err := regexp.Compile(expr); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			found++
			return true
		})
		return nil
	})
	if err != nil || found < 20 {
		t.Fatalf("%d expressions, %v", found, err)
	}
}

func isRegexp(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != "Regexp" {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == "lazy"
}

// text is a literal, or several that are put together.
func text(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.BinaryExpr:
		a, one := text(e.X)
		b, two := text(e.Y)
		return a + b, one && two && e.Op == token.ADD
	}
	return "", false
}
