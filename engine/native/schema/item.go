package schema

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// item is a value of JSON at its place in the arguments: what the same schema
// says of the same item is the same.
type item struct {
	raw   any
	up    *item // what it is in; nil for the whole
	name  string
	index int
	below []item // of an object by name
}

func newItem(v any) *item {
	top := &item{raw: v}
	top.grow()
	return top
}

func (v *item) grow() {
	switch raw := v.raw.(type) {
	case map[string]any:
		v.below = make([]item, 0, len(raw))
		for name, each := range raw {
			v.below = append(v.below, item{raw: each, up: v, name: name})
		}
		slices.SortFunc(v.below, func(a, b item) int { return strings.Compare(a.name, b.name) })
	case []any:
		v.below = make([]item, len(raw))
		for i, each := range raw {
			v.below[i] = item{raw: each, up: v, index: i}
		}
	}
	for i := range v.below {
		v.below[i].grow()
	}
}

// where is the path to v, as far as a problem tells it, and how long it is.
func (v *item) where() (path string, depth int) {
	var way []*item
	for at := v; at.up != nil; at = at.up {
		way = append(way, at)
	}
	if len(way) == 0 {
		return "arguments", 0
	}
	var b strings.Builder
	for i, at := range slices.Backward(way) {
		if _, list := at.up.raw.([]any); list {
			b.WriteString(strconv.Itoa(at.index))
		} else {
			b.WriteString(head(at.name))
		}
		if b.Len() > maxProblem {
			break
		}
		if i > 0 {
			b.WriteByte('.')
		}
	}
	return b.String(), len(way)
}

// appendTo writes v so that the same values are the same text: 1 is 1.0, and
// the order of names is nothing.
func (v *item) appendTo(text []byte) []byte {
	switch raw := v.raw.(type) {
	case nil:
		return append(text, 'n')
	case bool:
		return strconv.AppendBool(text, raw)
	case string:
		text = append(strconv.AppendInt(text, int64(len(raw)), 10), ':')
		return append(text, raw...)
	case json.Number:
		return numberOf(raw).appendTo(append(text, '#'))
	case []any:
		text = append(text, '[')
		for i := range v.below {
			text = append(v.below[i].appendTo(text), ',')
		}
		return append(text, ']')
	}
	text = append(text, '{')
	for i := range v.below {
		text = append(strconv.AppendInt(text, int64(len(v.below[i].name)), 10), ':')
		text = append(text, v.below[i].name...)
		text = append(v.below[i].appendTo(text), ',')
	}
	return append(text, '}')
}
