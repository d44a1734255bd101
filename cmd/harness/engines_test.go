package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"harness"
	"harness/engine/script"
)

// sheet is the page that says which engine does what.
const sheet = "../../docs/engines.md"

// showing is where an engine's tests saw each command, setting and kind, by their
// evidence; see enginetest.Ledger.
func showing(t *testing.T, engine string) map[string]string {
	t.Helper()
	b, err := os.ReadFile("../../engine/" + engine + "/testdata/fidelity.txt")
	if err != nil {
		t.Fatal(err)
	}
	where := map[string]string{}
	for line := range strings.Lines(string(b)) {
		what, test, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if !exists(t, engine, test) {
			t.Errorf("%s of %s is shown by %s, which does not exist", what, engine, test)
		}
		where[what] = "yes"
		if strings.Contains(test, "/") {
			where[what] = "`" + path.Base(test) + "`"
		}
	}
	return where
}

// exists reports whether a package of an engine has a test, or the recording of
// a scene.
func exists(t *testing.T, engine, test string) bool {
	t.Helper()
	test, play, sub := strings.Cut(test, "/")
	sources, err := filepath.Glob("../../engine/" + engine + "/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	found := slices.ContainsFunc(sources, func(name string) bool {
		b, err := os.ReadFile(name)
		return err == nil && strings.Contains(string(b), "func "+test+"(t *testing.T)")
	})
	if sub && play != "kinds" { // that one has no recording
		_, err := os.Stat("../../engine/" + engine + "/testdata/" + play + ".txtar")
		found = found && err == nil
	}
	return found
}

// TestAnEntryWhoseSceneIsGoneIsNoticed in the table.
func TestAnEntryWhoseSceneIsGoneIsNoticed(t *testing.T) {
	t.Parallel()
	for test, there := range map[string]bool{
		"TestScenesWithTheStandIn/compact": true, "TestScenesWithTheStandIn/kinds": true, "TestScenesWithTheStandIn": true,
		"TestScenesWithTheStandIn/gone": false, "TestOfNothing/compact": false, "TestOfNothing": false,
	} {
		if exists(t, "codex", test) != there {
			t.Errorf("that %s exists is not %t", test, there)
		}
	}
}

// ofTheSession are the commands and kinds that a session sees to itself, whatever
// runs its turns.
func ofTheSession() map[string]bool {
	var none harness.Abilities
	its := map[string]bool{"command rewind": true, "policy_decision": true, "approval_applied": true}
	for _, kind := range none.Events() {
		its[string(kind)] = kind != "token"
	}
	return its
}

// table is the generated part of the page.
func table(t *testing.T) string {
	t.Helper()
	all := fidelities()
	var b strings.Builder
	line := func(cells ...string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line("", "[native](engines/native.md)", "[claude](engines/claude.md)", "[codex](engines/codex.md)", "[acp](engines/acp.md)", "a runner of S2 alone")
	line(slices.Repeat([]string{"---"}, len(all)+1)...)
	evidence, its := map[string]map[string]string{}, ofTheSession()
	for _, f := range all {
		evidence[f.name] = showing(t, f.name)
	}
	section := func(title, prefix string, names []string, claims func(can harness.Abilities, name string) bool) {
		line(append([]string{title}, make([]string, len(all))...)...)
		for _, name := range names {
			cells := []string{"`" + name + "`"}
			for _, f := range all {
				cell := "–"
				lacks := f.can.Lacks()
				switch where := evidence[f.name][prefix+name]; {
				case its[prefix+name] && claims(f.can, name), prefix == "" && !claims(f.can, name) && lacks != nil && !slices.Contains(lacks.Events, harness.Type(name)):
					cell = "session"
				case !claims(f.can, name):
				case where == "":
					t.Errorf("%s claims %s%s, and no test shows it", f.name, prefix, name)
				default:
					cell = where
				}
				cells = append(cells, cell)
			}
			line(cells...)
		}
	}
	section("**commands** (S1)", "command ", harness.S1(), func(can harness.Abilities, name string) bool { return slices.Contains(can.Commands(), name) })
	section("**settings**", "setting ", harness.Settings(), func(can harness.Abilities, name string) bool { return !slices.Contains(can.Ignores, name) })
	var kinds []string
	for _, i := range harness.Inventory() {
		kinds = append(kinds, string(i.Type))
	}
	section("**events** (S3)", "", kinds, func(can harness.Abilities, name string) bool {
		return slices.Contains(can.Events(), harness.Type(name))
	})
	return b.String()
}

// TestThePageOfEnginesIsUpToDate with what they claim and with what their tests
// have shown. UPDATE=1 rewrites its table.
func TestThePageOfEnginesIsUpToDate(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(sheet)
	if err != nil {
		t.Fatal(err)
	}
	const from, to = "<!-- made by cmd/harness; UPDATE=1 go test ./cmd/harness -run Engines -->\n", "<!-- end -->"
	before, rest, ok := strings.Cut(string(b), from)
	_, after, whole := strings.Cut(rest, to)
	if !ok || !whole {
		t.Fatal("the page has lost its marks")
	}
	want := before + from + table(t) + to + after
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(sheet, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(b) {
		t.Error("docs/engines.md is not what the engines say; UPDATE=1 writes it")
	}
}

// TestEveryEngineOfTheTableIsOneOfTheProgram so that none is forgotten on the
// page or by the doctor.
func TestEveryEngineOfTheTableIsOneOfTheProgram(t *testing.T) {
	t.Parallel()
	known := []string{"auto", "script", "http", "https"} // native, for tests, and remote twice
	for _, f := range fidelities() {
		known = append(known, f.name)
	}
	for name := range engines {
		if !slices.Contains(known, name) {
			t.Errorf("fidelities does not have %s", name)
		}
	}
	demo := script.New(script.Demo(), nil)
	if demo.Abilities().Lacks() != nil {
		t.Error("the demo lacks something")
	}
}

// TestTheDoctorSaysWhichEnginesAreHere in which version, and what they lack.
func TestTheDoctorSaysWhichEnginesAreHere(t *testing.T) {
	bin := t.TempDir()
	for name, does := range map[string]string{"claude": "echo '9.8.7 (Claude Code)'", "opencode": "exit 3"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+does+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	out := invoke(t, "doctor", "--data", t.TempDir()).stdout
	for _, want := range []string{
		"engine native: in this program; it has everything there is", "engine claude: 9.8.7 (Claude Code) at " + bin, "no events reflection, tool_log",
		"note  engine codex: no codex is installed", "npm install -g @openai/codex", "engine acp: an unknown version at " + bin, "no commands steer; no settings system_prompt, max_turns",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the doctor does not say %q:\n%s", want, out)
		}
	}
}

// TestEveryBridgeHasAtLeastS3sReducedSet: what S3 says a bridge can reliably
// expose, none of ours says it lacks. What one has beyond that it claims, and
// its own tests show.
func TestEveryBridgeHasAtLeastS3sReducedSet(t *testing.T) {
	t.Parallel()
	for _, f := range fidelities() {
		if f.name == "remote" { // S2's runner is no bridge
			continue
		}
		lacks := f.can.Lacks()
		for _, kind := range []harness.Type{"session_state", "session_checkpoint", "policy_decision", "sandbox_notice", "approval_required", "approval_applied", "completed", "error", "artifact"} {
			if lacks != nil && slices.Contains(lacks.Events, kind) {
				t.Errorf("%s lacks %s", f.name, kind)
			}
		}
	}
}
