package schema

import (
	"net/url"
	"strings"
)

// maxName bounds what a schema is called: every reference is read from there.
const maxName = 1000

// home is a schema with a name of its own, or the whole document: what the
// references in it are within.
type home struct {
	base    *url.URL
	doc     map[string]any
	top     *shape
	anchors map[string]*shape // nil: more than one is called so
}

// enter is the home of what is in a schema, whose names it takes down. They count
// only where schemas are known to be.
func (c *compiler) enter(doc map[string]any, in *home, s *shape) *home {
	r := reader{c, doc, in}
	id, names := r.text("$id"), []string{r.text("$anchor"), r.text("$dynamicAnchor")}
	if c.old && doc["$ref"] != nil {
		id = ""
	}
	id, fragment, _ := strings.Cut(id, "#")
	if c.old {
		names = append(names, fragment)
	} else if fragment != "" && in != nil {
		c.fail("$id may not have a fragment")
	}
	if in == nil || id != "" {
		in = c.open(id, doc, in, s)
	}
	for _, name := range names {
		if before, taken := in.anchors[name]; name != "" && c.known {
			in.anchors[name] = s
			if taken && before != s {
				in.anchors[name] = nil
			}
		}
	}
	return in
}

// open is the home that a schema with an $id is.
func (c *compiler) open(id string, doc map[string]any, in *home, s *shape) *home {
	base, err := url.Parse(id)
	if in == nil && (err != nil || len(id) > maxName) { // what the whole is called elsewhere
		base, err = new(url.URL), nil
	}
	if err != nil {
		c.fail("$id: %v", err)
		return in
	}
	if in != nil {
		base = in.base.ResolveReference(base)
	}
	name := base.String()
	switch {
	case in != nil && name == in.base.String():
		return in
	case len(name) > maxName:
		c.fail("$id is longer than %d bytes", maxName)
	}
	h := &home{base, doc, s, map[string]*shape{}}
	if _, taken := c.homes[name]; c.known {
		c.homes[name] = h
		if taken {
			c.homes[name] = nil
		}
	}
	return h
}
