package tool

import (
	"html"
	"strings"
)

// What stands between the attributes of a tag, and what ends a name.
const (
	between = " \t\n\f\r/"
	endName = between + ">="
)

// attribute is the value of one of a tag's attributes, as browsers read it: the
// first of that name. The tokenizer has such a reader, too; with it every start of
// the program would make its table of entities.
func attribute(tag, name string) string {
	rest := tag[min(len(tag), 1):]
	_, rest = cutAny(rest, endName)
	for {
		rest = strings.TrimLeft(rest, between)
		if rest == "" || rest[0] == '>' {
			return ""
		}
		key, after := cutAny(rest[1:], endName)
		key = rest[:1] + key // which an equals sign may begin
		var value string
		value, rest = attributeValue(after)
		if strings.EqualFold(key, name) {
			return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(unescapeEnded(value))
		}
	}
}

// attributeValue is what follows a name, "" if that is no value.
func attributeValue(s string) (value, rest string) {
	s = strings.TrimLeft(s, " \t\n\f\r")
	s, is := strings.CutPrefix(s, "=")
	if !is {
		return "", s
	}
	s = strings.TrimLeft(s, " \t\n\f\r")
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		value, rest, _ = strings.Cut(s[1:], s[:1])
		return value, rest
	}
	return cutAny(s, " \t\n\f\r>")
}

// unescapeEnded takes entities that end with a semicolon only: &copy=1 is a
// parameter of an address.
func unescapeEnded(s string) string {
	var b strings.Builder
	for {
		plain, entity, is := strings.Cut(s, "&")
		b.WriteString(plain)
		if !is {
			return b.String()
		}
		end := strings.IndexAny(entity, ";&= ")
		if end < 0 || entity[end] != ';' {
			b.WriteByte('&')
			s = entity
			continue
		}
		b.WriteString(html.UnescapeString("&" + entity[:end+1]))
		s = entity[end+1:]
	}
}

// cutAny cuts s before the first of these characters.
func cutAny(s, chars string) (before, after string) {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}
