package policy

import (
	"path"
	"regexp"
	"strings"

	"harness/internal/glob"
	"harness/internal/lazy"
)

// place is a file that a call names, as its name says: links are not followed.
type place struct {
	tree   string // abs as the directory that it may be: with a slash behind it
	abs    string // clean
	rel    string // to the workspace; "" outside of it, and for the workspace itself
	inside bool
	up     bool // it goes through "..", which links can lead elsewhere
	sure   bool // it is an ordinary path whose workspace is known
}

var scheme = lazy.Regexp{Expr: `^[A-Za-z][A-Za-z0-9+.-]*:`}

// cleanDirectory is the workspace's path; "" if it is not absolute.
func cleanDirectory(directory string) string {
	if !path.IsAbs(directory) {
		return ""
	}
	return path.Clean(directory)
}

// place finds out where a name leads.
func (c *call) place(name string) place { return c.placeFrom(place{}, name) }

// placeFrom is place for a name that is relative to a directory of the
// workspace.
func (c *call) placeFrom(at place, name string) place {
	if name == "" || strings.ContainsAny(name, "\x00\\") || name[0] == '~' || strings.Contains(name, ":") && scheme.Get().MatchString(name) || len(name) > 4096 {
		return place{}
	}
	p := place{sure: true}
	for part := range strings.SplitSeq(name, "/") {
		p.up = p.up || part == ".."
	}
	switch {
	case path.IsAbs(name):
		p.tree = path.Clean(name) + "/"
	case c.directory == "":
		return place{}
	case at.rel == "" && c.directory != "/" && name != "." && !p.up && path.Clean(name) == name: // most names are so plain
		p.tree = c.directory + "/" + name + "/"
	default:
		p.tree = path.Join(c.directory, at.rel, name) + "/"
	}
	p.abs = p.tree[:len(p.tree)-1]
	switch base := strings.TrimSuffix(c.directory, "/"); {
	case p.abs == c.directory:
		p.inside = true
	case c.directory != "" && len(p.abs) > len(base) && p.abs[len(base)] == '/' && p.abs[:len(base)] == base:
		p.rel, p.inside = p.abs[len(base)+1:], true
	}
	return p
}

// pathPattern is a pattern of files: relative to the workspace and inside it,
// or absolute.
type pathPattern struct {
	text     string
	absolute bool
	exact    *regexp.Regexp
	folded   *regexp.Regexp // whatever the case of letters

	head, tail string // what every name begins and ends with, whatever its case; a name in ASCII needs no closer look without them
}

func newPathPattern(text string) (*pathPattern, error) {
	p := &pathPattern{text: text, absolute: path.IsAbs(text)}
	name := strings.TrimPrefix(text, "./")
	if !strings.Contains(name, "/") {
		name = "**/" + name
	}
	expr, err := glob.Strict(name)
	if err != nil {
		return p, err
	}
	if p.exact, err = regexp.Compile(expr); err != nil {
		return p, err
	}
	if ascii(name) {
		const special = `*?{},\`
		p.head = name[:len(name)-len(strings.TrimLeftFunc(name, func(c rune) bool { return !strings.ContainsRune(special, c) }))]
		p.tail = strings.TrimPrefix(name[strings.LastIndexAny(name, special)+1:], "/") // **/ may be nothing
	}
	p.folded, err = regexp.Compile("(?i)" + expr)
	return p, err
}

// like reports whether a name fits, whatever its case.
func (p *pathPattern) like(name string) bool {
	far := func(part, whole string) bool { return part != whole && !strings.EqualFold(part, whole) }
	if n := len(name); ascii(name) && (n < len(p.head) || n < len(p.tail) || far(name[:len(p.head)], p.head) || far(name[n-len(p.tail):], p.tail)) {
		return false
	}
	return p.folded.MatchString(name)
}

// covers reports whether the pattern surely has the file.
func (p *pathPattern) covers(f place) bool {
	if !f.sure || f.up {
		return false
	}
	if p.absolute {
		return p.exact.MatchString(f.abs)
	}
	return f.inside && p.exact.MatchString(f.rel)
}

// touches reports whether the file, or the directory that it may be, is or may
// be one of the pattern's: on some disks case does not matter, nor which form
// of Unicode a name has.
func (p *pathPattern) touches(f place) match {
	if !f.sure {
		return maybe
	}
	name := f.rel
	if p.absolute {
		name = f.abs
	} else if !f.inside {
		return no
	}
	switch {
	case p.like(name), p.like(f.tree[len(f.abs)-len(name):]):
		return yes
	case !ascii(p.text) && !ascii(name), f.up && strings.Contains(p.text, "/"):
		return maybe
	}
	return no
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
