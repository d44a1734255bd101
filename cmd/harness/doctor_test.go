package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// changing is what of a doctor's words is another each time.
var changing = regexp.MustCompile(`(127\.0\.0\.1:|process |since )\d(?:[\d: -]*\d)?`)

var engineLines = regexp.MustCompile(`(?m)^(ok  |note)  engine .*\n(      → .*\n)?`)

// TestTheDoctorSaysWhatIsExposedAndBounded: to whom, by which token, and every
// limit with its value and answer. It is in testdata/doctor.txt; UPDATE=1
// rewrites it.
func TestTheDoctorSaysWhatIsExposedAndBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	cmd := invocation(t, "doctor", "--data", h.dir)
	cmd.Env = append(cmd.Env, "PATH=/nonexistent") // whatever agents are installed here
	o := finish(t, cmd)
	if o.code != 0 || o.stderr != "" {
		t.Errorf("exit code %d\n%s", o.code, o.stderr)
	}
	got := changing.ReplaceAllString(strings.ReplaceAll(o.stdout, h.dir, "DATA"), "${1}N")
	got = engineLines.ReplaceAllString(got, "") // which are here is another machine's business
	for name, token := range h.tokens {
		if strings.Contains(got, token) {
			t.Errorf("the token %s is in it", name)
		}
	}
	for _, b := range bounds {
		for _, l := range b.all() {
			if l.Name == "" || l.Value == "" || l.Reason == "" || l.Answer == "" || !strings.Contains(got, l.Name) {
				t.Errorf("%s: %+v", b.whose, l)
			}
		}
	}
	for line := range strings.Lines(got) {
		if strings.TrimRight(line, " \n") != strings.TrimSuffix(line, "\n") {
			t.Errorf("a line ends in spaces: %q", line)
		}
	}
	golden := filepath.Join("testdata", "doctor.txt")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || string(want) != got {
		t.Errorf("%s differs (%v); UPDATE=1 accepts\n%s", golden, err, got)
	}
}

// TestTheDocumentHasTheLimitsOfSessionsAndProtocols: the table of
// docs/security.md is made of the code's; UPDATE=1 writes it. The gateway's own
// is checked there.
func TestTheDocumentHasTheLimitsOfSessionsAndProtocols(t *testing.T) {
	t.Parallel()
	const path, begin, end = "../../docs/security.md", "<!-- further limits, from the code -->\n", "<!-- end of further limits -->"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("| what | bound | why | who meets it hears |\n|---|---|---|---|\n")
	for _, b := range bounds[1:] {
		for _, l := range b.all() {
			fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", l.Name, l.Value, l.Reason, l.Answer)
		}
	}
	before, rest, ok := strings.Cut(string(b), begin)
	got, after, closed := strings.Cut(rest, end)
	switch {
	case !ok || !closed:
		t.Fatalf("%s has no place for them", path)
	case got == table.String():
	case os.Getenv("UPDATE") == "":
		t.Errorf("%s: the limits are not those of the code; UPDATE=1 writes\n%s", path, &table)
	default:
		if err := os.WriteFile(path, []byte(before+begin+table.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
