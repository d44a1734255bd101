package policy

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// globExpression writes a pattern of paths as a regular expression, which takes
// time in proportion to the name, whatever the pattern is.
//
//   - any characters but a slash
//     **       any directories, as a part between slashes
//     ?        one character but a slash
//     {a,b}    one of these
//     \x       x itself
func globExpression(p string) (string, error) {
	var b strings.Builder
	b.WriteString(`^(?s:`)
	depth := 0
	for i := 0; i < len(p); {
		rest := p[i:]
		begins := i == 0 || p[i-1] == '/' || p[i-1] == '{' || p[i-1] == ',' && depth > 0
		ends := func(s string) bool { return s == "" || depth > 0 && (s[0] == ',' || s[0] == '}') }
		switch c := rest[0]; {
		case begins && strings.HasPrefix(rest, "**/"):
			b.WriteString(`(?:.*/)?`)
			i += 3
		case begins && strings.HasPrefix(rest, "**") && ends(rest[2:]):
			b.WriteString(`.*`)
			i += 2
		case strings.HasPrefix(rest, "**"):
			return "", fmt.Errorf("%q: ** stands alone between slashes", p)
		case c == '*':
			b.WriteString(`[^/]*`)
			i++
		case c == '?':
			b.WriteString(`[^/]`)
			i++
		case c == '[':
			return "", fmt.Errorf("%q: classes of characters are not known here; write {a,b}, or \\[", p)
		case c == '{':
			b.WriteString(`(?:`)
			depth++
			i++
		case c == '}' && depth > 0:
			b.WriteString(`)`)
			depth--
			i++
		case c == ',' && depth > 0:
			b.WriteString(`|`)
			i++
		default:
			if c == '\\' {
				if i++; i == len(p) {
					return "", fmt.Errorf("%q ends with a backslash", p)
				}
				rest = p[i:]
			}
			_, n := utf8.DecodeRuneInString(rest)
			b.WriteString(regexp.QuoteMeta(rest[:n]))
			i += n
		}
	}
	if depth > 0 {
		return "", fmt.Errorf("%q has a brace without its end", p)
	}
	return b.String() + `)$`, nil
}

// nameGlob is a pattern of names, in which * is any text.
type nameGlob string

// fits reports whether the pattern has the name.
func (g nameGlob) fits(name string) bool {
	p := string(g)
	head, rest, starred := strings.Cut(p, "*")
	if !starred {
		return p == name
	}
	name, ok := strings.CutPrefix(name, head)
	if !ok {
		return false
	}
	for {
		part, more, starred := strings.Cut(rest, "*")
		if !starred {
			return strings.HasSuffix(name, part)
		}
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name, rest = name[i+len(part):], more
	}
}
