package gateway

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printable is the beginning of s without anything that could forge a line,
// move a cursor or turn text around: such characters become \u{…}.
func printable(s string, limit int) string {
	var b strings.Builder
	for _, r := range s {
		if b.Len() >= limit {
			b.WriteString("…")
			break
		}
		switch {
		case r == utf8.RuneError:
			b.WriteString(`\u{fffd}`)
		case r != ' ' && !unicode.IsGraphic(r), unicode.Is(unicode.Cf, r), r == 0x2028, r == 0x2029:
			b.WriteString(`\u{`)
			b.WriteString(strconv.FormatInt(int64(r), 16))
			b.WriteByte('}')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// field is printable for a field of a log: clean, if it is not nil, takes out what
// must not be in there before it is cut.
func field(s string, clean func(string) string) string {
	p := printable(s, maxField)
	if clean != nil && strings.HasSuffix(p, "…") {
		p = printable(clean(s), maxField)
	}
	return p
}
