package policy

import (
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// commandPattern is words of a command. A word that is * stands for any number
// of words, also none; in a word, * is any text.
type commandPattern struct{ words []patternWord }

type patternWord struct {
	glob nameGlob
	any  bool // any number of words
}

// newCommandPattern reads a pattern, with the quotes of a shell.
func newCommandPattern(s string) (commandPattern, error) {
	wrong := fmt.Errorf("%q is not one plain command; write each by itself, quote what is meant literally", s)
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(s), "")
	if err != nil || len(file.Stmts) != 1 || len(file.Stmts[0].Redirs) > 0 || file.Stmts[0].Background || file.Stmts[0].Negated {
		return commandPattern{}, wrong
	}
	call, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 {
		return commandPattern{}, wrong
	}
	var p commandPattern
	for i, w := range call.Args {
		got := wordOf(w)
		_, bare := w.Parts[0].(*syntax.Lit)
		switch {
		case got.text == "*" && bare:
			p.words = append(p.words, patternWord{any: true})
			if i == 0 {
				return commandPattern{}, fmt.Errorf("%q: a pattern begins with a program; leave commands out to mean every one", s)
			}
		case !got.sure && (!strings.Contains(got.text, "*") || strings.ContainsAny(got.text, "?[{")) || got.text == "":
			return commandPattern{}, wrong
		case got.sure && strings.Contains(got.text, "*"):
			return commandPattern{}, fmt.Errorf("%q: a literal * cannot be meant", s)
		default:
			p.words = append(p.words, patternWord{glob: nameGlob(got.text)})
		}
	}
	return p, nil
}

// covers reports whether a command is surely meant, word for word.
func (p commandPattern) covers(argv []word) bool {
	if len(argv) == 0 || !argv[0].sure || !p.words[0].glob.fits(argv[0].text) {
		return false
	}
	return p.run(argv, func(pw patternWord, w word, first bool) bool {
		return w.sure && pw.glob.fits(w.text)
	}, func(w word) bool { return w.sure || w.glob }, func(word) bool { return false })
}

// touches says whether a command is meant, or may be when the shell has
// expanded its words. A program is also meant by its path.
func (p commandPattern) touches(argv []word) match {
	if len(argv) == 0 {
		return no
	}
	like := func(pw patternWord, w word, first bool) bool {
		if first {
			return pw.glob.fits(w.text) || nameGlob(strings.ToLower(string(pw.glob))).fits(strings.ToLower(path.Base(w.text)))
		}
		return pw.glob.fits(w.text)
	}
	if argv[0].sure && !like(p.words[0], argv[0], true) { // most are about something else
		return no
	}
	any := func(word) bool { return true }
	if p.run(argv, func(pw patternWord, w word, first bool) bool { return w.sure && like(pw, w, first) }, any, func(word) bool { return false }) {
		return yes
	}
	if p.run(argv, func(pw patternWord, w word, first bool) bool { return !w.sure || like(pw, w, first) }, any, func(w word) bool { return !w.sure }) {
		return maybe
	}
	return no
}

// run follows the words of a command through the pattern, all ways at once. one
// says whether a word fits a word, some whether * may have it, flexible whether
// it may stand for any number of words itself.
func (p commandPattern) run(argv []word, one func(patternWord, word, bool) bool, some, flexible func(word) bool) bool {
	var few, other [16]bool
	at, next := few[:], other[:]
	if n := len(p.words) + 1; n > len(few) {
		at, next = make([]bool, n), make([]bool, n)
	} else {
		at, next = at[:n], next[:n]
	}
	at[0] = true
	p.skip(at)
	for i, w := range argv {
		clear(next)
		for j, here := range at {
			if !here {
				continue
			}
			if flexible(w) { // none, or as many as the pattern wants
				for k := j; k < len(next); k++ {
					next[k] = true
				}
			}
			if j == len(p.words) {
				continue
			}
			if pw := p.words[j]; pw.any {
				next[j] = next[j] || some(w)
			} else if one(pw, w, i == 0) {
				next[j+1] = true
			}
		}
		p.skip(next)
		at, next = next, at
	}
	return at[len(p.words)]
}

// skip lets each * stand for no word.
func (p commandPattern) skip(at []bool) {
	for j, pw := range p.words {
		if at[j] && pw.any {
			at[j+1] = true
		}
	}
}
