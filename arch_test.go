// The architecture, as tables. The tests below read every Go file of the module
// and fail on whatever the tables do not allow. arch_rules_test.go holds the
// rules, arch_planted_test.go proves that each of them bites.
package harness_test

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mayImport says which packages of ours a package may import outside its tests.
// "." is the root; "x/*" is every package directly below x; "*" is all of them.
// An exact row wins over a "*" row. A package without a row is an error, so a
// new folder states its place here before it compiles into anything.
//
// Tests are exempt: they use real parts (kernel, store/memory, engine/script)
// instead of mocks, and the compiler already forbids cycles.
var mayImport = map[string][]string{
	".":      {},
	"policy": {".", "internal/glob", "internal/lazy", "internal/strict"},
	"health": {"."},
	"kernel": {".", "policy", "health", "internal/mint"},

	"archive": {".", "health", "internal/strict"},
	// What is of no log, from a data directory to a depot and back.
	"archive/beside": {".", "gateway/secret", "internal/paper", "internal/whole", "workspace/object"},
	// What other programs wrote down becomes a session; each form has a folder.
	"archive/transcript": {".", "internal/strict"},
	"archive/claude":     {".", "archive/transcript"},
	"archive/codex":      {".", "archive/transcript"},

	// One of several processes on a store; the kernel knows it by what it needs of it.
	"node": {".", "internal/mint"},
	// What its clients were told, checked from outside.
	"node/nodetest": {"."},

	// The page is files; who may have them is said where it is mounted.
	"console":         {},
	"console/browser": {},

	"artifact": {".", "internal/whole"},
	"memory":   {".", "internal/whole"},
	"metrics":  {"."},

	// What is told to the world, and what is begun by the clock, are seen and
	// done through the verbs.
	"notify":   {".", "internal/paper", "internal/public", "internal/whole"},
	"schedule": {".", "internal/paper", "internal/whole"},
	"trace":    {"."},
	// What a turn leaves behind is told by whoever runs it.
	"record": {"."},

	"gateway":        {".", "gateway/secret", "internal/*"},
	"gateway/secret": {"."},

	// The way out knows no session but by its name, and no sandbox.
	"egress": {".", "internal/redact"},

	// Snapshots are made of open directories, rules and objects, which know nothing of them.
	"workspace":        {".", "internal/flock", "workspace/folder", "workspace/ignore", "workspace/object"},
	"workspace/folder": {},
	"workspace/ignore": {},
	"workspace/object": {},
	"workspace/task":   {"."},

	"store/*": {".", "internal/*"},
	// A server for the tests of whoever wants one.
	"store/postgres/postgrestest": {},
	"engine/*":                    {".", "internal/*"},
	// The engine that owns its loop puts models, tools and what they remember together.
	"engine/native":   {".", "internal/*", "engine/native/*", "memory", "model", "retrieval", "retrieval/bm25", "tool", "tool/mcp"},
	"engine/native/*": {".", "internal/lazy", "tool"},
	// Engines for programs that speak JSON-RPC keep and hear them in the same way.
	"engine/codex":            {".", "engine/internal/*"},
	"engine/claude":           {".", "engine/internal/*"},
	"engine/acp":              {".", "engine/internal/*"},
	"engine/internal/program": {".", "internal/temp"},
	"engine/internal/talk":    {".", "engine/internal/program"},
	// The kernel's client of a runner: the protocol has both ends, the book its processes.
	"engine/remote": {".", "internal/*", "protocol/runner", "custody"},
	"custody":       {".", "internal/whole"},
	"sandbox/*":     {".", "internal/*", "sandbox/internal/*"},
	"protocol/*":    {".", "health", "internal/*"},
	// Sessions come and go as archives.
	"protocol/rest": {".", "health", "internal/*", "archive", "archive/transcript"},

	// Clients of model servers share what is below them; the stand-in needs none.
	"model":           {"internal/lazy"},
	"model/wire":      {"internal/lazy", "model"},
	"model/anthropic": {"model", "model/wire"},
	"model/openai":    {"model", "model/wire"},
	"model/offline":   {"internal/lazy", "model"},

	// Tools work in whatever workspace they are given.
	"tool": {".", "internal/glob", "internal/lazy", "internal/public", "workspace/ignore"},

	// Tools do not know each other's kind; MCP servers run in a workspace like any process.
	"tool/mcp": {".", "tool", "internal/lazy", "internal/strict"},

	// Ranking is for tools, too, so it knows nothing of files.
	"retrieval":      {".", "retrieval/bm25", "workspace/ignore"},
	"retrieval/bm25": {},

	"internal/*":     {},
	"internal/mint":  {"."}, // the form of identifiers
	"internal/whole": {"internal/mint"},
	"internal/chunk": {"."}, // events and their codec
	"internal/flock": {"."}, // the closed set of errors
	"internal/paper": {"."}, // the depot
	"internal/shape": {"."}, // the rule of identifiers, and the words of statuses

	// What sandboxes share is below them: nobody else has a use for it.
	"sandbox":                {".", "sandbox/internal/*"},
	"sandbox/internal/*":     {".", "sandbox/internal/*"},
	"sandbox/internal/cover": {".", "internal/temp", "sandbox/internal/*"},

	// A suite knows the root and what it tests. protocoltest plays one story
	// over every protocol, so it needs a real server to play it on.
	"store/storetest":            {".", "internal/*"},
	"engine/enginetest":          {".", "internal/*"},
	"engine/internal/bridgetest": {".", "engine/agenttest", "engine/enginetest", "engine/internal/program", "internal/redact", "internal/temp", "kernel", "model/modeltest", "policy", "sandbox/bwrap", "sandbox/local", "store/memory"},
	"engine/agenttest":           {},
	"model/modeltest":            {"model", "model/wire"},
	"gateway/gatewaytest":        {},
	"protocol/protocoltest":      {".", "health", "internal/*", "kernel", "store/memory", "engine/script", "protocol/*", "workspace"},
	"internal/object/objecttest": {"internal/object"},

	"cmd/harness": {"*"},
}

