package policy

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one word of a command, as far as it can be told before the shell
// expands it.
type word struct {
	text string
	sure bool // it is this text and nothing else
	glob bool // the shell makes names of files of it, none of which is an option
}

// wordOf reads a word.
func wordOf(w *syntax.Word) word {
	if text := w.Lit(); text != "" && !strings.ContainsAny(text, `\*?[{,`) && !strings.Contains(text, "..") && text[0] != '~' && text[0] != '=' { // most are plain
		return word{text: text, sure: true}
	}
	var b strings.Builder
	out := word{sure: true}
	special := "" // characters that the shell looks at, because nothing quotes them
	for i, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			plain, marks := unquoted(p.Value)
			if i == 0 && (strings.HasPrefix(p.Value, "~") || strings.HasPrefix(p.Value, "=")) {
				out.sure = false // a home, or zsh's path of a program
			}
			b.WriteString(plain)
			special += marks
		case *syntax.SglQuoted:
			if p.Dollar && strings.Contains(p.Value, `\`) {
				out.sure = false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar {
				out.sure = false
			}
			for _, q := range p.Parts {
				lit, ok := q.(*syntax.Lit)
				if !ok {
					out.sure = false
					continue
				}
				b.WriteString(doubleQuoted(lit.Value))
			}
		default:
			out.sure = false
		}
	}
	out.text = b.String()
	switch {
	case strings.Contains(special, "{") && strings.Contains(special, ","), strings.Contains(special, `\`):
		out.sure = false
	case strings.ContainsAny(special, "*?["):
		out.glob = out.sure && harmlessGlob(out.text)
		out.sure = false
	}
	return out
}

// unquoted is a text outside quotes without its backslashes, and the characters
// in it that expand.
func unquoted(s string) (plain, special string) {
	if !strings.ContainsAny(s, `\*?[{,`) && !strings.Contains(s, "..") {
		return s, ""
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i++; i == len(s) { // shells differ
				special += `\`
			} else if s[i] != '\n' {
				b.WriteByte(s[i])
			}
			continue
		case '*', '?', '[', '{', ',':
			special += string(c)
		case '.':
			if strings.HasPrefix(s[i:], "..") {
				special += ","
			}
		}
		b.WriteByte(s[i])
	}
	return b.String(), special
}

// doubleQuoted is a text inside double quotes without its backslashes.
func doubleQuoted(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			if i++; s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// harmlessGlob reports whether names that a pattern becomes are neither options
// nor "..".
func harmlessGlob(s string) bool {
	if c := s[0]; c == '-' || c == '*' || c == '?' || c == '[' || c >= 0x80 {
		return false
	}
	for part := range strings.SplitSeq(s, "/") {
		if len(part) > 1 && part[0] == '.' && strings.IndexByte("*?[", part[1]) >= 0 {
			return false
		}
	}
	return true
}

// quoted is a word as a shell reads it back, on one line.
func quoted(s string) string {
	if s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=@%+,-") == "" {
		return s
	}
	s = strings.NewReplacer(`'`, `'\''`, "\n", `'$'\n''`).Replace(s)
	return "'" + s + "'"
}
