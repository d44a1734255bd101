package schema_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"harness/engine/native/schema"
)

// repeated is a text so many times, with its number for %d and commas between.
func repeated(n int, text string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.ReplaceAll(text, "%d", fmt.Sprint(i))
	}
	return strings.Join(all, ",")
}

const filter = `{"properties":{"f":{"$ref":"#/$defs/f"}},"$defs":{"f":{"anyOf":[{"$ref":"#/$defs/and"},{"$ref":"#/$defs/or"}]},
	"and":{"properties":{"arg":{"$ref":"#/$defs/f"},"op":{"const":"and"}},"required":["op"]},
	"or":{"properties":{"arg":{"$ref":"#/$defs/f"},"op":{"const":"or"}},"required":["op"]}}}`

func nested(n int, before, middle, after string) string {
	return strings.Repeat(before, n) + middle + strings.Repeat(after, n)
}

// TestTheWorkOfACheckGrowsWithWhatIsChecked and not with the number of ways to
// look at it. It is counted in steps.
func TestTheWorkOfACheckGrowsWithWhatIsChecked(t *testing.T) {
	t.Parallel()
	var doubled strings.Builder
	for i := range 200 {
		fmt.Fprintf(&doubled, `"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]},`, i, i+1, i+1)
	}
	choices := nested(300, `{"anyOf":[{"type":"null"},`, `{"type":"string"}`, `]}`)
	for name, c := range map[string]struct {
		schema, args string
		most         int  // steps
		fits         bool // it is taken as it is
	}{
		"choices that refer to themselves":  {filter, `{"f":` + nested(20, `{"op":"and","arg":`, `{"op":"nand"}`, `}`) + `}`, 2_000, false},
		"and fit":                           {filter, `{"f":` + nested(400, `{"op":"or","arg":`, `{"op":"and"}`, `}`) + `}`, 10_000, true},
		"everything twice":                  {`{"$ref":"#/$defs/a0","$defs":{` + doubled.String() + `"a200":{"required":["x"]}}}`, `{}`, 5_000, false},
		"everything twice, and it fits":     {`{"$ref":"#/$defs/a0","$defs":{` + doubled.String() + `"a200":{}}}`, `{}`, 1_000, true},
		"choices within choices":            {`{"properties":{"a":` + choices + `}}`, `{"a":{}}`, 200_000, false},
		"many patterns and names":           {`{"patternProperties":{` + repeated(300, `"^x%dy":{"type":"string"}`) + `}}`, `{` + repeated(1000, `"n%d":1`) + `}`, 400_000, true},
		"many patterns and names, wrong":    {`{"patternProperties":{` + repeated(300, `"^x%dy":{"type":"string"}`) + `},"required":["z"]}`, `{` + repeated(1000, `"n%d":1`) + `}`, 800_000, false},
		"many values and items":             {`{"properties":{"a":{"items":{"enum":[` + repeated(2000, `"value %d"`) + `]}}}}`, `{"a":[` + repeated(9000, `"no %d"`) + `]}`, 50_000, false},
		"many numbers and items":            {`{"properties":{"a":{"items":{"enum":[` + repeated(2000, `%d.5`) + `]}}}}`, `{"a":[` + repeated(9000, `%d`) + `]}`, 70_000, false},
		"many items that are all different": {`{"properties":{"a":{"uniqueItems":true}}}`, `{"a":[` + repeated(9000, `{"x":[%d]}`) + `]}`, 30_000, true},
		"far down":                          {`{"properties":{"a":{"$ref":"#"}},"additionalProperties":false}`, nested(4000, `{"a":`, `{"b":1}`, `}`), 100_000, false},
		"wrong all the way down":            {`{"properties":{"a":{"$ref":"#"}},"required":["b"]}`, nested(4000, `{"a":`, `{"b":1}`, `}`), 200_000, false},
		"a long text of letters":            {`{"properties":{"a":{"pattern":"^\\pL+$"}}}`, `{"a":"` + strings.Repeat("é", 100_000) + `"}`, 30_000, true},
		"a text that is nearly JSON":        {`{"properties":{"a":{"allOf":[` + repeated(2000, `{"type":"object"}`) + `]}}}`, `{"a":"[` + strings.Repeat("1,", 50_000) + `"}`, schema.MaxSteps + 20_000, false},
		"long words far down":               {`{"properties":{"` + strings.Repeat("a", 400) + `":{"$ref":"#"},"b":{"minimum":1` + strings.Repeat("0", 100_000) + `}}}`, nested(4000, `{"b":1,"`+strings.Repeat("a", 400)+`":`, `{}`, `}`), schema.MaxSteps + 20_000, false},
		"whatever nobody else looked at":    {`{"allOf":[{"properties":{"a1":true}},{"patternProperties":{"^a":true}}],"unevaluatedProperties":false}`, `{` + repeated(3000, `"a%d":1`) + `}`, 50_000, true},
	} {
		s, err := schema.Compile(json.RawMessage(c.schema))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		fixed, problems, steps := s.Counted(c.args)
		if (string(fixed) == c.args) != c.fits || c.fits != (len(problems) == 0) {
			t.Errorf("%s: %.200s, %.300q", name, fixed, problems)
		}
		if steps > c.most {
			t.Errorf("%s took %d steps", name, steps)
		}
		if len(problems) > 0 && strings.Contains(problems[0], "too much work") {
			t.Errorf("%s: %q", name, problems)
		}
	}
}

