package schema

import (
	"encoding/json"
	"slices"
	"strings"
)

// maxTypes bounds how many types a value may have; there are seven.
const maxTypes = 50

// types are those that a value may have.
type types struct {
	names []string
	words string // as far as a problem tells them
}

func (r reader) types() *types {
	v := r.doc["type"]
	if v == nil {
		return nil
	}
	if one, ok := v.(string); ok {
		return &types{[]string{one}, head(one)}
	}
	names := r.strings("type", v)
	if len(names) == 0 || len(names) > maxTypes {
		r.c.fail("type must name 1 to %d", maxTypes)
	}
	return &types{names, head(strings.Join(names, " or "))}
}

// has looks whether the value has one of some types.
func (l *look) has(t *types) bool {
	if n, ok := l.v.raw.(json.Number); ok && !l.spend(len(n)/64*len(t.names)) {
		return false
	}
	return slices.ContainsFunc(t.names, func(name string) bool { return isType(l.v.raw, name) })
}

// isType reports whether v has a type; 1.0 is an integer, too.
func isType(v any, want string) bool {
	if n, ok := v.(json.Number); ok && want == "integer" {
		return numberOf(n).isInteger()
	}
	return typeOf(v) == want
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		return "number"
	case []any:
		return "array"
	}
	return "object"
}
