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

// promised is the promise of enginetest that shows a command, which every engine
// that takes it keeps.
var promised = map[string]string{
	"submit": "ReturnsNilWhenTheTurnCompletes", "cancel": "StopsWithTheCauseAtAnyStep", "steer": "SteeringIsConsumedOrRefused",
	"approve": "NothingRunsUnlessAskSaidYes", "deny": "NothingRunsUnlessAskSaidYes", "resume": "ResumeContinuesFromTheLastCheckpoint",
	"configure": "the scene `configure` of each", "rewind": "the session's own, whatever the engine",
}

// playsOf is in which play of its package each kind was told of by an engine.
func playsOf(t *testing.T, engine string) map[string]string {
	t.Helper()
	b, err := os.ReadFile("../../engine/" + engine + "/testdata/fidelity.txt")
	if err != nil {
		t.Fatal(err)
	}
	plays := map[string]string{}
	for line := range strings.Lines(string(b)) {
		kind, test, _ := strings.Cut(strings.TrimSpace(line), "\t")
		plays[kind] = "`" + path.Base(test) + "`"
		if !strings.Contains(test, "/") {
			plays[kind] = "yes"
		}
	}
	return plays
}

// table is the generated part of the page.
func table(t *testing.T) string {
	t.Helper()
	all := fidelities()
	var b strings.Builder
	line := func(cells ...string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	head := []string{"", "native", "[claude](engines/claude.md)", "[codex](engines/codex.md)", "[acp](engines/acp.md)", "a runner of S2 alone", "shown by"}
	head[1] = "[native](engines/native.md)"
	line(head...)
	line(strings.Split(strings.Repeat("---,", len(head)-1)+"---", ",")...)
	rows := func(names []string, cell func(f fidelity, name string) string, by func(name string) string) {
		for _, name := range names {
			cells := []string{"`" + name + "`"}
			for _, f := range all {
				cells = append(cells, cell(f, name))
			}
			line(append(cells, by(name))...)
		}
	}
	line("**commands** (S1)", "", "", "", "", "", "")
	rows(harness.S1(), func(f fidelity, name string) string { return yes(slices.Contains(f.can.Commands(), name)) }, func(name string) string { return promised[name] })
	line("**settings**", "", "", "", "", "", "")
	rows(harness.Settings(), func(f fidelity, name string) string {
		return yes(!slices.Contains(f.can.Ignores, name))
	}, func(string) string { return "" })
	line("**events** (S3)", "", "", "", "", "", "")
	var kinds []string
	for _, i := range harness.Inventory() {
		kinds = append(kinds, string(i.Type))
	}
	plays := map[string]map[string]string{}
	for _, f := range all {
		plays[f.name] = playsOf(t, f.name)
	}
	var none harness.Abilities
	rows(kinds, func(f fidelity, kind string) string {
		switch play := plays[f.name][kind]; {
		case play != "":
			return play
		case !slices.Contains(f.can.Events(), harness.Type(kind)) && !slices.Contains(none.Lacks().Events, harness.Type(kind)):
			return "session"
		default:
			return yes(slices.Contains(f.can.Events(), harness.Type(kind)))
		}
	}, func(kind string) string {
		if slices.Contains(none.Events(), harness.Type(kind)) && kind != "token" {
			return "the session itself"
		}
		return ""
	})
	return b.String()
}

func yes(does bool) string {
	if does {
		return "yes"
	}
	return "–"
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
