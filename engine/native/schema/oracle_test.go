package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	oracle "github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"harness/engine/native/schema"
)

// keywords are pieces that schemas of tools are made of; %s is another schema.
// The first are of no value in another, then come those that all drafts have, and
// then those of 2020-12 and of draft 7.
var (
	simple = []string{
		`"type":"string"`, `"type":"integer"`, `"type":"number"`, `"type":"boolean"`, `"type":["string","null"]`, `"enum":["a",1,null]`, `"const":"a"`,
		`"type":"string","minLength":1,"maxLength":2`, `"type":"string","pattern":"^a"`, `"type":"integer","minimum":1,"maximum":3`, `"exclusiveMinimum":0,"exclusiveMaximum":2.5`, `"multipleOf":0.5`,
		`"multipleOf":0.01`, `"multipleOf":3e-3`, `"multipleOf":7`, `"maximum":1e30`, `"minimum":-1e-30`, `"const":9007199254740993`, `"enum":[9007199254740993,19.99,[1,{"a":2.0}]]`, `"minLength":1.0,"maxLength":2e0`,
		`"const":{"a":1}`, `"exclusiveMinimum":9007199254740992`,
	}
	keywords = []string{
		`"type":"array","items":%s`, `"type":"array","items":%s,"minItems":1,"maxItems":2`, `"type":"array","uniqueItems":true`, `"contains":%s`,
		`"type":"object","properties":{"a":%s,"b":%s},"required":["a"]`, `"type":"object","properties":{"a":%s},"additionalProperties":false`, `"type":"object","additionalProperties":%s`,
		`"type":"object","patternProperties":{"^a":%s},"additionalProperties":false`, `"type":"object","required":["a","b"]`, `"propertyNames":{"maxLength":1}`, `"minProperties":1,"maxProperties":2`,
		`"anyOf":[%s,%s]`, `"oneOf":[%s,%s]`, `"allOf":[%s,%s]`, `"not":%s`, `"if":%s,"then":%s,"else":%s`,
		`"$ref":"#/$defs/x"`, `"type":"object","properties":{"a":{"$ref":"#"}}`, ``,
	}
	newest = []string{
		`"type":"array","prefixItems":[%s,%s]`, `"dependentRequired":{"a":["b"]}`, `"dependentSchemas":{"a":%s}`, `"properties":{"a":%s},"unevaluatedProperties":false`,
		`"anyOf":[{"properties":{"a":%s}},{"properties":{"b":%s}}],"unevaluatedProperties":%s`, `"prefixItems":[%s],"contains":%s,"unevaluatedItems":%s`, `"contains":%s,"minContains":2`, `"contains":%s,"maxContains":1,"minContains":0`,
		`"$ref":"#x","minProperties":1`, `"$ref":"#/$defs/x","type":["object","string"]`,
	}
	seventh = []string{
		`"dependencies":{"a":["b"]}`, `"dependencies":{"a":%s,"b":["a"]}`, `"items":[%s,%s]`, `"items":[%s],"additionalItems":%s`, `"items":[%s],"additionalItems":false`,
	}
)

func anySchema(r *rand.Rand, pieces []string, depth int) string {
	if depth == 0 || r.IntN(3) == 0 {
		pieces = simple
	}
	k := pieces[r.IntN(len(pieces))]
	for strings.Contains(k, "%s") {
		k = strings.Replace(k, "%s", anySchema(r, pieces, depth-1), 1)
	}
	return "{" + k + "}"
}

func anyValue(r *rand.Rand, depth int) string {
	plain := []string{`"a"`, `"ab"`, `""`, `"abc"`, `1`, `1.0`, `0`, `2.5`, `-1`, `1e2`, `true`, `null`, `[]`, `{}`,
		`19.99`, `0.009`, `9007199254740993`, `9007199254740992`, `9007199254740993.0`, `1e400`, `-1e-40`, `1e30`, `21`, `[1,{"a":2}]`, `{"a":1.0}`}
	switch n := r.IntN(5); {
	case depth > 0 && n == 0:
		return "[" + anyValue(r, depth-1) + "," + anyValue(r, depth-1) + "]"
	case depth > 0 && n <= 2:
		return anyObject(r, depth-1)
	}
	return plain[r.IntN(len(plain))]
}

