package schema

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// mend changes the value that a problem is about, if it is one that nobody can
// misunderstand, and reports whether it did.
func (p problem) mend() bool {
	if p.at.up == nil {
		return false
	}
	switch in := p.at.up.raw.(type) {
	case map[string]any:
		v, ok := in[p.at.name]
		if !ok {
			return false
		}
		if v == nil { // an optional field that was given as null; a required one fails without it, too
			delete(in, p.at.name)
			return true
		}
		better, ok := p.better(v)
		if ok {
			in[p.at.name] = better
		}
		return ok
	case []any:
		better, ok := p.better(in[p.at.index])
		if ok {
			in[p.at.index] = better
		}
		return ok
	}
	return false
}

// cost is how many steps it may take to mend: a text is read as JSON.
func (p problem) cost() int {
	text, _ := p.at.raw.(string)
	return 1 + len(text)/8*len(p.want)
}

// better is v as a value of one of the types that are wanted.
func (p problem) better(v any) (any, bool) {
	for _, want := range p.want {
		if better, ok := as(v, want); ok {
			return better, true
		}
	}
	return nil, false
}

// as is v as a value of the wanted type, if it clearly is one.
func as(v any, want string) (any, bool) {
	switch v := v.(type) {
	case string:
		return fromText(v, want)
	case json.Number:
		if want == "string" {
			return v.String(), true
		}
	case bool:
		if want == "string" {
			return strconv.FormatBool(v), true
		}
	}
	if _, list := v.([]any); want == "array" && !list && v != nil {
		return []any{v}, true
	}
	return nil, false
}

func fromText(s, want string) (any, bool) {
	t := strings.TrimSpace(s)
	switch want {
	case "boolean":
		if i := slices.Index([]string{"false", "true"}, strings.ToLower(t)); i >= 0 {
			return i == 1, true
		}
	case "integer", "number":
		if n, ok := inside(t, "number"); ok && isType(n, want) {
			_, err := n.(json.Number).Float64() // one that tools can read
			return n, err == nil
		}
	case "array":
		if list, ok := inside(t, want); ok {
			return list, true
		}
		return []any{s}, true
	case "object":
		return inside(t, want)
	}
	return nil, false
}

// inside is the value of a type that a text is the JSON of.
func inside(text, want string) (any, bool) {
	v, err := decode([]byte(text))
	if err != nil {
		return nil, false
	}
	switch v.(type) {
	case map[string]any:
		return v, want == "object"
	case []any:
		return v, want == "array"
	case json.Number:
		return v, want == "number"
	}
	return nil, false
}
