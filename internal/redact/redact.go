package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// MinSecret is the length below which a value is refused: it would be found
// everywhere.
const MinSecret = 8

// Mark stands where a secret was. It is valid inside JSON strings, URLs and
// headers.
const Mark = "[redacted]"

// Redactor takes secrets out of texts. It may be used concurrently.
type Redactor struct {
	patterns []pattern
	auto     atomic.Pointer[automaton] // nil until somebody looks for what is known now

	mu      sync.Mutex // guards needles, and auto's being made of them
	needles []string
}

// New knows the values, and the patterns.
func New(values ...string) (*Redactor, error) {
	r := &Redactor{patterns: patterns()}
	return r, r.Add(values...)
}

// Add makes further values known. What was shown before stays shown.
func (r *Redactor) Add(values ...string) error {
	var needles []string
	for _, v := range values {
		if len(v) < MinSecret {
			return fmt.Errorf("a secret of %d bytes is too short to be found: it needs %d", len(v), MinSecret)
		}
		for _, f := range forms(v) {
			if len(f) >= MinSecret {
				needles = append(needles, f)
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	needles = append(needles, r.needles...)
	slices.Sort(needles)
	r.needles = slices.Compact(needles)
	r.auto.Store(nil)
	return nil
}

// automaton finds everything that is known.
func (r *Redactor) automaton() *automaton {
	if a := r.auto.Load(); a != nil {
		return a
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.auto.Load() == nil {
		r.auto.Store(build(r.needles, r.patterns))
	}
	return r.auto.Load()
}

// Bytes is b without secrets; b itself if it has none.
func (r *Redactor) Bytes(b []byte) []byte {
	out, _ := r.clean(b)
	return out
}

func (r *Redactor) clean(b []byte) (out []byte, changed bool) {
	if _, none := run(r.automaton(), 0, b); none {
		return b, false
	}
	f := finding{r: r, b: b, all: true}
	f.scan()
	if len(f.spans) == 0 {
		return b, false
	}
	return f.appendTo(make([]byte, 0, len(b)), 0, len(b), false), true
}

// String is s without secrets; s itself, at no cost, if it has none.
func (r *Redactor) String(s string) string {
	if _, none := run(r.automaton(), 0, s); none {
		return s
	}
	if out, changed := r.clean([]byte(s)); changed {
		return string(out)
	}
	return s
}

// Known is s without the values that are known; what only looks like a secret
// stays.
func (r *Redactor) Known(s string) string {
	if _, none := run(r.automaton(), 0, s); none {
		return s
	}
	f := finding{r: r, b: []byte(s), all: true, bare: true}
	f.scan()
	if len(f.spans) == 0 {
		return s
	}
	return string(f.appendTo(make([]byte, 0, len(s)), 0, len(s), false))
}

// JSON is a JSON text without secrets, and still one: the texts in it are
// redacted as they are written. Where that breaks it, because a secret begins in
// the middle of an escape, or where they are written in an unusual way, they are
// redacted as they are meant.
func (r *Redactor) JSON(text []byte) []byte {
	out, changed := r.clean(text)
	broken := changed && !json.Valid(out)
	if !broken && !oddly(out) {
		return out
	}
	if broken {
		out = text
	}
	dec := json.NewDecoder(bytes.NewReader(out))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return r.Bytes(text) // it was none before
	}
	v, changed = r.value(v)
	if !changed && !broken {
		return out
	}
	b, err := json.Marshal(v)
	if err != nil {
		return []byte(`"` + Mark + `"`)
	}
	return b
}

// oddly reports whether a JSON text may write characters in a way that our
// forms do not have.
func oddly(text []byte) bool {
	for i := bytes.IndexByte(text, '\\'); i >= 0 && i+1 < len(text); {
		if c := text[i+1]; c == 'u' || c == '/' {
			return true
		}
		next := bytes.IndexByte(text[i+2:], '\\')
		if next < 0 {
			break
		}
		i += 2 + next
	}
	return false
}

// value is a decoded JSON value without secrets, and whether it had any.
func (r *Redactor) value(v any) (clean any, changed bool) {
	switch v := v.(type) {
	case string:
		s := r.String(v)
		return s, s != v
	case json.Number:
		if s := v.String(); r.String(s) != s {
			return Mark, true
		}
	case []any:
		for i := range v {
			var c bool
			v[i], c = r.value(v[i])
			changed = changed || c
		}
		return v, changed
	case map[string]any:
		clean := make(map[string]any, len(v))
		for k, x := range v {
			name := r.String(k)
			x, c := r.value(x)
			clean[name] = x
			changed = changed || c || name != k
		}
		return clean, changed
	}
	return v, false
}
