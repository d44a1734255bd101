package redact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// MinSecret is the length below which a value is refused: it would be found
// everywhere.
const MinSecret = 8

// Mark stands where a secret was. It is valid inside JSON strings, URLs and
// headers.
const Mark = "[redacted]"

// Redactor takes a set of secrets out of texts. It may be used concurrently.
type Redactor struct {
	auto     *automaton
	patterns []pattern
}

// New knows the values, and the patterns.
func New(values ...string) (*Redactor, error) {
	var needles []string
	for _, v := range values {
		if len(v) < MinSecret {
			return nil, fmt.Errorf("a secret of %d bytes is too short to be found: it needs %d", len(v), MinSecret)
		}
		for _, f := range forms(v) {
			if len(f) >= MinSecret {
				needles = append(needles, f)
			}
		}
	}
	slices.SortFunc(needles, func(a, b string) int { return cmp.Compare(a, b) })
	needles = slices.Compact(needles)
	p := patterns()
	return &Redactor{build(needles, p), p}, nil
}

// Bytes is b without secrets; b itself if it has none.
func (r *Redactor) Bytes(b []byte) []byte {
	out, _ := r.clean(b)
	return out
}

func (r *Redactor) clean(b []byte) (out []byte, changed bool) {
	f := finding{r: r, b: b, all: true}
	f.scan()
	if len(f.spans) == 0 {
		return b, false
	}
	return f.appendTo(make([]byte, 0, len(b)), len(b), false), true
}

// String is s without secrets.
func (r *Redactor) String(s string) string {
	if out, changed := r.clean([]byte(s)); changed {
		return string(out)
	}
	return s
}

// JSON is a JSON text without secrets, and still one: the texts in it are
// redacted, as they are written. If that breaks it, because a secret begins in
// the middle of an escape, they are redacted as they are meant.
func (r *Redactor) JSON(text []byte) []byte {
	out, changed := r.clean(text)
	if !changed || json.Valid(out) {
		return out
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return out // it was none before
	}
	b, err := json.Marshal(r.value(v))
	if err != nil {
		return []byte(`"` + Mark + `"`)
	}
	return b
}

// value is a decoded JSON value without secrets.
func (r *Redactor) value(v any) any {
	switch v := v.(type) {
	case string:
		return r.String(v)
	case json.Number:
		if s := v.String(); r.String(s) != s {
			return Mark
		}
	case []any:
		for i := range v {
			v[i] = r.value(v[i])
		}
	case map[string]any:
		clean := make(map[string]any, len(v))
		for k, x := range v {
			clean[r.String(k)] = r.value(x)
		}
		return clean
	}
	return v
}