// TestWhatTakesTooMuchWorkIsRefused, also where it would fit and where what does
// not fit is wanted.
func TestWhatTakesTooMuchWorkIsRefused(t *testing.T) {
	t.Parallel()
	numbers := `{"a":[` + strings.TrimSuffix(strings.Repeat("1,", 2000), ",") + `]}`
	digits := `{"a":` + strings.Repeat("7", 100_000) + `}`
	long := `{"a":"` + strings.Repeat("a", 100_000) + `"}`
	for name, c := range map[string]struct{ schema, args string }{
		"many schemas":        {`{"properties":{"a":{"items":{"allOf":[` + repeated(1000, `{"minimum":0}`) + `]}}}}`, numbers},
		"and not":             {`{"properties":{"a":{"not":{"items":{"allOf":[` + repeated(1000, `{"minimum":0}`) + `]}}}}}`, numbers},
		"many counts":         {`{"properties":{"a":{"allOf":[` + repeated(10_000, `{"unevaluatedItems":{},"items":{}}`) + `]}}}`, numbers},
		"many digits":         {`{"properties":{"a":{"anyOf":[` + repeated(1000, `{"type":["null","integer","boolean"]}`) + `]}}}`, digits},
		"a large pattern":     {`{"properties":{"a":{"pattern":"(a?){1000}b"}}}`, long},
		"patterns in nothing": {`{"properties":{"a":{"items":{"pattern":"` + strings.Repeat("(a?){1000}", 15) + `"}}}}`, `{"a":[` + strings.TrimSuffix(strings.Repeat(`"",`, 5000), ",") + `]}`},
		"long divisions":      {`{"properties":{"a":{"contains":{"multipleOf":7` + strings.Repeat("3", 900) + `}}}}`, `{"a":[` + repeated(10_000, `1e9999%d`) + `]}`},
		"deep in schemas":     {chain(19_000, `{"properties":{"p":{"$ref":"#/$defs/0"}}}`), nested(10, `{"p":`, `{}`, `}`)},
		"deep in arguments":   {`{"properties":{"p":{"allOf":[{"allOf":[{"allOf":[{"allOf":[{"$ref":"#"}]}]}]}]}}}`, nested(9000, `{"p":`, `{}`, `}`)},
	} {
		s, err := schema.Compile(json.RawMessage(c.schema))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		fixed, problems := s.Check(json.RawMessage(c.args))
		if fixed != nil || len(problems) != 1 || !strings.Contains(problems[0], "too much work") {
			t.Errorf("%s: %.200s, %.300q", name, fixed, problems)
		}
	}
}

func TestASchemaThatTakesTooMuchWorkIsNone(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]string{
		"patterns":        `{"allOf":[` + repeated(30, `{"pattern":"(abc%d){1000}"}`) + `]}`,
		"a pattern":       `{"pattern":"` + strings.Repeat("a{1000}", 150) + `"}`,
		"schemas":         `{"allOf":[` + strings.TrimSuffix(strings.Repeat(`{},`, 100_001), ",") + `]}`,
		"names":           nested(1000, `{"$id":"a/","properties":{"p":`, `{}`, `}}`),
		"classes":         `{"pattern":"` + strings.Repeat(`\\pL`, 1000) + `"}`,
		"a step":          `{"multipleOf":1` + strings.Repeat("1", 1000) + `}`,
		"a step of none":  `{"multipleOf":0.0}`,
		"less than a one": `{"minLength":1.5}`,
	} {
		if _, err := schema.Compile(json.RawMessage(bad)); err == nil {
			t.Errorf("%s: it is a schema", name)
		}
	}
}

// TestASchemaCostsWhatItIsLong, however deep it is. It does not run beside others,
// whose memory would be counted.
func TestASchemaCostsWhatItIsLong(t *testing.T) {
	cost := func(depth int) uint64 {
		text := json.RawMessage(nested(depth, `{"items":`, `{}`, `}`))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := schema.Compile(text); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	once, four := cost(1000), cost(4000)
	if four > 6*once {
		t.Errorf("four times as deep takes %d bytes, and once %d", four, once)
	}
	t.Logf("%d bytes for 1000, %d for 4000", once, four)
}
