package offline

import (
	"cmp"
	"path"
	"strings"

	"harness/internal/lazy"
)

func makeEdit(file, old, with int) func(*parser, []string) []step {
	return func(p *parser, m []string) []step {
		if !p.isFile(m[file], m[0]) {
			return nil
		}
		return p.edits(p.fileName(m[file]), m[old], m[with], false)
	}
}

// makeContext names the file that the next steps are about.
func makeContext(p *parser, m []string) []step {
	if !p.isFile(m[1], m[0]) {
		return nil
	}
	p.here = p.fileName(m[1])
	return []step{}
}

func makeEditHere(p *parser, m []string) []step {
	file := cmp.Or(p.here, p.file)
	if file == "" {
		return nil
	}
	return p.edits(file, m[1], m[2], false)
}

func makeWriteHere(p *parser, m []string) []step {
	if p.here == "" {
		return nil
	}
	return []step{{kind: write, path: p.here, text: p.content(m[1])}}
}

// fileName is the name of a file, which may be "it".
func (p *parser) fileName(s string) string {
	name := p.name(s)
	if strings.EqualFold(name, "it") && p.file != "" {
		return p.file
	}
	return name
}

// pronouns stand for a literal that comes later.
var pronouns = lazy.Words{Text: "this it following that these"}

func makeWriteTo(p *parser, m []string) []step {
	content := m[1]
	if m[3] != "" && pronouns.Has(strings.ToLower(strings.TrimSpace(content))) {
		content = m[3]
	}
	if vague(content) || !p.isFile(m[2], m[0]) {
		return nil
	}
	return []step{{kind: write, path: p.name(m[2]), text: p.content(content)}}
}

func makeWrite(file, content int) func(*parser, []string) []step {
	return func(p *parser, m []string) []step {
		if vague(m[content]) || !p.isFile(m[file], m[0]) {
			return nil
		}
		return []step{{kind: write, path: p.name(m[file]), text: p.content(m[content])}}
	}
}

// content is what goes into a file: it ends with a newline.
func (p *parser) content(s string) string {
	if l, ok := p.literal(s); ok {
		s = l
	} else {
		s = p.typed(s)
	}
	return strings.TrimSuffix(s, "\n") + "\n"
}

func makeEmpty(p *parser, m []string) []step {
	if !p.isFile(m[1], m[0]) {
		return nil
	}
	return []step{{kind: write, path: p.name(m[1])}}
}

func makeEmpties(p *parser, m []string) (steps []step) {
	for _, f := range p.list(m[1]) {
		if !p.isFile(f, "") {
			return nil
		}
		steps = append(steps, step{kind: write, path: p.fileName(f)})
	}
	return steps
}

// prosaic are the ends of names of files that hold plain words.
var prosaic = lazy.Words{Text: ".txt .md .csv .log .rst"}

// makeAppend does not take "add tests to main.go" for a line that reads "tests".
func makeAppend(p *parser, m []string) []step {
	if vague(m[3]) || !p.isFile(m[4], m[0]) {
		return nil
	}
	file := p.fileName(m[4])
	if _, quoted := p.literal(m[3]); !quoted && m[2] == "" && strings.EqualFold(m[1], "add") && !prosaic.Has(path.Ext(file)) {
		return nil
	}
	return []step{{kind: run, text: "printf '%s\\n' " + quote(p.bare(m[3])) + " >> " + quote(file), path: file}}
}

func makeExecutable(p *parser, m []string) []step {
	file := p.file
	if m[1] != "" {
		file = p.fileName(m[1])
	}
	if file == "" {
		return nil
	}
	return []step{{kind: run, text: "chmod +x -- " + quote(file)}}
}

func makeRemove(p *parser, m []string) []step {
	var names []string
	for _, f := range p.list(m[1]) {
		if !p.isFile(f, m[0]) {
			return nil
		}
		names = append(names, quote(p.fileName(f)))
	}
	return []step{{kind: run, text: "rm -- " + strings.Join(names, " ")}}
}

func makeMove(p *parser, m []string) []step {
	if !p.isFile(m[2], m[0]) {
		return nil
	}
	verb := "mv"
	if strings.EqualFold(m[1], "copy") {
		verb = "cp"
	}
	return []step{{kind: run, text: verb + " -- " + quote(p.name(m[2])) + " " + quote(p.name(m[3]))}}
}

// looksLikeFile keeps "show me the way" from being the file "the way".
var looksLikeFile = lazy.Regexp{Expr: `^[^\s]*[./][^\s]*$|^[A-Z][A-Z_]+$|^(?:Make|Docker)file$`}

// saysFile is a clause that calls something a file.
var saysFile = lazy.Regexp{Expr: `(?i)\b(?:files?|script|called|named)\s`}

// isFile reports whether s is the name of a file: it is quoted, looks like
// one, was written before, or is called one.
func (p *parser) isFile(s, clause string) bool {
	_, quoted := p.literal(s)
	name := p.fileName(s)
	if !quoted && strings.ContainsAny(name, " \t\n") {
		return false
	}
	return name != "" && (quoted || looksLikeFile.Get().MatchString(name) || name == p.file || saysFile.Get().MatchString(clause))
}
