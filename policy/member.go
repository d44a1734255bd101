package policy

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
)

// member is one of the arguments of a call.
type member struct {
	name string // in lower case: no two differ only in that
	raw  json.RawMessage
}

// membersOf are the members of a JSON object, of which strict.Outer has said
// that each is there once. It reports whether there is one; null is none of any.
func membersOf(input json.RawMessage) (all []member, ok bool) {
	if !json.Valid(input) {
		return nil, false
	}
	rest := bytes.TrimLeft(input, space)
	if rest[0] != '{' {
		return nil, rest[0] == 'n'
	}
	for rest = past(rest[1:]); rest[0] != '}'; rest = past(rest) {
		n := span(rest)
		m := member{name: strings.ToLower(text(rest[:n]))}
		rest = past(rest[n:])
		n = span(rest)
		m.raw, rest = rest[:n:n], rest[n:]
		all = append(all, m)
	}
	return all, true
}

// named are those of the members that have one of these names, in their order.
func named(all []member, names []string) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		for _, name := range names {
			for _, m := range all {
				if m.name == name && !yield(m.raw) {
					return
				}
			}
		}
	}
}

const space = " \t\r\n"

// past is what follows behind spaces and what divides members.
func past(b []byte) []byte { return bytes.TrimLeft(b, space+",:") }

// span is the length of the value that b begins with, which is valid.
func span(b []byte) int {
	depth := 0
	for i := 0; ; i++ {
		switch b[i] {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		default:
			if depth > 0 || i+1 < len(b) && strings.IndexByte(space+",}]", b[i+1]) < 0 {
				continue
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
}
