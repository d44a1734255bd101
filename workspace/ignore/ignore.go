// Package ignore decides by the rules of .gitignore files which names are not
// worth keeping. It reads text and nothing else: no git, no configuration.
//
// The text may come from an agent, so its cost is bounded: a file counts up to
// MaxText bytes, and a pattern costs at most its length times the path's.
package ignore

import (
	"bytes"
	"strings"
)

// MaxText is how much of one file of rules counts; the longest that people
// write are a hundredth of it.
const MaxText = 1 << 20

// Rules are those that hold in one directory: its own, and those of the
// directories above it. The nil value has none.
type Rules struct {
	above *Rules
	base  string // the directory, with a slash at its end; "" for the top
	list  []pattern
}

// pattern is one line.
type pattern struct {
	segments []string // split at slashes; one for a pattern that matches names at any depth
	anchored bool     // matches from the directory of the rules
	negated  bool
	dirOnly  bool
	literal  bool // the only segment has no wildcard
}

// Add returns the rules of the directory dir (no slash at its end, "" for the
// top) with text as its own. It returns r itself if the text has no rule.
func (r *Rules) Add(dir string, text []byte) *Rules {
	own := &Rules{above: r}
	if dir != "" {
		own.base = dir + "/"
	}
	text = bytes.TrimPrefix(text[:min(len(text), MaxText)], []byte("\xef\xbb\xbf"))
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		if p, ok := parse(strings.TrimSuffix(string(line), "\r")); ok {
			own.list = append(own.list, p)
		}
	}
	if len(own.list) == 0 {
		return r
	}
	return own
}

// Match reports whether the name in dir is ignored. Whoever asks has asked about
// dir itself before: nothing below an ignored directory can be taken back.
func (r *Rules) Match(dir, name string, isDir bool) bool {
	path := ""
	for ; r != nil; r = r.above {
		for i := len(r.list) - 1; i >= 0; i-- {
			p := &r.list[i]
			if p.dirOnly && !isDir {
				continue
			}
			if !p.anchored {
				if p.literal && p.segments[0] == name || !p.literal && matchSegment(p.segments[0], name) {
					return !p.negated
				}
				continue
			}
			if path == "" {
				if path = name; dir != "" {
					path = dir + "/" + name
				}
			}
			if rest, ok := strings.CutPrefix(path, r.base); ok && matchPath(p.segments, strings.Split(rest, "/")) {
				return !p.negated
			}
		}
	}
	return false
}

// parse reads one line; ok is false for a comment or nothing.
func parse(line string) (p pattern, ok bool) {
	line = trimSpaces(line)
	if line == "" || line[0] == '#' {
		return p, false
	}
	if line[0] == '!' {
		p.negated, line = true, line[1:]
	} else if strings.HasPrefix(line, `\!`) || strings.HasPrefix(line, `\#`) {
		line = line[1:]
	}
	if strings.HasSuffix(line, "/") {
		p.dirOnly, line = true, line[:len(line)-1]
	}
	p.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return p, false
	}
	p.segments = strings.Split(line, "/")
	if n := len(p.segments); n > 1 && p.segments[n-1] == "**" { // everything inside, not the directory
		p.segments[n-1] = "*"
		p.segments = append(p.segments[:n-1], "**", "*")
	}
	p.literal = len(p.segments) == 1 && !strings.ContainsAny(line, `*?[\`)
	return p, true
}

// trimSpaces cuts spaces at the end, unless a backslash keeps them.
func trimSpaces(s string) string {
	for strings.HasSuffix(s, " ") {
		slashes := len(s) - 1 - len(strings.TrimRight(s[:len(s)-1], `\`))
		if slashes%2 == 1 {
			break
		}
		s = s[:len(s)-1]
	}
	return s
}