func anyObject(r *rand.Rand, depth int) string {
	var fields []string
	for _, name := range []string{"a", "b", "ab"} {
		if r.IntN(2) == 0 {
			fields = append(fields, fmt.Sprintf("%q:%s", name, anyValue(r, depth)))
		}
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// TestAnotherValidatorAgrees: what other people's reading of JSON Schema takes
// is taken as it is, what it refuses is refused or mended to what it takes, and
// both say the same of what is wrong with plain arguments.
func TestAnotherValidatorAgrees(t *testing.T) {
	t.Parallel()
	rounds := 600
	if os.Getenv("LONG") == "1" {
		rounds = 300_000
	}
	r := rand.New(rand.NewPCG(1, 2))
	refused, told := 0, 0
	for range rounds {
		pieces, means := newest, `"$schema":"https://json-schema.org/draft/2020-12/schema"`
		names := []string{`"title":""`, means}[r.IntN(2)]
		if r.IntN(2) == 0 {
			pieces, means = seventh, `"$schema":"http://json-schema.org/draft-07/schema#"`
			names = []string{`"title":""`, means}[r.IntN(2)] // what is only of draft 7 is checked without its name, too
		}
		text := strings.TrimSuffix(anySchema(r, slices.Concat(keywords, pieces), 3), "}")
		if text != "{" {
			text += ","
		}
		text += `"$defs":{"x":{"$anchor":"x","type":"string"}},`
		other := compileOracle(t, text+means+"}")
		text += names + "}"
		s, err := schema.Compile(json.RawMessage(text))
		if err != nil {
			if strings.Contains(err.Error(), "circle") {
				continue // the other finds out when it checks
			}
			t.Fatalf("%s: %v", text, err)
		}
		for range 4 {
			in := anyObject(r, 2)
			wrong := validate(t, other, in)
			fixed, problems := s.Check(json.RawMessage(in))
			switch {
			case wrong == nil && string(fixed) != in:
				t.Fatalf("%s\n%s fits, but: %s %q", text, in, fixed, problems)
			case wrong != nil && fixed != nil && validate(t, other, string(fixed)) != nil:
				t.Fatalf("%s\n%s was mended to %s: %v", text, in, fixed, validate(t, other, string(fixed)))
			case wrong != nil && fixed == nil && len(problems) == 0:
				t.Fatalf("%s\n%s: nobody says why not", text, in)
			}
			if wrong == nil || fixed != nil {
				continue
			}
			refused++
			if want := leaves(wrong); slices.Equal(problems, want) {
				told++
			}
		}
	}
	if told < refused/3 {
		t.Errorf("both said the same of %d of %d", told, refused)
	}
	t.Logf("both said the same of %d of %d", told, refused)
}

func compileOracle(t *testing.T, text string) *oracle.Schema {
	t.Helper()
	doc, err := oracle.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	c := oracle.NewCompiler()
	if err := c.AddResource("x.json", doc); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	s, err := c.Compile("x.json")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

func validate(t *testing.T, s *oracle.Schema, text string) error {
	t.Helper()
	v, err := oracle.UnmarshalJSON(bytes.NewReader([]byte(text)))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s.Validate(v)
}

// leaves are the other's words for what no other error explains, each once.
func leaves(err error) (all []string) {
	v, ok := errors.AsType[*oracle.ValidationError](err)
	if !ok {
		return []string{err.Error()}
	}
	if len(v.Causes) == 0 {
		where := "arguments"
		if len(v.InstanceLocation) > 0 {
			where = strings.Join(v.InstanceLocation, ".")
		}
		return []string{where + ": " + v.ErrorKind.LocalizedString(message.NewPrinter(language.English))}
	}
	for _, c := range v.Causes {
		for _, text := range leaves(c) {
			if !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	return all
}
