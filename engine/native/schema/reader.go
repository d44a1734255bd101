package schema

import (
	"encoding/json"
	"math"
	"strconv"
)

// reader reads the keywords of one schema. One that is null is as if it were not
// there.
type reader struct {
	c   *compiler
	doc map[string]any
	in  *home // of the schemas in it
}

// bound is a number, and how it is written, as far as a problem tells it.
type bound struct {
	number
	text string
}

func (r reader) text(keyword string) string {
	v := r.doc[keyword]
	s, ok := v.(string)
	if !ok && v != nil {
		r.c.fail("%s must be a string", keyword)
	}
	return s
}

func (r reader) bool(keyword string) bool {
	v := r.doc[keyword]
	b, ok := v.(bool)
	if !ok && v != nil {
		r.c.fail("%s must be a boolean", keyword)
	}
	return b
}

func (r reader) bound(keyword string) *bound {
	v := r.doc[keyword]
	n, ok := v.(json.Number)
	if !ok {
		if v != nil {
			r.c.fail("%s must be a number", keyword)
		}
		return nil
	}
	return &bound{numberOf(n), head(n.String())}
}

// count is a bound of how many there are of something.
type count struct {
	n    int
	text string
}

func (r reader) count(keyword string) *count {
	b := r.bound(keyword)
	if b == nil {
		return nil
	}
	if b.exponent < 0 {
		r.c.fail("%s must be an integer", keyword)
		return nil
	}
	n := math.MaxInt * b.sign()
	if len(b.digits)+b.exponent < 18 {
		n, _ = strconv.Atoi(b.digits + "00000000000000000"[:b.exponent])
		n *= b.sign()
	}
	return &count{n, b.text}
}

func (r reader) strings(keyword string, v any) (all []string) {
	list, ok := v.([]any)
	if !ok && v != nil {
		r.c.fail("%s must be a list of strings", keyword)
	}
	for _, each := range list {
		s, ok := each.(string)
		if !ok {
			r.c.fail("%s must be a list of strings", keyword)
		}
		all = append(all, s)
	}
	return all
}

func (r reader) one(keyword string) *shape {
	if r.doc[keyword] == nil {
		return nil
	}
	return r.c.compile(r.doc[keyword], r.in)
}

func (r reader) many(keyword string) []*shape {
	v := r.doc[keyword]
	list, ok := v.([]any)
	if !ok {
		if v != nil {
			r.c.fail("%s must be a list of schemas", keyword)
		}
		return nil
	}
	all := make([]*shape, len(list))
	for i, each := range list {
		all[i] = r.c.compile(each, r.in)
	}
	return all
}

func (r reader) object(keyword string) map[string]any {
	v := r.doc[keyword]
	object, ok := v.(map[string]any)
	if !ok && v != nil {
		r.c.fail("%s must be an object", keyword)
	}
	return object
}

func (r reader) named(keyword string) map[string]*shape {
	object := r.object(keyword)
	if len(object) == 0 {
		return nil
	}
	all := make(map[string]*shape, len(object))
	for name, each := range object {
		all[name] = r.c.compile(each, r.in)
	}
	return all
}
