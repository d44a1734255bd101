package sandbox_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"harness"
	"harness/sandbox/bwrap"
	"harness/sandbox/docker"
	"harness/sandbox/landlock"
	"harness/sandbox/local"
)

// TestThePageSaysWhatEachSandboxPromises compares the table of docs/sandbox.md
// with the promises. UPDATE=1 writes it.
func TestThePageSaysWhatEachSandboxPromises(t *testing.T) {
	const page = "../docs/sandbox.md"
	columns := []map[harness.Guarantee]string{local.Promises(), landlock.Promises(), bwrap.Promises(), docker.Promises()}
	var table strings.Builder
	table.WriteString("| guarantee | | `local` | `landlock` | `bwrap` | `docker` |\n|---|---|---|---|---|---|\n")
	for _, g := range harness.Guarantees {
		fmt.Fprintf(&table, "| `%s` | %s |", g.Name, g.Text)
		for _, promises := range columns {
			if promises[g.Name] == "" {
				t.Errorf("a sandbox says nothing about %s", g.Name)
			}
			fmt.Fprintf(&table, " %s |", promises[g.Name])
		}
		table.WriteString("\n")
	}
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const from, to = "<!-- promises -->\n", "<!-- /promises -->"
	before, rest, ok := strings.Cut(string(b), from)
	got, after, ok2 := strings.Cut(rest, to)
	if !ok || !ok2 {
		t.Fatalf("%s has no %s … %s", page, from, to)
	}
	if got == table.String() {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatalf("the table of %s is\n%swant\n%s", page, got, table.String())
	}
	if err := os.WriteFile(page, []byte(before+from+table.String()+to+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestEverySandboxKeepsItsPromisesHere compares the promises with what a probe
// finds: "yes" holds wherever the sandbox works at all, "no" nowhere.
func TestEverySandboxKeepsItsPromisesHere(t *testing.T) {
	for _, s := range []struct {
		name     string
		sandbox  harness.Sandbox
		promises map[harness.Guarantee]string
	}{
		{"local", local.New(nil), local.Promises()},
		{"landlock", landlock.New(nil), landlock.Promises()},
		{"bwrap", bwrap.New(nil), bwrap.Promises()},
	} {
		t.Run(s.name, func(t *testing.T) {
			is, err := s.sandbox.Probe(t.Context())
			if err != nil {
				if os.Getenv("CI") != "" {
					t.Fatal(err)
				}
				t.Skip(err)
			}
			for g, promise := range s.promises {
				if holds := slices.Contains(is.Enforces, g); promise == "yes" && !holds || promise == "no" && holds {
					t.Errorf("%s: promised %q, enforced: %v", g, promise, holds)
				}
			}
		})
	}
}
