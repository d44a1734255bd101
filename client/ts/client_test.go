package ts_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The package's own tests, written for node:test, against a real server: a
// process that is killed and comes back. The server is built from this module.
func TestTheClient(t *testing.T) {
	t.Parallel()
	node, server := findNode(t), buildServer(t)
	cmd := exec.Command(node, "test/run.mjs", t.TempDir())
	cmd.Env = append(os.Environ(), "HARNESS_TEST_BIN="+server)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !regexp.MustCompile(`(?m)^ℹ fail 0$`).Match(out) || !regexp.MustCompile(`(?m)^ℹ skipped 0$`).Match(out) {
		t.Errorf("not every test ran:\n%s", out)
	}
	t.Logf("%s", out)
}

// Everything is well typed, and what types.test-d.ts promises holds.
func TestItIsWellTyped(t *testing.T) {
	t.Parallel()
	run(t, "node_modules/typescript/bin/tsc", "-p", ".")
}

// What would be published is complete: it compiles by itself, and a program
// that knows only the package's names finds them.
func TestThePackageBuilds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run(t, "node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json", "--outDir", filepath.Join(dir, "dist"))
	if err := os.CopyFS(dir, only{os.DirFS("."), "package.json"}); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(absolute(t, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	user := filepath.Join(dir, "user.mjs")
	const program = `import { applyBatch, HarnessClient, toThreadMessages } from "harness-client";
import { HarnessProvider, useHarness } from "harness-client/react";
import { useHarnessRuntime } from "harness-client/assistant-ui";
const state = applyBatch({ status: "idle", messages: [] }, [{ type: "set", path: ["messages", "0"], value: { id: "m", role: "user", content: "hi", status: "complete" } }]);
const fine = [HarnessClient, HarnessProvider, useHarness, useHarnessRuntime].every((f) => typeof f === "function") && toThreadMessages(state)[0].content[0].text === "hi";
process.exit(fine ? 0 : 1);
`
	if err := os.WriteFile(user, []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, user)
}

// The core needs no package at all, and the others only those they are for.
func TestTheCoreNeedsNoPackage(t *testing.T) {
	t.Parallel()
	allowed := map[string][]string{"react.tsx": {"react"}, "assistant-ui.tsx": {"react", "@assistant-ui/react"}}
	sources, err := filepath.Glob("src/*.ts*")
	if err != nil || len(sources) < 10 {
		t.Fatal(sources, err)
	}
	imports := regexp.MustCompile(`(?m)^(?:import|export)(?:[^;"]* from)? "([^".][^"]*)"`)
	for _, name := range sources {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range imports.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(strings.Join(allowed[filepath.Base(name)], " ")+" ", m[1]+" ") {
				t.Errorf("%s imports %s", name, m[1])
			}
		}
	}
	if text, err := os.ReadFile("package.json"); err != nil || strings.Contains(string(text), `"dependencies"`) {
		t.Errorf("package.json has dependencies (%v)", err)
	}
}
