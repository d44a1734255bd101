package gateway_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"harness"
	"harness/gateway"
)

// TestTheDocumentSaysWhatIsEnforced: the tables of docs/security.md are made of
// the code's; UPDATE=1 writes them.
func TestTheDocumentSaysWhatIsEnforced(t *testing.T) {
	t.Parallel()
	const path = "../docs/security.md"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for name, table := range map[string]string{"limits": limitsTable(), "roles": rolesTable(), "scopes": scopesTable()} {
		begin, end := "<!-- "+name+", from the code -->\n", "<!-- end of "+name+" -->"
		before, rest, ok := strings.Cut(text, begin)
		got, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Fatalf("%s has no place for the %s", path, name)
		}
		if got != table && os.Getenv("UPDATE") == "" {
			t.Errorf("%s: the %s are not those of the code; UPDATE=1 writes\n%s", path, name, table)
		}
		text = before + begin + table + end + after
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func limitsTable() string {
	var b strings.Builder
	b.WriteString("| what | bound | why | who meets it hears |\n|---|---|---|---|\n")
	for _, l := range gateway.Limits() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", l.Name, l.Value, l.Reason, l.Answer)
	}
	return b.String()
}

func scopesTable() string {
	var b strings.Builder
	b.WriteString("| part | leaves |\n|---|---|\n")
	for _, verb := range gateway.ScopeVerbs() {
		var all []string
		for _, a := range gateway.Actions() {
			if a != gateway.ForOther && gateway.May(harness.Caller{Role: harness.Admin, Scope: harness.CallerScope(verb)}, a) {
				all = append(all, "`"+a.String()+"`")
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", verb, strings.Join(all, ", "))
	}
	b.WriteString("| `session:ID` | this session; none is made beside it, and `always` is no answer |\n")
	b.WriteString("| `dir:PATH` | sessions that work there or below; new ones do, too |\n")
	return b.String()
}

func rolesTable() string {
	var b strings.Builder
	b.WriteString("| action |")
	for _, r := range harness.CallerRoles() {
		fmt.Fprintf(&b, " %s |", r)
	}
	b.WriteString("\n|---|" + strings.Repeat(":-:|", len(harness.CallerRoles())) + "\n")
	for _, a := range gateway.Actions() {
		fmt.Fprintf(&b, "| `%s` |", a)
		for _, r := range harness.CallerRoles() {
			b.WriteString(map[bool]string{true: " yes |", false: " |"}[gateway.Allows(r, a)])
		}
		b.WriteByte('\n')
	}
	return b.String()
}
