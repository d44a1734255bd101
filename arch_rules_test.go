package harness_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A rule returns one complaint, with its place, for each breach it finds.
type rule struct {
	name  string
	check func(*module) []string
}

var rules = []rule{
	{"OurImportsFollowTheTable", ourImports},
	{"ThirdPartyModulesStayInTheirLeaf", thirdPartyImports},
	{"EveryPackageHasOnePackageComment", packageComments},
	{"NoInitFunctions", initFunctions},
	{"NoSleepInTestsWithoutReason", sleeps},
	{"OnlyCmdTouchesTheProcess", processGlobals},
	{"EveryGoStatementIsListed", goStatementCounts},
	{"NoMachinePathsOrRegistryHosts", strayWords},
}

func ourImports(m *module) (bad []string) {
	for _, f := range m.files {
		if f.isTest() {
			continue
		}
		allowed, ok := row(mayImport, f.dir)
		if !ok {
			bad = append(bad, fmt.Sprintf("%s: package %s has no row in mayImport", f.path, f.dir))
			continue
		}
		for _, imp := range f.Imports {
			if to, ours := ourDir(imp); ours && !covers(allowed, to) {
				bad = append(bad, fmt.Sprintf("%s: %s may not import %s", m.at(imp), f.dir, to))
			}
		}
	}
	return bad
}

func thirdPartyImports(m *module) (bad []string) {
	for _, f := range m.files {
		for _, imp := range f.Imports {
			p := importPath(imp)
			first, _, _ := strings.Cut(p, "/")
			if _, ours := ourDir(imp); ours || (p != "C" && !strings.Contains(first, ".")) {
				continue
			}
			listed := false
			for prefix, who := range thirdParty {
				listed = listed || within(p, prefix) && (covers(who.code, f.dir) || f.isTest() && covers(who.tests, f.dir))
			}
			if !listed {
				bad = append(bad, fmt.Sprintf("%s: %s may not import %s", m.at(imp), f.dir, p))
			}
		}
	}
	return bad
}

func packageComments(m *module) (bad []string) {
	comments := map[string][]string{}
	for _, f := range m.files {
		if f.isTest() {
			continue
		}
		in := comments[f.dir]
		if f.Doc != nil {
			in = append(in, f.path)
		}
		comments[f.dir] = in
	}
	for dir, in := range comments {
		if len(in) != 1 {
			slices.Sort(in)
			bad = append(bad, fmt.Sprintf("%s: want one package comment, have %d %v", dir, len(in), in))
		}
	}
	return bad
}

func initFunctions(m *module) (bad []string) {
	for _, f := range m.files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				bad = append(bad, fmt.Sprintf("%s: init function; use a table that main hands over", m.at(fn)))
			}
		}
	}
	return bad
}

func sleeps(m *module) (bad []string) {
	reason := regexp.MustCompile(`^// sleep: \S`)
	for _, f := range m.files {
		if !f.servesTests() {
			continue
		}
		excused := map[int]bool{}
		for _, group := range f.Comments {
			for _, c := range group.List {
				if line := m.fset.Position(c.Pos()).Line; reason.MatchString(c.Text) {
					excused[line], excused[line+1] = true, true
				}
			}
		}
		for _, s := range uses(f, "time") {
			if s.Sel.Name == "Sleep" && !excused[m.fset.Position(s.Pos()).Line] {
				bad = append(bad, fmt.Sprintf("%s: time.Sleep in a test; wait for the condition, or say why with // sleep: reason", m.at(s)))
			}
		}
	}
	return bad
}

func processGlobals(m *module) (bad []string) {
	forbidden := []string{"Getenv", "LookupEnv", "Exit", "Stdin", "Stdout", "Args"}
	for _, f := range m.files {
		if within(f.dir, "cmd") {
			continue
		}
		if i := slices.IndexFunc(f.Imports, func(s *ast.ImportSpec) bool { return importPath(s) == "flag" }); i >= 0 {
			bad = append(bad, fmt.Sprintf("%s: package flag outside cmd/", m.at(f.Imports[i])))
		}
		excused := excusedReads(f)
		for _, s := range uses(f, "os") {
			switch name := s.Sel.Name; {
			case !slices.Contains(forbidden, name), excused[s]:
			case f.isTest() && name != "Getenv" && name != "LookupEnv": // a test that runs itself as a child process
			default:
				bad = append(bad, fmt.Sprintf("%s: os.%s outside cmd/", m.at(s), name))
			}
		}
	}
	return bad
}

// excusedReads finds the reads of testVariables in code that serves tests.
func excusedReads(f *goFile) map[*ast.SelectorExpr]bool {
	excused := map[*ast.SelectorExpr]bool{}
	if !f.servesTests() {
		return excused
	}
	ast.Inspect(f.File, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return true
		}
		fun, isSelector := call.Fun.(*ast.SelectorExpr)
		arg, isLiteral := call.Args[0].(*ast.BasicLit)
		if isSelector && isLiteral && arg.Kind == token.STRING {
			name, _ := strconv.Unquote(arg.Value)
			excused[fun] = slices.Contains(testVariables, name) || strings.HasPrefix(name, "HARNESS_TEST_")
		}
		return true
	})
	return excused
}

func goStatementCounts(m *module) (bad []string) {
	found := map[string][]string{}
	for _, f := range m.files {
		if f.isTest() {
			continue
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok {
				found[f.dir] = append(found[f.dir], m.at(g))
			}
			return true
		})
	}
	for dir, places := range found {
		if want := m.spawns[dir].count; len(places) != want {
			bad = append(bad, fmt.Sprintf("%s: %d go statements, %d listed in goStatements: %v", dir, len(places), want, places))
		}
	}
	for dir, r := range m.spawns {
		if len(found[dir]) == 0 {
			bad = append(bad, fmt.Sprintf("%s: goStatements lists %d, there are none", dir, r.count))
		}
		if r.waiting == "" {
			bad = append(bad, fmt.Sprintf("%s: goStatements does not say who waits", dir))
		}
	}
	return bad
}

// machinePath is written in pieces so that this file does not match itself.
var machinePath = regexp.MustCompile(`(^|[^\w.~-])/(` + "wo" + "rk|ro" + "ot" + `)/`)

// resolvedHost is what npm writes into a lockfile unless
// omit-lockfile-registry-resolved is set.
var resolvedHost = regexp.MustCompile(`"resolved":\s*"https?:`)

func strayWords(m *module) (bad []string) {
	for name, text := range m.texts {
		for i, line := range bytes.Split(text, []byte("\n")) {
			if machinePath.Match(line) {
				bad = append(bad, fmt.Sprintf("%s:%d: a path of somebody's machine", name, i+1))
			}
			if path.Base(name) == "package-lock.json" && resolvedHost.Match(line) {
				bad = append(bad, fmt.Sprintf("%s:%d: a registry host in a lockfile", name, i+1))
			}
		}
	}
	return bad
}
