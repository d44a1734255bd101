package policy

import "strings"

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
