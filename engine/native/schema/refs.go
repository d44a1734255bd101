package schema

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// inPlace are the keywords whose schemas are of the same value as the one that
// has them.
var inPlace = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"}

// keywords are all that decide something. The others are left out: they are for
// people, and the validator would take "ALLOF" for one of these.
var keywords = strings.Fields(`$schema $id $anchor $ref $dynamicAnchor $dynamicRef $recursiveRef $defs definitions
	type enum const multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength pattern
	prefixItems items additionalItems minItems maxItems uniqueItems contains minContains maxContains unevaluatedItems
	minProperties maxProperties required dependentRequired dependentSchemas dependencies
	properties patternProperties additionalProperties propertyNames unevaluatedProperties
	allOf anyOf oneOf not if then else`)

// names are the keywords whose values have schemas by names that are not
// keywords, and data those whose values are no schemas, whatever they look like.
var (
	names = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
	data  = []string{"const", "enum", "dependentRequired"}
)

// refs knows where the references of a schema lead: only to parts of itself, by
// their place or their anchor, and never in a circle that leads to no part of the
// arguments, which nobody would come out of.
type refs struct {
	draft   string
	all     []map[string]any
	homes   map[uintptr]map[string]any // of each schema: the one with an $id that its references are within
	anchors map[anchor]map[string]any
	done    map[uintptr]bool // false: under way
}

// anchor is a name for a schema within a home.
type anchor struct {
	home uintptr
	name string
}

func key(s map[string]any) uintptr { return reflect.ValueOf(s).Pointer() }

// findRefs reads a whole document of a draft.
func findRefs(doc map[string]any, draft string) *refs {
	r := &refs{draft: draft, homes: map[uintptr]map[string]any{}, anchors: map[anchor]map[string]any{}, done: map[uintptr]bool{}}
	r.find(doc, doc)
	return r
}

// find takes down every schema in v, and leaves out what is no keyword.
func (r *refs) find(v any, home map[string]any) {
	switch v := v.(type) {
	case []any:
		for _, each := range v {
			r.find(each, home)
		}
	case map[string]any:
		home = r.enter(v, home)
		for keyword, below := range v {
			named, ok := below.(map[string]any)
			switch {
			case slices.Contains(data, keyword):
			case ok && slices.Contains(names, keyword):
				r.find(slices.Collect(maps.Values(named)), home)
			default:
				r.find(below, home)
			}
		}
	}
}

// enter takes down a schema, and returns the home of those in it.
func (r *refs) enter(s, home map[string]any) map[string]any {
	maps.DeleteFunc(s, func(keyword string, _ any) bool { return !slices.Contains(keywords, keyword) })
	name, _ := s["$anchor"].(string)
	if id, ok := s["$id"].(string); ok {
		_, fragment, _ := strings.Cut(id, "#")
		_, points := s["$ref"]
		switch {
		case r.draft != draft7 || fragment == "" && !points:
			home = s
		case !points:
			name = strings.TrimPrefix(id, "#")
		}
	}
	r.all = append(r.all, s)
	r.homes[key(s)] = home
	if name != "" {
		r.anchors[anchor{key(home), name}] = s
	}
	return home
}

// to is the schema that a reference of s names, nil if there is none.
func (r *refs) to(s map[string]any, ref string) any {
	pointer, ok := strings.CutPrefix(ref, "#")
	home := r.homes[key(s)]
	if !ok || home == nil {
		return nil
	}
	pointer, err := url.PathUnescape(pointer)
	switch {
	case err != nil:
		return nil
	case pointer == "":
		return home
	case pointer[0] == '/':
		return lookUp(home, pointer)
	}
	if s, ok := r.anchors[anchor{key(home), pointer}]; ok {
		return s
	}
	return nil
}

// lookUp is the part of a document that a pointer names, nil if there is none.
func lookUp(doc any, pointer string) any {
	for name := range strings.SplitSeq(pointer[1:], "/") {
		name = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
		switch v := doc.(type) {
		case map[string]any:
			doc = v[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			doc = v[i]
		default:
			return nil
		}
	}
	return doc
}

// check follows every reference.
func (r *refs) check() error {
	for _, s := range r.all {
		if err := r.follow(s); err != nil {
			return err
		}
	}
	return nil
}

// follow goes where the value that s is about is looked at next.
func (r *refs) follow(schema any) error {
	s, ok := schema.(map[string]any)
	if !ok {
		return nil
	}
	if done, seen := r.done[key(s)]; seen {
		if !done {
			return errors.New("it refers to itself in a circle")
		}
		return nil
	}
	r.done[key(s)] = false
	for _, keyword := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		ref, ok := s[keyword].(string)
		if !ok {
			continue
		}
		to := r.to(s, ref)
		if to == nil || keyword != "$ref" {
			return fmt.Errorf("it may not refer to %q", ref)
		}
		if err := r.follow(to); err != nil {
			return err
		}
	}
	for _, keyword := range inPlace {
		switch v := s[keyword].(type) {
		case []any:
			for _, each := range v {
				if err := r.follow(each); err != nil {
					return err
				}
			}
		case map[string]any:
			next := map[string]any{"": v}
			if strings.HasPrefix(keyword, "depend") {
				next = v
			}
			for _, each := range next {
				if err := r.follow(each); err != nil {
					return err
				}
			}
		}
	}
	r.done[key(s)] = true
	return nil
}
