// Package glob reads patterns of file names as regular expressions, which take
// time in proportion to the name, whatever the pattern is.
//
//	?        one character but a slash
//	*        any characters but a slash
//	**       any directories, as a part between slashes
//	[a-z]    one of these; [^a-z] or [!a-z] one of the others
//	{a,b}    one of these patterns
//	\x       x itself
package glob

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Lenient writes a pattern as an expression for whole names. Elsewhere than
// between slashes, ** is as *.
func Lenient(p string) (string, error) { return expression(p, false) }

// Strict is Lenient for patterns on which something depends: it refuses what
// others read differently, which is ** within a name and classes of characters.
func Strict(p string) (string, error) { return expression(p, true) }

func expression(p string, strict bool) (string, error) {
	var b strings.Builder
	b.WriteString(`^(?s:`)
	depth := 0
	for i := 0; i < len(p); {
		rest := p[i:]
		begins := i == 0 || p[i-1] == '/' || p[i-1] == '{' || p[i-1] == ',' && depth > 0
		switch c := rest[0]; {
		case begins && strings.HasPrefix(rest, "**/"):
			b.WriteString(`(?:.*/)?`)
			i += 3
		case begins && strings.HasPrefix(rest, "**") && ends(rest[2:], depth):
			b.WriteString(`.*`)
			i += 2
		case strict && strings.HasPrefix(rest, "**"):
			return "", fmt.Errorf("%q: ** stands alone between slashes", p)
		case c == '*':
			b.WriteString(`[^/]*`)
			for i < len(p) && p[i] == '*' {
				i++
			}
		case c == '?':
			b.WriteString(`[^/]`)
			i++
		case strict && c == '[':
			return "", fmt.Errorf("%q: classes of characters are not known here; write {a,b}, or \\[", p)
		case c == '[':
			class, n := classOf(rest)
			if n == 0 {
				return "", fmt.Errorf("%q has no end", rest)
			}
			b.WriteString(class)
			i += n
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

// ends reports whether a pattern, or one of those in braces, is at its end.
func ends(rest string, depth int) bool {
	return rest == "" || depth > 0 && (rest[0] == ',' || rest[0] == '}')
}

// classOf is a class of characters as a regular expression, and its length in
// the pattern.
func classOf(p string) (class string, length int) {
	var b strings.Builder
	b.WriteByte('[')
	i := 1
	if i < len(p) && (p[i] == '^' || p[i] == '!') {
		b.WriteString(`^/`)
		i++
	}
	for first := true; i < len(p); first = false {
		switch c := p[i]; {
		case c == ']' && !first:
			b.WriteByte(']')
			return b.String(), i + 1
		case c == '-' && !first && i+1 < len(p) && p[i+1] != ']':
			b.WriteByte('-')
			i++
		default:
			if c == '\\' {
				if i++; i == len(p) {
					return "", 0
				}
			}
			_, n := utf8.DecodeRuneInString(p[i:])
			switch p[i] {
			case '\\', ']', '[', '^', '-':
				b.WriteByte('\\')
			}
			b.WriteString(p[i : i+n])
			i += n
		}
	}
	return "", 0
}
