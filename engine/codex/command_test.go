package codex

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestWordsAreThoseOfTheShell wherever they are told at all.
func TestWordsAreThoseOfTheShell(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		`/bin/bash -lc 'echo one'`, `bash -c "it's \"so\""`, `a\ b 'c'"d" ''`, `sh -lc 'a'\''b'`, `x "a\b"`, `  two   words `, `a=b`, "bash -lc 'two\nlines'",
	} {
		got, ok := words(s)
		out, err := exec.Command("/bin/sh", "-c", `printf '%s\0' `+s).Output()
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if !ok || !slices.Equal(got, want) {
			t.Errorf("%s is %q, %t; the shell says %q", s, got, ok, want)
		}
	}
	for _, s := range []string{`echo $(id)`, "echo `id`", `a; b`, `a 'b`, `a "b`, `"$x"`, `a > b`, `*`, `a\`, `~`} {
		if got, ok := words(s); ok {
			t.Errorf("%s is %q", s, got)
		}
	}
}

// TestALineIsOnlyOneOfAShellThatRulesKnow or else the whole command.
func TestALineIsOnlyOneOfAShellThatRulesKnow(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`/bin/bash -lc 'rm -rf x'`: "rm -rf x", `bash -c "a b"`: "a b", `/bin/zsh -lc 'a b'`: `/bin/zsh -lc 'a b'`,
		`/bin/bash -lc a b`: `/bin/bash -lc a b`, `date`: "date", `/bin/bash -lc $(x)`: `/bin/bash -lc $(x)`,
	} {
		if got := line(in); got != want {
			t.Errorf("%s is read as %s, want %s", in, got, want)
		}
	}
}
