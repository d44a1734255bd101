package schema_test

import (
	"encoding/json"
	"testing"

	"harness/engine/native/schema"
)

// TestNumbersAreWhatIsWritten: none is rounded, and none is as long as it says.
func TestNumbersAreWhatIsWritten(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]struct{ fit, not []string }{
		`{"maximum":5,"type":"number"}`:                   {[]string{"5", "5.0", "50e-1", "-1e400", "1e-999999999", "-1e99999999999999999999"}, []string{"1e400", "5.0000000000000000000001", "1e999999999", "1e99999999999999999999"}},
		`{"minimum":-5}`:                                  {[]string{"-5", "0", "-0", "1e99999999999999999999", "-1e-99999999999999999999"}, []string{"-1e400", "-5.00000000000000000001", "-50"}},
		`{"exclusiveMinimum":0,"exclusiveMaximum":1e400}`: {[]string{"1e-400", "9e399", "1"}, []string{"0", "0e999999999", "-0.0", "1e400", "10e399"}},
		`{"multipleOf":0.01}`:                             {[]string{"19.99", "0", "1e300", "4.35", "1e999999999"}, []string{"19.999", "1e-3", "1e-999999999"}},
		`{"multipleOf":3e-7}`:                             {[]string{"3", "0.0000009", "-6e400"}, []string{"1e999999999", "0.000001", "3e-8"}},
		`{"multipleOf":1e400}`:                            {[]string{"0", "3e400", "1e1000000"}, []string{"1e399", "15e399"}},
		`{"const":9007199254740993}`:                      {[]string{"9007199254740993", "9007199254740993.0", "9.007199254740993e15"}, []string{"9007199254740992", "9007199254740994"}},
		`{"enum":[9007199254740993,[1,{"a":2.50}]]}`:      {[]string{"9007199254740993", `[1.0,{"a":25e-1}]`}, []string{"9007199254740992", `[1,{"a":2}]`, `[1]`}},
		`{"const":0}`:                                     {[]string{"0", "-0", "0.0", "0e5"}, []string{"false", `""`, "1e-400", "null"}},
		`{"uniqueItems":true}`:                            {[]string{"[1,2]", "[1,true]", `["1",1]`, "[9007199254740993,9007199254740992]", `[["a","b"],["a,b"]]`}, []string{"[1,1.0]", "[0,-0]", `[{"a":1,"b":2},{"b":2,"a":1e0}]`}},
		`{"type":"integer"}`:                              {[]string{"1", "1.0", "1e400", "9007199254740993.0", "-100e-2"}, []string{"1.5", "1e-1", "1e999999999", "9007199254740993.5", "1.00000000000000000001"}},
		`{"minLength":1.0,"maxLength":2e1}`:               {[]string{`"a"`, `"12345678901234567890"`, `"日本日本日本日本日本日本日本日本日本日本"`}, []string{`""`, `"123456789012345678901"`}},
		`{"maxItems":1e30,"minItems":-3}`:                 {[]string{`[]`, `[1]`}, nil},
	} {
		s, err := schema.Compile(json.RawMessage(`{"properties":{"a":` + text + `}}`))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for _, v := range c.fit {
			in := `{"a":` + v + `}`
			if fixed, problems := s.Check(json.RawMessage(in)); string(fixed) != in {
				t.Errorf("%s refuses %s: %q", text, v, problems)
			}
		}
		for _, v := range c.not {
			in := `{"a":` + v + `}`
			if fixed, problems := s.Check(json.RawMessage(in)); fixed != nil || len(problems) != 1 {
				t.Errorf("%s takes %s: %s %q", text, v, fixed, problems)
			}
		}
	}
}

