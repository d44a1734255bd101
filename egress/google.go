package egress

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// readGoogle is readAsk for the Gemini API, whose paths name the model. Google
// reads each field of a body under two names, and so does this.
func readGoogle(body []byte, model string) (*ask, error) {
	f, ok := twoNamed(body, "model", "generationConfig", "cachedContent", "generateContentRequest")
	a := &ask{model: model, body: body, most: unstated, stored: given(f["cachedContent"])}
	if !ok || given(f["generateContentRequest"]) { // which could name another model
		return nil, refuseBody
	}
	if named := f["model"]; given(named) {
		var s string
		if json.Unmarshal(named, &s) != nil || s != "models/"+model && s != model {
			return nil, refuseBody
		}
	}
	if config := f["generationConfig"]; given(config) {
		c, ok := twoNamed(config, "maxOutputTokens", "candidateCount")
		if !ok {
			return nil, refuseBody
		}
		for _, n := range c {
			if given(n) && !whole(n) { // Google takes "8" and 8.0 for 8
				return nil, refuseBody
			}
		}
		if n := count(c["maxOutputTokens"]); n > 0 {
			a.most = n
		}
		a.most *= max(1, count(c["candidateCount"]))
	}
	return a, nil
}

// whole reports whether a value is a number that everybody reads in one way.
func whole(raw json.RawMessage) bool {
	n, err := strconv.ParseInt(string(raw), 10, 32)
	return err == nil && n >= 0
}

// twoNamed is fields whose names can also be written with underscores. It is not
// ok if one is there in both ways.
func twoNamed(text []byte, names ...string) (found map[string]json.RawMessage, ok bool) {
	other := map[string]string{}
	for _, n := range names {
		if under := underscored(n); under != n {
			other[n] = under
		}
	}
	found, ok = fields(text, append(names, slices.Collect(maps.Values(other))...)...)
	for n, under := range other {
		if found[under] == nil {
			continue
		}
		if found[n] != nil {
			return nil, false
		}
		found[n] = found[under]
	}
	return found, ok
}

// underscored writes aName as a_name.
func underscored(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// plainQuery reports whether a query says no more than how an answer is to come.
// Google reads keys, methods and headers from there, too.
func plainQuery(q url.Values) bool {
	for name, values := range q {
		if name != "alt" || len(values) != 1 || values[0] != "sse" && values[0] != "json" {
			return false
		}
	}
	return true
}
