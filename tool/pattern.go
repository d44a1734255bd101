package tool

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// pattern compiles a pattern of names below dir. It may begin with the
// workspace's own path.
func pattern(p, workspace, dir string) (fits func(name string) bool, err error) {
	if rest, ok := strings.CutPrefix(p, strings.TrimSuffix(workspace, "/")+"/"); ok {
		p, dir = rest, "."
	}
	p = strings.TrimPrefix(p, "./")
	if !strings.Contains(p, "/") {
		p = "**/" + p
	}
	re, err := globExpression(p)
	if err != nil || path.IsAbs(p) {
		return nil, fmt.Errorf("%q is not a pattern of file names relative to the workspace", p)
	}
	prefix := ""
	if dir != "." {
		prefix = dir + "/"
	}
	return func(name string) bool {
		rel, below := strings.CutPrefix(name, prefix)
		return below && re.MatchString(rel)
	}, nil
}

// globExpression writes a pattern as a regular expression, which takes time in
// proportion to the name, whatever the pattern is.
//
//   - any characters but a slash
//     **       any directories, as a part between slashes; otherwise as *
//     ?        one character but a slash
//     [a-z]    one of these; [^a-z] or [!a-z] one of the others
//     {a,b}    one of these patterns
//     \x       x itself
func globExpression(p string) (*regexp.Regexp, error) {
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
		case c == '*':
			b.WriteString(`[^/]*`)
			for i < len(p) && p[i] == '*' {
				i++
			}
		case c == '?':
			b.WriteString(`[^/]`)
			i++
		case c == '[':
			class, n := globClass(rest)
			if n == 0 {
				return nil, fmt.Errorf("%q has no end", rest)
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
					return nil, fmt.Errorf("%q ends with a backslash", p)
				}
				rest = p[i:]
			}
			_, n := utf8.DecodeRuneInString(rest)
			b.WriteString(regexp.QuoteMeta(rest[:n]))
			i += n
		}
	}
	if depth > 0 {
		return nil, fmt.Errorf("%q has a brace without its end", p)
	}
	return regexp.Compile(b.String() + `)$`)
}

// ends reports whether a pattern, or one of those in braces, is at its end.
func ends(rest string, depth int) bool {
	return rest == "" || depth > 0 && (rest[0] == ',' || rest[0] == '}')
}

// globClass is a class of characters as a regular expression, and its length in
// the pattern.
func globClass(p string) (class string, length int) {
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
