package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
)

// typesOf are the types that the keyword names.
func typesOf(v any) (types []string) {
	if one, ok := v.(string); ok {
		return []string{one}
	}
	for _, each := range listOf(v) {
		if one, ok := each.(string); ok {
			types = append(types, one)
		}
	}
	return types
}

// isType reports whether v has a type; 1.0 is an integer, too.
func isType(v any, want string) bool {
	if n, ok := rational(v); ok && want == "integer" {
		return n.IsInt()
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

// maxDigits is how long a number may be to be reckoned with: one with a large
// exponent takes as many digits as that says.
const maxDigits = 400

// rational is a number, if it is one that can be reckoned with.
func rational(v any) (*big.Rat, bool) {
	n, ok := v.(json.Number)
	if !ok || !short(n) {
		return nil, false
	}
	return new(big.Rat).SetString(n.String())
}

func short(n json.Number) bool {
	if len(n) > maxDigits {
		return false
	}
	_, exponent, ok := strings.Cut(strings.ToLower(n.String()), "e")
	return !ok || len(strings.TrimLeft(exponent, "+-0")) < 4 // less than 1,000
}

// plain is v with numbers of Go's own, as the validator wants them.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, ok := rational(v); ok && n.IsInt() && n.Num().IsInt64() {
			return n.Num().Int64()
		}
		f, _ := v.Float64() // the nearest that there is
		return f
	case []any:
		list := make([]any, len(v))
		for i, each := range v {
			list[i] = plain(each)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, each := range v {
			object[name] = plain(each)
		}
		return object
	}
	return v
}

// oneOf are the values of an enum.
func oneOf(all []any) string {
	shown := make([]string, len(all))
	for i, v := range all {
		shown[i] = show(v)
	}
	if len(shown) == 1 {
		return shown[0]
	}
	return "one of " + strings.Join(shown, ", ")
}

func show(v any) string {
	switch v := v.(type) {
	case string:
		return quoted(v)
	case nil:
		return "null"
	case bool, json.Number:
		return fmt.Sprint(v)
	}
	raw, _ := json.Marshal(v) // it came from JSON
	return string(raw)
}

// quoted are names in quotation marks, with commas between them.
func quoted(all ...string) string {
	var b strings.Builder
	for i, s := range all {
		if i > 0 {
			b.WriteString(", ")
		}
		s = strings.ReplaceAll(fmt.Sprintf("%q", s), `\"`, `"`)
		b.WriteString("'" + strings.ReplaceAll(s[1:len(s)-1], `'`, `\'`) + "'")
	}
	return b.String()
}
