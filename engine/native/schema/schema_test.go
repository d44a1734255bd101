package schema_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"harness/engine/native/schema"
)

const shape = `{"type":"object","required":["path"],"additionalProperties":false,"properties":{
	"path":{"type":"string","minLength":1},"n":{"type":"integer","minimum":0},"ratio":{"type":"number"},"all":{"type":"boolean"},
	"names":{"type":"array","items":{"type":"string"}},"opts":{"type":"object","properties":{"deep":{"type":"boolean"}}},
	"mode":{"enum":["a","b"]},"edits":{"type":"array","items":{"type":"object","required":["old"],"properties":{"old":{"type":"string"},"n":{"type":"integer"}}}}}}`

func TestArgumentsAreCheckedAndMended(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile(json.RawMessage(shape))
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		`{"path": "a",  "n":1}`:                     `{"path": "a",  "n":1}`, // byte for byte
		`{"path":"a","n":"12"}`:                     `{"n":12,"path":"a"}`,
		`{"path":"a","n":3.0}`:                      `{"path":"a","n":3.0}`,
		`{"path":"a","ratio":" 1.5 "}`:              `{"path":"a","ratio":1.5}`,
		`{"path":"a","all":"True"}`:                 `{"all":true,"path":"a"}`,
		`{"path":7}`:                                `{"path":"7"}`,
		`{"path":"a","names":"x"}`:                  `{"names":["x"],"path":"a"}`,
		`{"path":"a","names":"[\"x\",\"y\"]"}`:      `{"names":["x","y"],"path":"a"}`,
		`{"path":"a","names":[1,"y"]}`:              `{"names":["1","y"],"path":"a"}`,
		`{"path":"a","opts":"{\"deep\":\"no\"}"}`:   "",
		`{"path":"a","opts":"{\"deep\":\"true\"}"}`: `{"opts":{"deep":true},"path":"a"}`,
		`{"path":"a","n":null}`:                     `{"path":"a"}`,
		`{"path":"a","edits":{"old":"x","n":"1"}}`:  `{"edits":[{"n":1,"old":"x"}],"path":"a"}`,
		`"{\"path\":\"a\"}"`:                        `{"path":"a"}`,
		``:                                          "",
		`{"path":null}`:                             "",
		`{"path":"a","n":"many"}`:                   "",
		`{"path":"a","n":"1.5"}`:                    "",
		`{"path":"a","n":-1}`:                       "",
		`{"path":"a","mode":"c"}`:                   "",
		`{"path":"a","more":1}`:                     "",
		`[1]`:                                       "",
		`{"path`:                                    "",
		`{"malformed_arguments":"{\"pa"}`:           "",
	} {
		got, problems := s.Check(json.RawMessage(in))
		if string(got) != want || (want == "") != (len(problems) > 0) {
			t.Errorf("%s: %s %q, want %s", in, got, problems, want)
		}
	}
	_, problems := s.Check(json.RawMessage(`{"n":"many","edits":[{"n":1}]}`))
	text := strings.Join(problems, "\n")
	for _, want := range []string{"path", "n: got string, want integer", "edits.0: missing property 'old'"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
}

