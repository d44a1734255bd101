package ts_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What would be published is the built sources, what they are and their
// license; a program that knows only the package's names finds them, and their
// types.
func TestThePackageIsComplete(t *testing.T) {
	t.Parallel()
	user := t.TempDir()
	names := pack(t, filepath.Join(user, "node_modules", "harness-client"))
	want := []string{"LICENSE", "README.md", "package.json"}
	for _, source := range sources(t) {
		name, _, _ := strings.Cut(filepath.Base(source), ".ts")
		want = append(want, "dist/"+name+".js", "dist/"+name+".d.ts")
	}
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("it has %q\nwant %q", names, want)
	}
	for _, name := range []string{"react", "@types", "@assistant-ui", "assistant-stream", "csstype"} {
		if err := os.Symlink(absolute(t, filepath.Join("node_modules", name)), filepath.Join(user, "node_modules", name)); err != nil {
			t.Fatal(err)
		}
	}
	const program = `import { applyBatch, HarnessClient, type HarnessState, lastMessages, toThreadMessages } from "harness-client";
import { useHarnessRuntime } from "harness-client/assistant-ui";
import { httpOf, stateAt } from "harness-client/http";
import { longLists } from "harness-client/long";
import { pagesOf } from "harness-client/pages";
import { HarnessProvider, useHarness } from "harness-client/react";
const none: HarnessState = { status: "idle", messages: [] };
const state = applyBatch(none, [{ type: "set", path: ["messages", "0"], value: { id: "m", role: "user", content: "hi", status: "complete" } }]);
const part = toThreadMessages(state)[0]!.content[0]!;
const fine = [HarnessClient, HarnessProvider, httpOf, longLists, pagesOf, stateAt, useHarness, useHarnessRuntime].every((f) => typeof f === "function") && part.type === "text" && part.text === "hi";
if (!fine || lastMessages(state, 1).length !== 1) throw new Error("it does not work");
export const typed = async (client: HarnessClient): Promise<number> => (await pagesOf(client).events.list()).events[0]!.seq;
// @ts-expect-error there is no such command
export const mistyped = (client: HarnessClient) => client.send({ type: "stop" });
// @ts-expect-error a hook takes a client
export const misused = () => useHarnessRuntime({});
`
	for name, text := range map[string]string{"user.ts": program, "package.json": `{"type":"module"}`} {
		if err := os.WriteFile(filepath.Join(user, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run(t, "node_modules/typescript/bin/tsc", "--ignoreConfig", "--strict", "--target", "es2022", "--lib", "es2023,dom", "--types", "", "--skipLibCheck",
		"--module", "nodenext", "--outDir", user, filepath.Join(user, "user.ts"))
	run(t, filepath.Join(user, "user.js"))
}

// pack builds the package, unpacks what npm would publish, and lists it.
func pack(t *testing.T, into string) (names []string) {
	t.Helper()
	dir := t.TempDir()
	run(t, "node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json", "--outDir", filepath.Join(dir, "dist"))
	for _, name := range []string{"package.json", "README.md", "LICENSE"} {
		if err := os.CopyFS(dir, only{os.DirFS("."), name}); err != nil {
			t.Fatal(err)
		}
	}
	npm, err := exec.LookPath("npm")
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(npm, "pack", "--offline", "--ignore-scripts", "--silent", "--cache", t.TempDir())
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("npm pack: %v\n%s", err, out)
	}
	packed, err := os.Open(filepath.Join(dir, strings.TrimSpace(string(out))))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	plain, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(plain); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			slices.Sort(names)
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(h.Name, "package/")
		text, err := io.ReadAll(r)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(into, name)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(into, name), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
}

// What a page pays for: a part that is not used is not in its bundle. Bytes,
// minified and compressed.
func TestBundlesStaySmall(t *testing.T) {
	t.Parallel()
	for imports, most := range map[string]int{
		`{ HarnessClient } from "./src/index.js"`:                    4_000,
		`{ HarnessClient, applyBatch, until } from "./src/index.js"`: 4_150,
		`{ applyBatch } from "./src/index.js"`:                       650,
		`{ toThreadMessages } from "./src/index.js"`:                 1_450,
		`* from "./src/http.js"`:                                     1_150,
		`* from "./src/long.js"`:                                     1_400,
		`* from "./src/pages.js"`:                                    1_900,
	} {
		cmd := exec.Command(findNode(t), "node_modules/esbuild/bin/esbuild", "--bundle", "--minify", "--format=esm", "--target=es2022")
		cmd.Stdin = strings.NewReader("export " + imports)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(out) // a buffer takes everything
		if w.Close(); b.Len() > most {
			t.Errorf("%s: %d bytes, at most %d", imports, b.Len(), most)
		}
		t.Logf("%s: %d bytes", imports, b.Len())
	}
}

// The license that is published is that of the project.
func TestTheLicenseIsTheProjects(t *testing.T) {
	t.Parallel()
	ours, err := os.ReadFile("LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	if theirs, err := os.ReadFile("../../LICENSE"); err != nil || !bytes.Equal(ours, theirs) {
		t.Errorf("client/ts/LICENSE is not a copy of LICENSE (%v)", err)
	}
}

// The core needs no package at all, and the others only those they are for.
func TestTheCoreNeedsNoPackage(t *testing.T) {
	t.Parallel()
	allowed := map[string][]string{"react.tsx": {"react"}, "assistant-ui.tsx": {"react", "@assistant-ui/react"}}
	imports := regexp.MustCompile(`(?m)^(?:import|export)(?:[^;"]* from)? "([^".][^"]*)"`)
	for _, name := range sources(t) {
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

func sources(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob("src/*.ts*")
	if err != nil || len(list) < 10 {
		t.Fatal(list, err)
	}
	return list
}

// only is one file of a folder.
type only struct {
	fs.FS
	name string
}

func (o only) ReadDir(string) ([]fs.DirEntry, error) {
	info, err := fs.Stat(o.FS, o.name)
	return []fs.DirEntry{fs.FileInfoToDirEntry(info)}, err
}