// TestReferencesLeadWhereTheyPoint: also to where no keyword is, and by name.
func TestReferencesLeadWhereTheyPoint(t *testing.T) {
	t.Parallel()
	const fits, wrong = `{"a":1}`, `{"a":[]}`
	for _, text := range []string{
		`{"properties":{"a":{"$ref":"#/components/schemas/X"}},"components":{"schemas":{"X":{"type":"integer"}}}}`,
		`{"properties":{"a":{"$ref":"#/components/schemas/X"}},"components":{"schemas":{"X":{"$ref":"#/components/schemas/default"},"default":{"type":"integer"}}}}`,
		`{"properties":{"a":{"$ref":"#/x-of~1ours/0/y%20z"}},"x-of/ours":[{"y z":{"type":"integer"}}]}`,
		`{"properties":{"a":{"$ref":"#/properties/b/items/1"},"b":{"items":[{},{"type":"integer"}]}}}`,
		`{"$id":"http://h/tool.json","properties":{"a":{"$ref":"tool.json#/$defs/x"}},"$defs":{"x":{"type":"integer"}}}`,
		`{"$id":"http://h/tool.json","properties":{"a":{"$ref":"part"}},"$defs":{"x":{"$id":"/part","type":"integer"}}}`,
		`{"$id":"not%%a name","properties":{"a":{"$ref":"#x"}},"$defs":{"x":{"$anchor":"x","type":"integer"}}}`,
		`{"properties":{"a":{"$ref":"#one"}},"$defs":{"x":{"$anchor":"one","$dynamicAnchor":"one","type":"integer"}}}`,
		`{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"$anchor":"twice","type":"integer"},"y":{"$anchor":"twice"}}}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/tool","required":["b"],"definitions":{"tool":{"properties":{"a":{"type":"integer"}}}}}`,
	} {
		s, err := schema.Compile(json.RawMessage(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if fixed, problems := s.Check(json.RawMessage(fits)); string(fixed) != fits {
			t.Errorf("%s refuses %s: %q", text, fits, problems)
		}
		if fixed, problems := s.Check(json.RawMessage(wrong)); fixed != nil || len(problems) != 1 || problems[0] != "a: got array, want integer" {
			t.Errorf("%s takes %s: %s %q", text, wrong, fixed, problems)
		}
	}
}

// TestEveryKeywordSaysWhatIsWrong in words of its own.
func TestEveryKeywordSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{`{"dependencies":{"a":["b"]}}`, `{"a":1}`, "arguments: properties 'b' required, if 'a' exists"},
		{`{"dependencies":{"a":{"required":["b","c"]}}}`, `{"a":1}`, "arguments: missing properties 'b', 'c'"},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, "arguments: properties 'b' required, if 'a' exists"},
		{`{"dependentSchemas":{"a":false}}`, `{"a":1}`, "arguments: nothing may be here"},
		{`{"minProperties":1}`, `{}`, "arguments: minProperties: got 0, want 1"},
		{`{"maxProperties":1}`, `{"a":1,"b":2}`, "arguments: maxProperties: got 2, want 1"},
		{`{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, "arguments: invalid propertyName 'ab'"},
		{`{"propertyNames":{"type":"array"}}`, `{"ab":1}`, "arguments: invalid propertyName 'ab'"},
		{`{"not":{"required":["a"]}}`, `{"a":1}`, "arguments: 'not' failed"},
		{`{"if":{"required":["a"]},"then":{"required":["b"]}}`, `{"a":1}`, "arguments: missing property 'b'"},
		{`{"if":{"required":["a"]},"else":{"required":["b"]}}`, `{}`, "arguments: missing property 'b'"},
		{`{"oneOf":[{},{"type":"string"},true]}`, `{}`, "arguments: 'oneOf' failed, subschemas 0, 2 matched"},
		{`{"anyOf":[]}`, `{}`, "arguments: 'anyOf' failed, none matched"},
		{`{"properties":{"a":{"uniqueItems":true}}}`, `{"a":[1,2,1]}`, "a: items at 0 and 2 are equal"},
		{`{"properties":{"a":{"contains":{"const":1}}}}`, `{"a":[2]}`, "a: no items match contains schema"},
		{`{"properties":{"a":{"contains":{"const":1},"minContains":2}}}`, `{"a":[1]}`, "a: min 2 items required to match contains schema, but matched 1 items at 0"},
		{`{"properties":{"a":{"contains":{"const":1},"maxContains":1}}}`, `{"a":[1,2,1]}`, "a: max 1 items required to match contains schema, but matched 2 items at 0 2"},
		{`{"properties":{"a":true},"unevaluatedProperties":false}`, `{"a":1,"b":1}`, "arguments: unevaluated properties 'b' not allowed"},
		{`{"properties":{"a":{"prefixItems":[true],"unevaluatedItems":false}}}`, `{"a":[1,2]}`, "a.1: nothing may be here"},
		{`{"properties":{"a":{"enum":[1,"x",null]}}}`, `{"a":[]}`, "a: value must be one of 1, 'x', null"},
	} {
		s, err := schema.Compile(json.RawMessage(c[0]))
		if err != nil {
			t.Errorf("%s: %v", c[0], err)
			continue
		}
		if fixed, problems := s.Check(json.RawMessage(c[1])); fixed != nil || len(problems) != 1 || problems[0] != c[2] {
			t.Errorf("%s of %s: %s %q, want %q", c[0], c[1], fixed, problems, c[2])
		}
	}
}
