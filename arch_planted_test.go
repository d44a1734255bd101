package harness_test

import (
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// lawful is a small module that breaks no rule; each planted breach changes or
// adds one file of it.
var lawful = map[string]string{
	"id.go":                             "// Package harness is the vocabulary.\npackage harness\n\nimport \"time\"\n\nvar _ time.Time\n",
	"fold.go":                           "package harness\n",
	"health/health.go":                  "// Package health scores.\npackage health\n\nimport \"harness\"\n\nvar _ = harness.Seq(0)\n",
	"kernel/kernel.go":                  "// Package kernel runs sessions.\npackage kernel\n\nimport (\n\t_ \"harness\"\n\t_ \"harness/health\"\n)\n",
	"kernel/session_test.go":            "package kernel\n\nimport (\n\t_ \"harness/store/memory\"\n\t\"os\"\n\t\"time\"\n\n\t_ \"golang.org/x/tools/txtar\"\n)\n\nvar long = os.Getenv(\"LONG\")\n\nfunc nap() {\n\ttime.Sleep(1) // sleep: inside a bubble\n}\n",
	"store/sqlite/sqlite.go":            "// Package sqlite is a store.\npackage sqlite\n\nimport (\n\t_ \"harness\"\n\n\t_ \"modernc.org/sqlite\"\n)\n",
	"internal/golden/golden.go":         "// Package golden compares.\npackage golden\n\nimport \"os\"\n\nvar update = os.Getenv(\"UPDATE\") != \"\"\n",
	"engine/script/script.go":           "// Package script is an engine.\npackage script\n\nfunc run() { go run() }\n",
	"cmd/harness/main.go":               "// Command harness is the server.\npackage main\n\nimport (\n\t\"flag\"\n\t_ \"harness/kernel\"\n\t\"os\"\n)\n\nfunc main() { flag.Parse(); os.Exit(0) }\n",
	"README.md":                         "See https://example.com/" + "work/ and ~/" + "work/.\n",
	"x/testdata/node/package-lock.json": "{\"name\": \"x\",\n\"integrity\": \"sha512-\"}\n",
}

func TestRulesAcceptALawfulModule(t *testing.T) {
	t.Parallel()
	m := planted(t, nil)
	for _, r := range rules {
		for _, complaint := range r.check(m) {
			t.Errorf("%s: %s", r.name, complaint)
		}
	}
}

func TestRulesCatchWhatIsPlanted(t *testing.T) {
	t.Parallel()
	const header = "// Package x is planted.\npackage x\n\n"
	for _, tc := range []struct {
		breach, rule, file, src string
		want                    string // in the only complaint
	}{
		{"root imports a folder", "OurImportsFollowTheTable", "fold.go", "package harness\n\nimport _ \"harness/health\"\n", "fold.go:3: . may not import health"},
		{"store imports the kernel", "OurImportsFollowTheTable", "store/x/x.go", header + "import _ \"harness/kernel\"\n", "store/x may not import kernel"},
		{"a protocol imports another", "OurImportsFollowTheTable", "protocol/x/x.go", header + "import _ \"harness/protocol/delta\"\n", "protocol/x may not import protocol/delta"},
		{"internal knows the domain", "OurImportsFollowTheTable", "internal/x/x.go", header + "import _ \"harness\"\n", "internal/x may not import ."},
		{"a folder nobody placed", "OurImportsFollowTheTable", "util/x.go", header, "util has no row"},
		{"a driver outside its leaf", "ThirdPartyModulesStayInTheirLeaf", "kernel/x.go", "package kernel\n\nimport _ \"modernc.org/sqlite\"\n", "kernel may not import modernc.org/sqlite"},
		{"a driver in another's test", "ThirdPartyModulesStayInTheirLeaf", "kernel/x_test.go", "package kernel\n\nimport _ \"modernc.org/sqlite/lib\"\n", "kernel may not import modernc.org/sqlite/lib"},
		{"a module that only begins alike", "ThirdPartyModulesStayInTheirLeaf", "internal/socket/x.go", header + "import _ \"github.com/gobwas/wsx\"\n", "github.com/gobwas/wsx"},
		{"a client library outside tests", "ThirdPartyModulesStayInTheirLeaf", "protocol/delta/x.go", header + "import _ \"github.com/coder/websocket\"\n", "protocol/delta may not import"},
		{"a module nobody explained", "ThirdPartyModulesStayInTheirLeaf", "fold.go", "package harness\n\nimport _ \"github.com/pkg/errors\"\n", "github.com/pkg/errors"},
		{"cgo", "ThirdPartyModulesStayInTheirLeaf", "store/sqlite/x.go", "package sqlite\n\nimport \"C\"\n", "may not import C"},
		{"a package without a comment", "EveryPackageHasOnePackageComment", "store/x/x.go", "package x\n", "store/x: want one package comment, have 0"},
		{"a package with two comments", "EveryPackageHasOnePackageComment", "fold.go", "// Package harness again.\npackage harness\n", "have 2 [fold.go id.go]"},
		{"an init function", "NoInitFunctions", "fold.go", "package harness\n\nfunc init() {}\n", "fold.go:3: init function"},
		{"a sleep in a test", "NoSleepInTestsWithoutReason", "kernel/x_test.go", "package kernel\n\nimport \"time\"\n\nfunc f() { time.Sleep(1) }\n", "kernel/x_test.go:5"},
		{"a sleep whose reason is empty", "NoSleepInTestsWithoutReason", "kernel/x_test.go", "package kernel\n\nimport \"time\"\n\nfunc f() {\n\ttime.Sleep(1) // sleep:\n}\n", "kernel/x_test.go:6"},
		{"a sleep under another name", "NoSleepInTestsWithoutReason", "kernel/x_test.go", "package kernel\n\nimport clock \"time\"\n\nvar f = clock.Sleep\n", "kernel/x_test.go:5"},
		{"the environment outside cmd", "OnlyCmdTouchesTheProcess", "kernel/x.go", "package kernel\n\nimport \"os\"\n\nvar x = os.Getenv(\"LONG\")\n", "os.Getenv outside cmd/"},
		{"an unlisted variable in a test", "OnlyCmdTouchesTheProcess", "kernel/x_test.go", "package kernel\n\nimport \"os\"\n\nvar x = os.Getenv(\"HOME\")\n", "os.Getenv outside cmd/"},
		{"an exit outside cmd", "OnlyCmdTouchesTheProcess", "kernel/x.go", "package kernel\n\nimport \"os\"\n\nfunc f() { os.Exit(1) }\n", "os.Exit outside cmd/"},
		{"standard input outside cmd", "OnlyCmdTouchesTheProcess", "protocol/x/x.go", header + "import \"os\"\n\nvar in = os.Stdin\n", "os.Stdin outside cmd/"},
		{"flags outside cmd", "OnlyCmdTouchesTheProcess", "kernel/x_test.go", "package kernel\n\nimport _ \"flag\"\n", "package flag outside cmd/"},
		{"a goroutine nobody listed", "EveryGoStatementIsListed", "kernel/x.go", "package kernel\n\nfunc f() { go f() }\n", "kernel: 1 go statements, 0 listed"},
		{"a second goroutine beside a listed one", "EveryGoStatementIsListed", "engine/script/x.go", "package script\n\nfunc f() { go f() }\n", "engine/script: 2 go statements, 1 listed"},
		{"a listed goroutine that is gone", "EveryGoStatementIsListed", "engine/script/script.go", "package script\n", "engine/script: goStatements lists 1, there are none"},
		{"a machine path in prose", "NoMachinePathsOrRegistryHosts", "docs/x.md", "See\n`/" + "work/main`.\n", "docs/x.md:2"},
		{"a machine path in a URL", "NoMachinePathsOrRegistryHosts", "docs/x.md", "file:///" + "root/x\n", "docs/x.md:1"},
		{"a registry host in a lockfile", "NoMachinePathsOrRegistryHosts", "x/testdata/node/package-lock.json", "{\n\"resolved\": \"https:" + "//example.com/a.tgz\"}\n", "package-lock.json:2"},
	} {
		t.Run(strings.ReplaceAll(tc.breach, " ", "_"), func(t *testing.T) {
			t.Parallel()
			m := planted(t, map[string]string{tc.file: tc.src})
			i := slices.IndexFunc(rules, func(r rule) bool { return r.name == tc.rule })
			got := rules[i].check(m)
			if len(got) != 1 || !strings.Contains(got[0], tc.want) {
				t.Errorf("%s with\n%s\nsays %q\nwant one complaint with %q", tc.rule, tc.src, got, tc.want)
			}
		})
	}
}

// planted is the lawful module with some files changed or added.
func planted(t testing.TB, changed map[string]string) *module {
	t.Helper()
	files := maps.Clone(lawful)
	maps.Copy(files, changed)
	m := &module{fset: token.NewFileSet(), texts: map[string][]byte{}, spawns: map[string]spawns{"engine/script": {1, "run"}}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		m.add(t, name, []byte(files[name]))
	}
	return m
}
