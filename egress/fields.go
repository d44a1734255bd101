package egress

import (
	"encoding/json"
	"strings"
)

// fields finds the named fields of a JSON object, which must be the whole text.
// It is not ok if the text is anything else, or if a field is there twice or in
// another case: two readers could take it for different things.
func fields(text []byte, names ...string) (found map[string]json.RawMessage, ok bool) {
	if !json.Valid(text) {
		return nil, false
	}
	found = map[string]json.RawMessage{}
	at := walker{text, 0}
	if at.next() != '{' {
		return nil, false
	}
	for at.next() == '"' {
		at.i--
		from := at.i
		at.value()
		var key string
		if json.Unmarshal(text[from:at.i], &key) != nil {
			return nil, false
		}
		at.next() // the colon
		at.space()
		from = at.i
		at.value()
		for _, n := range names {
			if key == n && found[n] == nil {
				found[n] = text[from:at.i]
			} else if strings.EqualFold(key, n) {
				return nil, false
			}
		}
		if at.next() != ',' {
			break
		}
	}
	return found, true
}

// walker walks over JSON that is known to be valid.
type walker struct {
	b []byte
	i int
}

func (w *walker) space() {
	for w.i < len(w.b) && w.b[w.i] <= ' ' {
		w.i++
	}
}

// next takes the next byte that is not space; 0 at the end.
func (w *walker) next() byte {
	w.space()
	if w.i == len(w.b) {
		return 0
	}
	w.i++
	return w.b[w.i-1]
}

// value walks over a value.
func (w *walker) value() {
	for depth := 0; w.i < len(w.b); {
		c := w.b[w.i]
		switch c {
		case '"':
			w.text()
		case '{', '[':
			depth++
			w.i++
			continue
		case '}', ']':
			if depth == 0 { // of a number at the end of its container
				return
			}
			depth--
			w.i++
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return
			}
			w.i++
			continue
		default:
			w.i++
			continue
		}
		if depth == 0 {
			return
		}
	}
}

// text walks over a string.
func (w *walker) text() {
	for w.i++; w.b[w.i] != '"'; w.i++ {
		if w.b[w.i] == '\\' {
			w.i++
		}
	}
	w.i++
}
