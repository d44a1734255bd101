package schema

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// resolve finds what a reference of s leads to: only to parts of the document, by
// their place or their name. A name that two of them have is none.
func (c *compiler) resolve(s *shape) {
	if s.to == nil {
		return
	}
	uri, fragment, _ := strings.Cut(*s.to, "#")
	h := s.home
	if uri != "" {
		if u, err := url.Parse(uri); err == nil {
			h = c.homes[h.base.ResolveReference(u).String()]
		} else {
			h = nil
		}
	}
	if pointer, err := url.PathUnescape(fragment); err == nil && h != nil {
		s.ref = c.at(h, pointer)
	}
	if s.ref == nil {
		c.fail("it may not refer to %q", *s.to)
		return
	}
	s.ref.shared = s.ref.hasParts()
}

// hasParts reports whether there are schemas in s, or at the end of its reference.
func (s *shape) hasParts() bool {
	return s.to != nil || s.list != nil || s.object != nil || s.all != nil || s.any != nil || s.one != nil || s.not != nil || s.condition != nil ||
		s.unevaluatedItems != nil || s.unevaluatedFields != nil
}

func (c *compiler) at(h *home, pointer string) *shape {
	switch {
	case pointer == "":
		return h.top
	case pointer[0] != '/':
		return h.anchors[pointer]
	}
	part, in := c.lookUp(h, pointer)
	switch part.(type) {
	case bool, map[string]any:
		return c.compile(part, in)
	}
	return nil
}

// place is what a pointer has come to.
type place int

const (
	aSchema  place = iota // or a list of them
	schemas               // by name
	anything              // under a keyword that nobody knows: a schema if something refers to it
)

// names are the keywords whose values have schemas by names that are not
// keywords, data those whose values are no schemas, whatever they look like, and
// single the others that have schemas.
var (
	names  = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
	data   = []string{"const", "enum", "default", "examples", "example", "dependentRequired", "required", "type"}
	single = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "prefixItems", "items", "additionalItems", "contains",
		"unevaluatedItems", "additionalProperties", "propertyNames", "unevaluatedProperties"}
)

// lookUp is the part of a document that a pointer names, and the home of what is
// in it; nil if there is none.
func (c *compiler) lookUp(h *home, pointer string) (part any, in *home) {
	part, in = h.doc, h
	at := aSchema
	for name := range strings.SplitSeq(pointer[1:], "/") {
		name = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
		switch v := part.(type) {
		case map[string]any:
			part = v[name]
			switch {
			case at == schemas:
				at = aSchema
			case at == anything || slices.Contains(single, name):
			case slices.Contains(names, name):
				at = schemas
			case slices.Contains(data, name):
				return nil, nil
			default:
				at = anything
			}
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return nil, nil
			}
			part = v[i]
		default:
			return nil, nil
		}
		if doc, ok := part.(map[string]any); ok && at == aSchema && c.shapes[key(doc)] != nil {
			in = c.shapes[key(doc)].home
		}
	}
	if at == schemas {
		return nil, nil
	}
	return part, in
}

// mark says how far the search for circles has come with a shape.
type mark int8

const (
	unseen mark = iota
	underWay
	done
)

// inCircle reports whether the value that s is about comes back to s before a
// part of it is looked at, which nobody would come out of.
func (s *shape) inCircle() bool {
	switch {
	case s == nil || s.mark == done:
		return false
	case s.mark == underWay:
		return true
	}
	s.mark = underWay
	for _, next := range []*shape{s.ref, s.not, s.condition, s.then, s.otherwise} {
		if next.inCircle() {
			return true
		}
	}
	for _, list := range [][]*shape{s.all, s.any, s.one} {
		if slices.ContainsFunc(list, (*shape).inCircle) {
			return true
		}
	}
	if s.object != nil {
		for _, d := range s.object.dependent {
			if d.shape.inCircle() {
				return true
			}
		}
	}
	s.mark = done
	return false
}
