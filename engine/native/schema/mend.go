package schema

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// mend changes the value that an error is about, if it is one that nobody can
// misunderstand.
func mend(args any, p problem, before bool) (any, bool) {
	if len(p.want) == 0 || len(p.path) == 0 {
		return args, before
	}
	changed := false
	args = at(args, p.path, func(v any, inObject bool) (any, bool) {
		if v == nil && inObject { // an optional field that was given as null; a required one fails without it, too
			changed = true
			return nil, false
		}
		for _, want := range p.want {
			if better, ok := as(v, want); ok {
				changed = true
				return better, true
			}
		}
		return v, true
	})
	return args, before || changed
}

// at applies f to the value at a path. A value that f does not keep is removed.
func at(v any, path []string, f func(v any, inObject bool) (any, bool)) any {
	switch v := v.(type) {
	case map[string]any:
		child, ok := v[path[0]]
		if !ok {
			return v
		}
		if len(path) > 1 {
			v[path[0]] = at(child, path[1:], f)
		} else if better, keep := f(child, true); keep {
			v[path[0]] = better
		} else {
			delete(v, path[0])
		}
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i >= len(v) {
			return v
		}
		if len(path) > 1 {
			v[i] = at(v[i], path[1:], f)
		} else if better, keep := f(v[i], false); keep {
			v[i] = better
		}
	}
	return v
}

// as is v as a value of the wanted type, if it clearly is one.
func as(v any, want string) (any, bool) {
	switch v := v.(type) {
	case string:
		return fromText(v, want)
	case json.Number:
		switch want {
		case "string":
			return v.String(), true
		case "integer":
			if f, err := v.Float64(); err == nil && f == float64(int64(f)) {
				return json.Number(strconv.FormatInt(int64(f), 10)), true
			}
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
		if n, ok := inside(t, "number"); ok {
			if f, err := n.(json.Number).Float64(); err == nil && (want == "number" || f == float64(int64(f))) {
				return n, true
			}
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
