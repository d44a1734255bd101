package offline

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"harness/internal/lazy"
)

// A masked text has one private character for each literal in it: what stood
// in a fence, in backquotes or in quotes. Rules then split and match plain
// words only, and nothing that was quoted is ever taken for an instruction.
type masked struct {
	text     string
	literals []string
	quoted   []string // the same, with what they stood in
}

const (
	firstMask = '\ue000'
	lastMask  = '\uf8ff'
)

// fence is code between lines of three backquotes; the end may be missing.
var fence = lazy.Regexp{Expr: "(?s)\\s*```[^\\n`]*\\n(.*?)(?:```|$)"}

func mask(text string) masked {
	m := masked{}
	text = strings.Map(func(r rune) rune {
		if r >= firstMask && r <= lastMask {
			return -1
		}
		return r
	}, text)
	text = fence.Get().ReplaceAllStringFunc(text, func(s string) string {
		inside := fence.Get().FindStringSubmatch(s)[1]
		return " " + m.put(inside, inside) + "\n"
	})
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if closing := closingQuote(text, i, r); closing > 0 {
			_, last := utf8.DecodeRuneInString(text[closing:])
			b.WriteString(m.put(text[i+size:closing], text[i:closing+last]))
			i = closing + last
			continue
		}
		b.WriteRune(r)
		i += size
	}
	m.text = b.String()
	return m
}

func (m *masked) put(literal, quoted string) string {
	if len(m.literals) > lastMask-firstMask {
		return literal
	}
	m.literals, m.quoted = append(m.literals, literal), append(m.quoted, quoted)
	return string(firstMask + rune(len(m.literals)-1))
}

var quotes = map[rune]rune{'`': '`', '"': '"', '\'': '\'', '“': '”', '‘': '’', '«': '»', '„': '“'}

// maxQuoted bounds what quotes enclose. Longer things go into backquotes.
const maxQuoted = 4096

// closingQuote is where the quote that opens at i ends, or 0 if none opens
// there. An apostrophe within a word opens nothing.
func closingQuote(text string, i int, r rune) int {
	closing, ok := quotes[r]
	if !ok {
		return 0
	}
	if before, _ := utf8.DecodeLastRuneInString(text[:i]); r != '`' && i > 0 && (unicode.IsLetter(before) || unicode.IsDigit(before)) {
		return 0
	}
	start := i + utf8.RuneLen(r)
	end := len(text)
	if r != '`' {
		end = min(end, start+maxQuoted)
	}
	for j := start; j < end; {
		c, size := utf8.DecodeRuneInString(text[j:])
		if c == closing && j > start {
			after, _ := utf8.DecodeRuneInString(text[j+size:])
			if r == '`' || j+size == len(text) || !unicode.IsLetter(after) && !unicode.IsDigit(after) {
				return j
			}
		}
		if c == '\n' && r != '`' {
			return 0
		}
		j += size
	}
	return 0
}

// bare is s with its literals as they were written, without their quotes.
func (m *masked) bare(s string) string { return m.with(m.literals, s) }

// typed is s as it was written.
func (m *masked) typed(s string) string { return m.with(m.quoted, s) }

func (m *masked) with(literals []string, s string) string {
	var b strings.Builder
	for _, r := range s {
		if n := int(r - firstMask); r >= firstMask && n < len(literals) {
			b.WriteString(literals[n])
		} else {
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}

// literal is the literal s consists of, if it is one.
func (m *masked) literal(s string) (string, bool) {
	s = strings.TrimSpace(s)
	r, size := utf8.DecodeRuneInString(s)
	if n := int(r - firstMask); size == len(s) && r >= firstMask && r <= lastMask && n < len(m.literals) {
		return m.literals[n], true
	}
	return "", false
}
