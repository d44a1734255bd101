package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"harness/engine/native/schema"
)

// TestWhatOlderDraftsSayIsChecked as the other validator does, which is told the
// draft where a schema does not name it.
func TestWhatOlderDraftsSayIsChecked(t *testing.T) {
	t.Parallel()
	const (
		draft4 = `"$schema":"http://json-schema.org/draft-04/schema#"`
		draft7 = `"$schema":"http://json-schema.org/draft-07/schema#"`
		mixed  = `"$schema":"https://json-schema.org/draft/2019-09/schema"`
		newest = `"$schema":"https://json-schema.org/draft/2020-12/schema"`
	)
	numbers := []string{`{"a":0}`, `{"a":1}`, `{"a":1.5}`, `{"a":2}`, `{"a":3}`}
	lists := []string{`{"a":[]}`, `{"a":["x"]}`, `{"a":[1]}`, `{"a":["x",1]}`, `{"a":["x","y"]}`, `{"a":["x",1,true]}`, `{"a":["x",1,"y"]}`}
	for _, c := range []struct {
		names, means, text string // what it names, what the other is told, and the rest
		args               []string
	}{
		{draft4, draft4, `"properties":{"a":{"minimum":1,"exclusiveMinimum":true,"maximum":2,"exclusiveMaximum":true}}`, numbers},
		{draft4, draft4, `"properties":{"a":{"minimum":1,"exclusiveMinimum":false,"maximum":2}}`, numbers},
		{``, draft4, `"properties":{"a":{"anyOf":[{"maximum":1,"exclusiveMaximum":true},{"enum":[3]}]}}`, numbers},
		{draft7, draft7, `"properties":{"a":{"minimum":1,"exclusiveMaximum":2}}`, numbers},
		{``, draft7, `"properties":{"a":{"items":[{"type":"string"},{"type":"integer"}]}}`, lists},
		{``, draft7, `"properties":{"a":{"items":[{"type":"string"}],"additionalItems":{"type":"integer"}}}`, lists},
		{``, draft7, `"properties":{"a":{"items":[{"type":"string"},{"type":"integer"}],"additionalItems":false}}`, lists},
		{mixed, mixed, `"properties":{"a":{"items":[{"type":"string"},{"type":"integer"}],"additionalItems":{"type":"boolean"}}}`, lists},
		{draft7, draft7, `"properties":{"a":{"items":[{"type":"string"}],"additionalItems":false}}`, lists},
		{draft7, draft7, `"definitions":{"x":{"$id":"#one","type":"integer"}},"properties":{"a":{"$ref":"#one"}}`, append(numbers, lists...)},
		{newest, newest, `"$defs":{"x":{"$anchor":"one","type":"integer"}},"properties":{"a":{"$ref":"#one"}}`, append(numbers, lists...)},
		{``, newest, `"$defs":{"x":{"$id":"http://127.0.0.1/x","$defs":{"y":{"type":"integer"}},"properties":{"a":{"$ref":"#/$defs/y"}}},"y":{"type":"array"}},"allOf":[{"$ref":"#/$defs/x"}]`, append(numbers, lists...)},
	} {
		s, err := schema.Compile(json.RawMessage("{" + strings.TrimPrefix(c.names+","+c.text, ",") + "}"))
		if err != nil {
			t.Errorf("%s %s: %v", c.names, c.text, err)
			continue
		}
		other := compileOracle(t, "{"+c.means+","+c.text+"}")
		fits := 0
		for _, in := range c.args {
			fixed, problems := s.Check(json.RawMessage(in))
			wrong := validate(t, other, in)
			if (wrong == nil) != (string(fixed) == in) || fixed != nil && validate(t, other, string(fixed)) != nil || fixed == nil && len(problems) == 0 {
				t.Errorf("%s %s\n%s is %s %q, and the other says %v", c.names, c.text, in, fixed, problems, wrong)
			}
			if wrong == nil {
				fits++
			}
		}
		if fits == 0 || fits == len(c.args) {
			t.Errorf("%s %s: %d of %d fit, which shows nothing", c.names, c.text, fits, len(c.args))
		}
	}
}

// TestDataInASchemaIsNotReadAsOne whatever it looks like, and names are no
// keywords.
func TestDataInASchemaIsNotReadAsOne(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		`{"properties":{"a":{"default":{"$ref":"other.json"},"examples":[{"$ref":"#nowhere"}],"enum":[{"$ref":"x"},{}],"const":{"$ref":"#/no"}}}}`,
		`{"properties":{"default":{"type":"string"},"$ref":{"type":"string"},"enum":{"default":{"$ref":"x"}}}}`,
		`{"title":7,"default":{"$ref":"x"},"x-of-ours":{"$ref":"other.json"},"properties":{"a":{"allOf":[{"$Ref":"#/properties/a"}],"TYPE":"integer"}}}`,
	} {
		s, err := schema.Compile(json.RawMessage(good))
		if err != nil {
			t.Errorf("%s: %v", good, err)
			continue
		}
		s.Check(json.RawMessage(`{"a":"x"}`)) // it comes back
	}
	for _, bad := range []string{
		`{"properties":{"default":{"$ref":"other.json"}}}`, `{"$defs":{"enum":{"$ref":"other.json"}}}`, `{"patternProperties":{"const":{"$ref":"#nowhere"}}}`,
		`{"default":{"$ref":"other.json"},"properties":{"a":{"$ref":"#/default"}}}`,
		`{"default":{"properties":{"b":{"$ref":"#/default"}}},"properties":{"a":{"$ref":"#/default"}}}`,
		`{"properties":{"a":{"$ref":"#one"}}}`,
	} {
		if _, err := schema.Compile(json.RawMessage(bad)); err == nil {
			t.Errorf("%s is a schema", bad)
		}
	}
}
