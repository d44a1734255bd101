package schema_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"harness/engine/native/schema"
)

// suite is the tests of JSON Schema by its makers, a copy of which comes with a
// validator that the client of MCP needs.
const suite = "github.com/google/jsonschema-go"

// leftOut are the groups of the suite whose schemas may be refused, by what their
// file and description begin with. Those that are not refused are run, too.
// The suite's files about formats and other dialects of patterns are not in the
// copy.
var leftOut = map[string]string{
	"refRemote.json": "schemas that are elsewhere are not read",
	"ref.json: remote ref, containing refs itself":             "the schema of schemas is elsewhere",
	"definitions.json: validate definition against metaschema": "the schema of schemas is elsewhere",
	"defs.json: validate definition against metaschema":        "the schema of schemas is elsewhere",
	"dynamicRef.json": "$dynamicRef is refused",
	"unevaluatedItems.json: unevaluatedItems with $dynamicRef":           "$dynamicRef is refused",
	"unevaluatedProperties.json: unevaluatedProperties with $dynamicRef": "$dynamicRef is refused",
}

func TestTheSuiteOfJSONSchema(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", suite).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, draft := range []struct{ folder, name string }{{"draft7", "http://json-schema.org/draft-07/schema#"}, {"draft2020-12", "https://json-schema.org/draft/2020-12/schema"}} {
		files, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "jsonschema", "testdata", draft.folder, "*.json"))
		ran := 0
		for _, file := range files {
			ran += runSuite(t, file, draft.name)
		}
		t.Logf("%s: %d tests", draft.folder, ran)
		if ran < 700 {
			t.Errorf("%s: %d tests ran", draft.folder, ran)
		}
	}
}

type group struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

func runSuite(t *testing.T, file, draft string) (ran int) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var groups []group
	if err := json.Unmarshal(raw, &groups); err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		where := filepath.Base(file) + ": " + g.Description
		takes, err := schema.Taker(g.Schema, draft)
		if err != nil && strings.Contains(err.Error(), "may not refer") && isLeftOut(where) {
			continue
		}
		if err != nil {
			t.Errorf("%s %s\n%s: %v", draft, where, g.Schema, err)
			continue
		}
		for _, test := range g.Tests {
			ran++
			if got := takes(test.Data); got != test.Valid {
				t.Errorf("%s %s: %s\n%s with %s: %v", draft, where, test.Description, g.Schema, test.Data, got)
			}
		}
	}
	return ran
}

func isLeftOut(where string) bool {
	for prefix := range leftOut {
		if strings.HasPrefix(where, prefix) {
			return true
		}
	}
	return false
}
