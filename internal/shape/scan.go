package shape

import (
	"bytes"
	"encoding/json"
	"iter"
)

// These functions take JSON apart that is known to be valid. Each part is a
// piece of the input, in the client's own spelling.

// Members yields the keys and values of an object.
func Members(raw []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for i := space(raw, 1); raw[i] != '}'; {
			end := stringEnd(raw, i)
			key, _ := Unquote(raw[i:end])
			i = space(raw, space(raw, end)+1) // past the colon
			end = valueEnd(raw, i)
			if !yield(key, raw[i:end]) {
				return
			}
			if i = space(raw, end); raw[i] == ',' {
				i = space(raw, i+1)
			}
		}
	}
}

// Elements yields the values of an array.
func Elements(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := space(raw, 1); raw[i] != ']'; {
			end := valueEnd(raw, i)
			if !yield(raw[i:end]) {
				return
			}
			if i = space(raw, end); raw[i] == ',' {
				i = space(raw, i+1)
			}
		}
	}
}

// Unquote is the text of a string; false if raw is none.
func Unquote(raw []byte) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// stringEnd is the index behind the string that begins at i, or the end of b
// if it is not closed.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// valueEnd is the index behind the value that begins at i.
func valueEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			i++
			continue
		}
		if depth == 0 {
			return i
		}
	}
	return i
}
