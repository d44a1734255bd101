package ignore

// matchPath matches a path against segments, of which "**" stands for any
// number of the path's.
func matchPath(segments, path []string) bool {
	s, p := 0, 0
	star, from := -1, 0
	for p < len(path) {
		switch {
		case s < len(segments) && segments[s] == "**":
			star, from = s, p
			s++
		case s < len(segments) && matchSegment(segments[s], path[p]):
			s, p = s+1, p+1
		case star >= 0:
			from++
			s, p = star+1, from
		default:
			return false
		}
	}
	for s < len(segments) && segments[s] == "**" {
		s++
	}
	return s == len(segments)
}

// matchSegment matches one name against a pattern of *, ?, [a-z] and \x. It
// goes back to the last star only, so it costs at most the product of lengths.
func matchSegment(pattern, name string) bool {
	p, n := 0, 0
	star, from := -1, 0
	for n < len(name) {
		if p < len(pattern) && pattern[p] == '*' {
			star, from = p, n
			p++
			continue
		}
		if width, ok := matchByte(pattern[p:], name[n]); ok {
			p, n = p+width, n+1
			continue
		}
		if star < 0 {
			return false
		}
		from++
		p, n = star+1, from
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// matchByte matches c against the first element of pattern and returns the
// element's width.
func matchByte(pattern string, c byte) (int, bool) {
	if pattern == "" {
		return 0, false
	}
	switch pattern[0] {
	case '?':
		return 1, true
	case '[':
		return matchClass(pattern, c)
	case '\\':
		if len(pattern) > 1 {
			return 2, pattern[1] == c
		}
		return 1, false // git: a lone backslash matches nothing
	}
	return 1, pattern[0] == c
}

// matchClass matches c against a class such as [a-z] or [!._]. One that never
// ends matches nothing.
func matchClass(pattern string, c byte) (int, bool) {
	i, negated, matched := 1, false, false
	if i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^') {
		negated, i = true, i+1
	}
	for first := true; i < len(pattern); first = false {
		if pattern[i] == ']' && !first {
			return i + 1, matched != negated
		}
		if name, ok := posixClass(pattern[i:]); ok {
			is, _ := posix(name, c)
			matched = matched || is
			i += len(name) + len("[::]")
			continue
		}
		lo, width := classByte(pattern[i:])
		hi := lo
		i += width
		if i+1 < len(pattern) && pattern[i] == '-' && pattern[i+1] != ']' {
			hi, width = classByte(pattern[i+1:])
			i += 1 + width
		}
		matched = matched || lo <= c && c <= hi
	}
	return len(pattern), false
}

func classByte(s string) (byte, int) {
	if s[0] == '\\' && len(s) > 1 {
		return s[1], 2
	}
	return s[0], 1
}

func posixClass(s string) (string, bool) {
	if len(s) < 4 || s[:2] != "[:" {
		return "", false
	}
	for i := 2; i+1 < len(s); i++ {
		if s[i:i+2] == ":]" {
			_, known := posix(s[2:i], 0)
			return s[2:i], known
		}
	}
	return "", false
}

// posix reports whether c is of a class, and whether there is one of that name.
func posix(class string, c byte) (is, known bool) {
	letter, number := c|32 >= 'a' && c|32 <= 'z', c >= '0' && c <= '9'
	switch class {
	case "alpha":
		return letter, true
	case "digit":
		return number, true
	case "alnum":
		return letter || number, true
	case "upper":
		return c >= 'A' && c <= 'Z', true
	case "lower":
		return c >= 'a' && c <= 'z', true
	case "space":
		return c == ' ' || c >= '\t' && c <= '\r', true
	case "punct":
		return c > ' ' && c < 0x7f && !letter && !number, true
	}
	return false, false
}