// thirdParty says which packages may import which outside code: code for
// everything, tests for _test.go files as well. docs/dependencies.md has the reasons.
var thirdParty = map[string]struct{ code, tests []string }{
	"modernc.org/sqlite":          {code: []string{"store/sqlite"}},
	"github.com/jackc/pgx/v5":     {code: []string{"store/postgres", "store/postgres/postgrestest"}, tests: []string{"node"}},
	"github.com/gobwas/ws":        {code: []string{"internal/socket", "cmd/harness"}, tests: []string{"protocol/delta"}},
	"github.com/coder/websocket":  {code: []string{"protocol/protocoltest"}, tests: []string{"internal/socket", "protocol/delta", "protocol/rest", "cmd/harness", "console/browser"}},
	"github.com/coder/acp-go-sdk": {tests: []string{"engine/acp"}},
	"golang.org/x/sys":            {code: []string{"internal/socket", "cmd/harness", "engine/agenttest", "sandbox/bwrap", "sandbox/internal/*", "workspace/folder", "workspace/object", "workspace/task"}, tests: []string{"protocol/delta"}},
	"golang.org/x/tools/txtar":    {code: []string{"protocol/protocoltest", "engine/internal/bridgetest"}, tests: []string{"*"}},

	"github.com/klauspost/compress": {code: []string{"workspace/object"}},

	"github.com/prometheus/client_golang": {tests: []string{"metrics"}},
	"github.com/prometheus/common":        {tests: []string{"metrics"}},

	"go.opentelemetry.io/proto/slim/otlp": {tests: []string{"trace"}},
	"google.golang.org/protobuf":          {tests: []string{"trace"}},

	"github.com/coreos/go-oidc/v3": {code: []string{"gateway"}},
	"golang.org/x/oauth2":          {code: []string{"gateway"}},

	"github.com/anthropics/anthropic-sdk-go": {code: []string{"model/anthropic"}},
	"github.com/openai/openai-go/v3":         {code: []string{"model/openai"}},

	"mvdan.cc/sh/v3":                    {code: []string{"policy", "tool"}},
	"go.yaml.in/yaml/v3":                {code: []string{"policy", "notify"}},
	"golang.org/x/net":                  {code: []string{"tool"}},
	"golang.org/x/text":                 {code: []string{"tool"}, tests: []string{"engine/native/schema"}},
	"github.com/bmatcuk/doublestar/v4":  {tests: []string{"internal/glob"}},
	"github.com/anishathalye/porcupine": {code: []string{"node/nodetest"}},
	"github.com/chromedp/chromedp":      {code: []string{"internal/browsertest"}, tests: []string{"client/ts", "console/browser"}},
	"github.com/chromedp/cdproto":       {code: []string{"internal/browsertest"}, tests: []string{"client/ts", "console/browser"}},

	"github.com/modelcontextprotocol/go-sdk": {code: []string{"tool/mcp"}},

	"github.com/santhosh-tekuri/jsonschema/v6": {tests: []string{"engine/native/schema", "protocol/rest", "tool"}},
}

