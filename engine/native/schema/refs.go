package schema

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"
)

// lookUp is the part of a document that a reference names, nil if there is none.
func lookUp(doc any, ref string) any {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	pointer, err := url.PathUnescape(pointer)
	if err != nil {
		return nil
	}
	if pointer == "" {
		return doc
	}
	if pointer[0] != '/' {
		return nil
	}
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

// inPlace are the keywords whose schemas are of the same value as the one that
// has them.
var inPlace = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"}

// refs checks where a schema refers to: only to parts of itself, by their
// place, and never in a circle that leads to no part of the arguments, which
// nobody would come out of.
type refs struct {
	doc  any
	done map[uintptr]bool // false: under way
}

func checkRefs(doc any) error {
	return (&refs{doc, map[uintptr]bool{}}).all(doc)
}

// all checks every object below v.
func (r *refs) all(v any) error {
	switch v := v.(type) {
	case []any:
		for _, each := range v {
			if err := r.all(each); err != nil {
				return err
			}
		}
	case map[string]any:
		if err := r.follow(v); err != nil {
			return err
		}
		for _, each := range v {
			if err := r.all(each); err != nil {
				return err
			}
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
	key := reflect.ValueOf(s).Pointer()
	if done, seen := r.done[key]; seen {
		if !done {
			return errors.New("it refers to itself in a circle")
		}
		return nil
	}
	r.done[key] = false
	for _, keyword := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		ref, ok := s[keyword].(string)
		if !ok {
			continue
		}
		to := lookUp(r.doc, ref)
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
	r.done[key] = true
	return nil
}
