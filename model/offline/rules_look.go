package offline

import (
	"strings"

	"harness/internal/lazy"
)

// everywhere are names for the whole workspace.
var everywhere = lazy.Words{Text: "workspace project code repo repository files directory folder here codebase . everything everywhere"}

func (p *parser) dir(s string) string {
	if name := p.name(s); !everywhere.Has(strings.ToLower(name)) {
		return strings.TrimSuffix(name, "/")
	}
	return ""
}

func makeList(p *parser, m []string) []step {
	dir := ""
	if len(m) > 1 {
		dir = p.dir(m[1])
	}
	return []step{{kind: glob, text: "*", path: dir}}
}

func makeGlob(p *parser, m []string) []step {
	pattern := p.bare(m[1])
	if !strings.ContainsAny(pattern, "*?[") {
		return nil // a text to search for
	}
	if !strings.Contains(pattern, "/") {
		pattern = "**/" + pattern
	}
	return []step{{kind: glob, text: pattern, path: p.dir(m[2])}}
}

func makeGlobOf(p *parser, m []string) []step {
	end, ok := kindsOfFiles[strings.ToLower(m[1])]
	if !ok {
		return nil
	}
	return []step{{kind: glob, text: "**/*." + end, path: p.dir(m[2])}}
}

func makeGrep(what, where int) func(*parser, []string) []step {
	return func(p *parser, m []string) []step {
		s := step{kind: grep, text: p.bare(m[what])}
		if where > 0 {
			s.path = p.dir(m[where])
		}
		return []step{s}
	}
}

func makeRead(p *parser, m []string) (steps []step) {
	for _, f := range p.list(m[1]) {
		if !p.isFile(f, "") {
			return nil
		}
		steps = append(steps, step{kind: read, path: p.fileName(f)})
	}
	return steps
}

var comma = lazy.Regexp{Expr: `\s*,\s*(?:and\s+)?|\s+and\s+`}

// list splits "a, b and c".
func (p *parser) list(s string) []string { return comma.Get().Split(strings.TrimSpace(s), -1) }