// goStatements counts the go statements of each package outside its tests and
// says who waits for them. Prefer sync.WaitGroup.Go, which needs no row.
var goStatements = map[string]spawns{
	"kernel": {1, "the session, through returned; an engine that ignores its context is given up after CancelGrace"},

	"engine/remote":        {1, "the exit of a local runner, which may outlive the server"},
	"sandbox/docker":       {1, "whoever stops the container, through dead"},
	"sandbox/internal/run": {2, "Wait, through done; a reader of somebody else's that blocks is left to it"},
	// The shim is a process of its own: what runs in it ends with it.
	"sandbox/internal/shim": {5, "the process's exit, after wait or the end of orders"},
}

type spawns struct {
	count   int
	waiting string // who waits for them to end
}

// testVariables are the environment variables tests may read; a name that
// starts with HARNESS_TEST_ is how a test talks to itself in a child process.
var testVariables = []string{"LONG", "UPDATE", "CI"}

func TestArchitecture(t *testing.T) {
	t.Parallel()
	m := loadModule(t, ".")
	m.spawns = goStatements
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			for _, complaint := range r.check(m) {
				t.Error(complaint)
			}
		})
	}
}

// TestDependenciesAreExplained keeps docs/dependencies.md in step with go.mod:
// every module of the table is named there in the version that is required.
func TestDependenciesAreExplained(t *testing.T) {
	t.Parallel()
	page := readFile(t, "docs/dependencies.md")
	required := regexp.MustCompile(`(?m)^\s*(?:require\s+)?(\S+\.\S+/\S+) (v\S+)`).FindAllStringSubmatch(readFile(t, "go.mod"), -1)
	for prefix := range thirdParty {
		i := slices.IndexFunc(required, func(r []string) bool { return within(prefix, r[1]) })
		if i < 0 {
			t.Errorf("%s has a row in thirdParty but go.mod does not require it", prefix)
			continue
		}
		module, version := required[i][1], required[i][2]
		if !strings.Contains(page, module) || !strings.Contains(page, strings.TrimPrefix(version, "v")) {
			t.Errorf("docs/dependencies.md does not explain %s %s", module, version)
		}
	}
}

// row finds the entry of table that speaks for the package in dir.
func row[T any](table map[string]T, dir string) (T, bool) {
	if v, ok := table[dir]; ok {
		return v, true
	}
	v, ok := table[path.Dir(dir)+"/*"]
	return v, ok
}

// covers reports whether one of the patterns speaks for the package in dir.
func covers(patterns []string, dir string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		return p == "*" || p == dir || p == path.Dir(dir)+"/*"
	})
}

// within reports whether the import path is prefix or lies below it.
func within(importPath, prefix string) bool {
	return importPath == prefix || strings.HasPrefix(importPath, prefix+"/")
}

func readFile(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
