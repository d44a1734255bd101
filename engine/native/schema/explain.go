package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxSteps bounds how much of a schema is looked at to explain one call:
// choices within choices are looked at again and again.
const maxSteps = 10_000

// problem is one thing that is wrong with arguments.
type problem struct {
	path []string
	text string
	want []string // the types it should have, if that is what is wrong
}

// explainer says what is wrong with arguments, in the keywords that tools use.
// It decides nothing: where it finds nothing, the validator may.
type explainer struct {
	refs  *refs // of the whole schema
	steps *int
	found []problem
}

func (e *explainer) add(path []string, format string, args ...any) {
	e.found = append(e.found, problem{path: slices.Clone(path), text: fmt.Sprintf(format, args...)})
}

// explain is what is wrong with arguments.
func explain(doc any, refs *refs, args any) []problem {
	e := explainer{refs: refs, steps: new(int)}
	e.explain(doc, args, nil)
	return e.found
}

// fits reports that there is nothing to say about v.
func (e *explainer) fits(s, v any) bool {
	inner := explainer{refs: e.refs, steps: e.steps}
	inner.explain(s, v, nil)
	return len(inner.found) == 0
}

func (e *explainer) explain(schema, v any, path []string) {
	if *e.steps++; *e.steps > maxSteps {
		return
	}
	s, ok := schema.(map[string]any)
	if !ok {
		if schema == false {
			e.add(path, "nothing may be here")
		}
		return
	}
	if ref, ok := s["$ref"].(string); ok {
		e.explain(e.refs.to(s, ref), v, path)
	}
	if want := typesOf(s["type"]); len(want) > 0 && !slices.ContainsFunc(want, func(t string) bool { return isType(v, t) }) {
		e.found = append(e.found, problem{path: slices.Clone(path), text: "got " + typeOf(v) + ", want " + strings.Join(want, " or "), want: want})
		return
	}
	if all, ok := s["enum"].([]any); ok && !slices.ContainsFunc(all, func(x any) bool { return same(x, v) }) {
		e.add(path, "value must be %s", oneOf(all))
	}
	if want, ok := s["const"]; ok && !same(want, v) {
		e.add(path, "value must be %s", show(want))
	}
	switch v := v.(type) {
	case map[string]any:
		e.object(s, v, path)
	case []any:
		e.array(s, v, path)
	case string:
		e.text(s, v, path)
	case json.Number:
		e.number(s, v, path)
	}
	for _, each := range listOf(s["allOf"]) {
		e.explain(each, v, path)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		choices := listOf(s[key])
		if slices.ContainsFunc(choices, func(c any) bool { return e.fits(c, v) }) {
			continue
		}
		for _, each := range choices {
			e.explain(each, v, path)
		}
	}
}

func (e *explainer) object(s, v map[string]any, path []string) {
	var missing, extra []string
	for _, name := range listOf(s["required"]) {
		if name, ok := name.(string); ok {
			if _, there := v[name]; !there {
				missing = append(missing, name)
			}
		}
	}
	if len(missing) == 1 {
		e.add(path, "missing property %s", quoted(missing...))
	} else if len(missing) > 1 {
		e.add(path, "missing properties %s", quoted(missing...))
	}
	properties, _ := s["properties"].(map[string]any)
	patterns, _ := s["patternProperties"].(map[string]any)
	others, bounded := s["additionalProperties"]
	for _, name := range slices.Sorted(maps.Keys(v)) {
		below := append(path, name)
		known, ok := properties[name]
		if ok {
			e.explain(known, v[name], below)
		}
		for expr, each := range patterns {
			if re, err := regexp.Compile(expr); err == nil && re.MatchString(name) {
				ok = true
				e.explain(each, v[name], below)
			}
		}
		switch {
		case ok || !bounded:
		case others == false:
			extra = append(extra, name)
		default:
			e.explain(others, v[name], below)
		}
	}
	if len(extra) > 0 {
		e.add(path, "additional properties %s not allowed", quoted(extra...))
	}
}

func (e *explainer) array(s map[string]any, v []any, path []string) {
	e.bounds(s, "Items", len(v), path)
	first, rest := listOf(s["prefixItems"]), s["items"]
	if list, ok := rest.([]any); ok { // as it was before 2020-12
		first, rest = list, s["additionalItems"]
	}
	for i, x := range v {
		below := append(path, strconv.Itoa(i))
		if i < len(first) {
			e.explain(first[i], x, below)
		} else {
			e.explain(rest, x, below)
		}
	}
}

func (e *explainer) text(s map[string]any, v string, path []string) {
	e.bounds(s, "Length", utf8.RuneCountInString(v), path)
	if expr, ok := s["pattern"].(string); ok {
		if re, err := regexp.Compile(expr); err == nil && !re.MatchString(v) {
			e.add(path, "%s does not match pattern %s", quoted(v), quoted(expr))
		}
	}
}

// bounds are those of how many there are of something.
func (e *explainer) bounds(s map[string]any, of string, n int, path []string) {
	if least, ok := rational(s["min"+of]); ok && least.Cmp(big.NewRat(int64(n), 1)) > 0 {
		e.add(path, "min%s: got %d, want %s", of, n, s["min"+of])
	}
	if most, ok := rational(s["max"+of]); ok && most.Cmp(big.NewRat(int64(n), 1)) < 0 {
		e.add(path, "max%s: got %d, want %s", of, n, s["max"+of])
	}
}

func (e *explainer) number(s map[string]any, v json.Number, path []string) {
	n, ok := rational(v)
	if !ok {
		return
	}
	for _, k := range []struct {
		key   string
		fails func(sign int) bool // of n compared with the bound
	}{
		{"minimum", func(sign int) bool { return sign < 0 }},
		{"maximum", func(sign int) bool { return sign > 0 }},
		{"exclusiveMinimum", func(sign int) bool { return sign <= 0 }},
		{"exclusiveMaximum", func(sign int) bool { return sign >= 0 }},
	} {
		if bound, ok := rational(s[k.key]); ok && k.fails(n.Cmp(bound)) {
			e.add(path, "%s: got %s, want %s", k.key, v, s[k.key])
		}
	}
	if step, ok := rational(s["multipleOf"]); ok && step.Sign() > 0 && !new(big.Rat).Quo(n, step).IsInt() {
		e.add(path, "multipleOf: got %s, want %s", v, s["multipleOf"])
	}
}

// same reports whether two values are the same in JSON: 1 is 1.0.
func same(a, b any) bool {
	x, ok := rational(a)
	y, also := rational(b)
	if ok && also {
		return x.Cmp(y) == 0
	}
	return reflect.DeepEqual(a, b)
}

func listOf(v any) []any {
	list, _ := v.([]any)
	return list
}
