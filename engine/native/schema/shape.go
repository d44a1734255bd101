package schema

import (
	"errors"
	"fmt"
	"reflect"
)

// maxShapes bounds how many schemas there may be in one.
const maxShapes = 100_000

// shape is a compiled schema: the keywords that it has, its references as what
// they lead to.
type shape struct {
	never  bool   // it is false
	ref    *shape // nil: none; so are all below
	shared bool   // something refers to it, and there are others in it

	types  *types
	enum   *values
	just   *values // const
	number *numbers
	text   *texts
	list   *lists
	object *objects

	all, any, one                       []*shape
	not, condition, then, otherwise     *shape
	unevaluatedItems, unevaluatedFields *shape

	home *home   // that its references are within
	to   *string // what it refers to
	mark mark
}

// compiler makes shapes of a document. The first thing that is wrong stays.
type compiler struct {
	old     bool // draft 7 or before
	shapes  map[uintptr]*shape
	all     []*shape
	homes   map[string]*home // by what they are called; nil: more than one is
	known   bool             // what is compiled lies where schemas are known to be
	size    int              // of all patterns
	tracked bool             // something asks for what was not looked at
	err     error
}

func (c *compiler) fail(format string, args ...any) {
	if c.err == nil {
		c.err = errors.New(cut(fmt.Sprintf(format, args...), maxProblem))
	}
}

func key(doc map[string]any) uintptr { return reflect.ValueOf(doc).Pointer() }

// compileAll makes the shape of a whole document, whose references all lead
// somewhere and never in a circle.
func (c *compiler) compileAll(doc map[string]any) (*shape, error) {
	c.shapes, c.homes, c.known = map[uintptr]*shape{}, map[string]*home{}, true
	top := c.compile(doc, nil)
	c.known = false
	for i := 0; i < len(c.all) && c.err == nil; i++ { // it grows by what is found at the end of a reference
		c.resolve(c.all[i])
	}
	if c.err != nil {
		return nil, c.err
	}
	for _, s := range c.all {
		if s.inCircle() {
			return nil, errors.New("it refers to itself in a circle")
		}
	}
	for _, s := range c.all {
		s.home, s.to = nil, nil // and with them the document
	}
	return top, nil
}

func (c *compiler) compile(v any, in *home) *shape {
	if c.err != nil {
		return new(shape)
	}
	if len(c.all) >= maxShapes {
		c.fail("there are more than %d schemas in it", maxShapes)
		return new(shape)
	}
	s := new(shape)
	doc, ok := v.(map[string]any)
	switch v := v.(type) {
	case bool:
		s.never = !v
	case map[string]any:
		if before := c.shapes[key(v)]; before != nil {
			return before
		}
		c.shapes[key(v)] = s
	default:
		c.fail("a schema is an object or a boolean")
	}
	c.all = append(c.all, s)
	if !ok {
		return s
	}
	s.home = c.enter(doc, in, s)
	r := reader{c, doc, s.home}
	if ref := r.text("$ref"); doc["$ref"] != nil {
		s.to = &ref
	}
	for _, keyword := range []string{"$dynamicRef", "$recursiveRef"} {
		if ref := r.text(keyword); doc[keyword] != nil {
			c.fail("it may not refer to %q", ref)
		}
	}
	r.named("$defs")
	r.named("definitions")
	r.rules(s)
	if c.old && s.to != nil { // what is beside it is none of it
		*s = shape{home: s.home, to: s.to}
	}
	return s
}

// rules reads what s asks of values.
func (r reader) rules(s *shape) {
	s.types = r.types()
	s.enum, s.just = r.enum(), r.constant()
	s.number, s.text, s.list, s.object = r.numbers(), r.texts(), r.lists(), r.objects()
	s.all, s.any, s.one = r.many("allOf"), r.many("anyOf"), r.many("oneOf")
	s.not, s.condition = r.one("not"), r.one("if")
	s.then, s.otherwise = r.one("then"), r.one("else")
	s.unevaluatedItems, s.unevaluatedFields = r.one("unevaluatedItems"), r.one("unevaluatedProperties")
	if s.unevaluatedItems != nil || s.unevaluatedFields != nil {
		r.c.tracked = true
	}
}
