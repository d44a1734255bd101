package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every command explains itself on standard output and succeeds. The texts are
// in testdata/help.txt; UPDATE=1 rewrites it.
func TestHelp(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, args := range [][]string{
		{"help"}, {"serve", "--help"}, {"run", "--help"}, {"attach", "--help"}, {"stdio", "--help"}, {"sessions", "--help"}, {"sessions", "ls", "--help"}, {"sessions", "start", "--help"}, {"sessions", "pause", "--help"}, {"sessions", "resume", "--help"}, {"sessions", "cancel", "--help"}, {"sessions", "show", "--help"},
		{"sessions", "export", "--help"}, {"sessions", "import", "--help"}, {"sessions", "rm", "--help"},
		{"rules", "--help"}, {"rules", "ls", "--help"}, {"rules", "rm", "--help"}, {"policy", "--help"}, {"policy", "test", "--help"}, {"policy", "check", "--help"}, {"schedule", "--help"}, {"schedule", "add", "--help"}, {"schedule", "ls", "--help"}, {"schedule", "rm", "--help"}, {"schedule", "run", "--help"}, {"token", "--help"}, {"token", "add", "--help"}, {"token", "ls", "--help"}, {"token", "rm", "--help"}, {"login", "--help"}, {"doctor", "--help"}, {"runner", "--help"}, {"replay", "--help"}, {"version", "--help"},
	} {
		o := invoke(t, args...)
		if o.code != 0 || o.stderr != "" {
			t.Errorf("harness %v: exit code %d\n%s", args, o.code, o.stderr)
		}
		if len(args) > 1 && args[0] != "version" && args[1] != "--help" || args[0] == "serve" || args[0] == "replay" || args[0] == "runner" {
			if !strings.Contains(o.stdout, "\nExamples:\n  harness "+strings.Join(args[:len(args)-1], " ")) {
				t.Errorf("harness %v has no example:\n%s", args, o.stdout)
			}
		}
		for line := range strings.Lines(o.stdout) {
			if len([]rune(line)) > 140 || strings.TrimRight(line, " \n") != strings.TrimSuffix(line, "\n") {
				t.Errorf("harness %v: a line is too long or ends in spaces: %q", args, line)
			}
		}
		all.WriteString("$ harness " + strings.Join(args, " ") + "\n" + o.stdout + "\n")
	}
	golden := filepath.Join("testdata", "help.txt")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != all.String() {
		t.Errorf("%s differs (%v); run with UPDATE=1 to accept\n%s", golden, err, &all)
	}
	for _, args := range [][]string{{"-h"}, {"-help"}, {"--help"}} {
		if got := mustRun(t, args...); !strings.Contains(all.String(), got) || got == "" {
			t.Errorf("harness %v is not the help", args)
		}
	}
	for _, args := range [][]string{{"serve", "-h"}, {"sessions", "help"}, {"sessions", "ls", "ses_x", "-h"}, {"help", "run"}, {"help", "sessions", "show"}} {
		if got := mustRun(t, args...); !strings.Contains(all.String(), got) || got == "" {
			t.Errorf("harness %v is not its help:\n%s", args, got)
		}
	}
}

func TestMistakesExitWith2AndSayWhereToReadOn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args  []string
		words []string
	}{
		{nil, []string{"Usage:", "harness serve"}},
		{[]string{"frobnicate"}, []string{`unknown command "frobnicate"`, "Usage:"}},
		{[]string{"sessions"}, []string{"Usage:", "harness sessions ls"}},
		{[]string{"sessions", "frobnicate"}, []string{`unknown verb "frobnicate"`, "harness sessions ls"}},
		{[]string{"sessions", "ls", "--frobnicate"}, []string{"unknown flag --frobnicate", "harness sessions ls --help"}},
		{[]string{"sessions", "ls", "--limit", "many"}, []string{`"many"`, "--limit"}},
		{[]string{"sessions", "ls", "ses_x"}, []string{`unexpected argument "ses_x"`}},
		{[]string{"sessions", "rm"}, []string{"missing: SESSION"}},
		{[]string{"rules"}, []string{"Usage:", "harness rules ls"}},
		{[]string{"rules", "frobnicate"}, []string{`unknown verb "frobnicate"`, "harness rules ls"}},
		{[]string{"rules", "ls", "rul_x"}, []string{`unexpected argument "rul_x"`}},
		{[]string{"rules", "rm"}, []string{"missing: RULE"}},
		{[]string{"policy"}, []string{"Usage:", "harness policy test"}},
		{[]string{"policy", "check"}, []string{"missing: FILE"}},
		{[]string{"replay"}, []string{"missing: SESSION|FILE"}},
		{[]string{"token", "add", "bot"}, []string{"--user USER", "harness token add --help"}},
		{[]string{"sessions", "start", "--expires", "-1s", "x"}, []string{"negative", "harness sessions start --help"}},
		{[]string{"help", "frobnicate"}, []string{`unknown command "frobnicate"`}},
		{[]string{"version", "x"}, []string{`unexpected argument "x"`}},
	} {
		mustFail(t, 2, c.words, c.args...)
	}
}

func TestVersionIsOneLine(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"version", "--version"} {
		if out := mustRun(t, word); !strings.HasPrefix(out, "harness "+release) || strings.Count(out, "\n") != 1 {
			t.Errorf("%s says %q", word, out)
		}
	}
}