func TestASchemaReadsNothing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "secret.json")
	if err := os.WriteFile(file, []byte(`{"type":"object"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{`{"$ref":"file://` + file + `"}`, `{"$ref":"http://127.0.0.1:1/x"}`, `{"$ref":"other.json"}`, `[]`, `{`, `{"type":7}`, `{"$schema":"https://example.com/other"}`, `{"$dynamicRef":"#x"}`, `{"type":[]}`,
		`{"$ref":"` + strings.Repeat("x", 10_000) + `"}`} {
		if _, err := schema.Compile(json.RawMessage(bad)); err == nil || len(err.Error()) > 500 {
			t.Errorf("%.300s: %.1000v", bad, err)
		}
	}
	for _, good := range []string{
		``, `{}`, `{"$schema":"http://json-schema.org/draft-07/schema#","$id":"tool","definitions":{"x":{}},"properties":{"a":{"$ref":"#/definitions/x"}}}`,
		`{"$schema":"http://json-schema.org/draft-04/schema"}`, `{"$schema":"https://json-schema.org/draft/2019-09/schema"}`,
		`{"$defs":{"x":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/x"}}}`,
	} {
		if _, err := schema.Compile(json.RawMessage(good)); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
}

// TestASchemaThatNobodyComesOutOfIsNone: a reference to itself that takes
// nothing of the arguments would be followed for ever.
func TestASchemaThatNobodyComesOutOfIsNone(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		`{"$ref":"#"}`, `{"$ref":""}`, `{"allOf":[{"$ref":"#"}]}`, `{"properties":{"a":{"not":{"$ref":"#/properties/a"}}}}`, `{"if":{"anyOf":[true,{"$ref":"#"}]}}`,
		`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"dependentSchemas":{"x":{"$ref":"#/$defs/a"}}}},"properties":{"p":{"$ref":"#/$defs/a"}}}`,
		`{"$defs":{"a":{"$anchor":"one","allOf":[{"$ref":"#one"}]}},"$ref":"#one"}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"$id":"#one","allOf":[{"$ref":"#one"}]}}}`,
		`{"$defs":{"x":{"$id":"http://127.0.0.1/x","allOf":[{"$ref":"#/$defs/y"}],"$defs":{"y":{"allOf":[{"$ref":"#"}]}}},"y":{"type":"string"}},"properties":{"p":{"$ref":"#/$defs/x"}}}`,
		`{"properties":{"p":{"$id":"","allOf":[{"$ref":"#/properties/p"}],"properties":{"p":{}}}}}`,
		`{"properties":{"p":{"allOf":[{"$anchor":"one","allOf":[{"$ref":"#one"}]},{"$anchor":"one"}]}}}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"p":{"$id":"http://h/x","$ref":null,"allOf":[{"$ref":"#"}]}}}`,
		`{"$id":"http://h/a/","properties":{"p":{"$id":"b","allOf":[{"$ref":"../a/b#"}]}}}`,
		`{"properties":{"p":{"dependencies":{"x":{"$ref":"#/properties/p"}}}}}`,
		`{"components":{"x":{"allOf":[{"$ref":"#/components/x"}]}},"properties":{"p":{"$ref":"#/components/x"}}}`,
		chain(20_000, `{"$ref":"#/$defs/0"}`),
	} {
		if _, err := schema.Compile(json.RawMessage(bad)); err == nil {
			t.Errorf("%.300s is a schema", bad)
		}
	}
	tree, err := schema.Compile(json.RawMessage(`{"properties":{"left":{"$ref":"#"},"right":{"anyOf":[{"$ref":"#"},{"$ref":"#"}]},"n":{"type":"integer"}},"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	deep := strings.Repeat(`{"left":`, 500) + `{"m":1}` + strings.Repeat("}", 500)
	if _, problems := tree.Check(json.RawMessage(deep)); len(problems) == 0 {
		t.Error("what is wrong far down was not found")
	}
	wide := strings.Repeat(`{"right":`, 12) + `{"n":"x"}` + strings.Repeat("}", 12)
	if _, problems := tree.Check(json.RawMessage(wide)); len(problems) == 0 {
		t.Error("what is wrong behind many choices was not found")
	}
	if _, problems := tree.Check(json.RawMessage(`{"n":1e999999999}`)); len(problems) == 0 {
		t.Error("a number that nobody can write down fits")
	}
}

// chain is a schema with n references one after the other, and what is at their end.
func chain(n int, last string) string {
	var b strings.Builder
	b.WriteString(`{"properties":{"p":{"$ref":"#/$defs/0"}},"$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"%d":{"$ref":"#/$defs/%d"},`, i, i+1)
	}
	fmt.Fprintf(&b, `"%d":%s}}`, n, last)
	return b.String()
}

// FuzzSchema: whatever schema comes, it ends nothing, and what it takes it takes
// again, within the steps that there are.
func FuzzSchema(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		f.Add(anySchema(r, slices.Concat(keywords, newest, seventh), 3), anyObject(r, 2))
	}
	f.Add(filter, nested(5, `{"op":"and","arg":`, `{"op":"nand"}`, `}`))
	f.Add(`{"$id":"http://h/a","$defs":{"x":{"$id":"b","$anchor":"c"},"y":{"$ref":"b#c"}},"properties":{"a":{"$ref":"#/components/x/0"}},"components":{"x":[{"multipleOf":1e-3}]}}`, `{"a":1e400}`)
	f.Fuzz(func(t *testing.T, text, in string) {
		s, err := schema.Compile(json.RawMessage(text))
		if err != nil {
			return
		}
		fixed, problems, steps := s.Counted(in)
		if (fixed == nil) == (len(problems) == 0) || steps > schema.MaxSteps && fixed != nil {
			t.Fatalf("%q of %q: %s %q in %d steps", text, in, fixed, problems, steps)
		}
		if _, again := s.Check(json.RawMessage(in)); !slices.Equal(again, problems) {
			t.Fatalf("%q of %q: %q, then %q", text, in, problems, again)
		}
		if fixed == nil {
			return
		}
		if again, problems := s.Check(fixed); len(problems) > 0 || string(again) != string(fixed) {
			t.Fatalf("%q of %q: %s, then %s %q", text, in, fixed, again, problems)
		}
	})
}

// FuzzCheck: whatever comes, arguments without problems fit, and checking them
// again changes nothing.
func FuzzCheck(f *testing.F) {
	s, err := schema.Compile(json.RawMessage(shape))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(`{"path":"a","names":"[1]","n":"5","opts":"{}"}`)
	f.Fuzz(func(t *testing.T, in string) {
		fixed, problems := s.Check(json.RawMessage(in))
		if (fixed == nil) == (len(problems) == 0) {
			t.Fatalf("%q: %s %q", in, fixed, problems)
		}
		if fixed == nil {
			return
		}
		if again, problems := s.Check(fixed); len(problems) > 0 || string(again) != string(fixed) {
			t.Fatalf("%q: %s, then %s %q", in, fixed, again, problems)
		}
	})
}
