package offline

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"harness/internal/lazy"
)

// changes are plain wordings of changes to files; those that rules have as well,
// but would read too literally, come first.
var changes = sync.OnceValue(func() []rule {
	return []rule{
		{form(`(?:fix|correct)(?: (?:the )?(?:typo|misspelling|spelling|word|text)(?: of)?)? (.+?) in(?: the)?(?: file)? ({F})[:,]?(?: so that)?(?: it)? (?:should (?:be|read)|must be|to|into|with|by|is) (.+)`), makeFix(2, 1, 3)},
		{form(`(?:fix|correct|rename)(?: (?:the )?(?:typo|misspelling|spelling|word|text|function|variable))? (.+?) (?:to|into|with|by|->|=>) (.+?) (?:in|inside)(?: the)?(?: file)? ({F})`), makeFix(3, 1, 2)},
		{form(`in(?: the)?(?: file)? ({F}),?(?: the)?(?: word| text)? (.+?) (?:should|must) (?:be|read) (.+)`), makeFix(1, 2, 3)},
		{form(`(?:replace|change|swap|substitute) (?:every|each|all)(?: of)?(?: the)?(?: (?:occurrences?|instances?|appearances?) of)?(?: the)?(?: word| text)? (.+?) (?:with|by|to|for|into) (.+?) in(?: the)?(?: file)? ({F})`), makeFix(3, 1, 2)},
		{form(`(?:write|save|put|store|redirect|send)(?: the)? (?:output|result)s? of(?: the)?(?: command)?(?: running)? (.+?) (?:to|in|into|as) ` + aFile + `({F})`), makeRedirect},
		{form(`run (.+?) and (?:save|write|put|store)(?: its| the)? (?:output|result)s? (?:to|in|into|as) ` + aFile + `({F})`), makeRedirect},
		{form(`(append|add)(?: (?:(?:a|the|another) )?(?:new )?(line|lines|text)(?: saying| with| that says)?)?:? (.+?) (?:to|at)(?: the (?:end|bottom) of)?(?: the)?(?: file)? ({F})`), makeAppend},
		{form(`(?:make|let|have) ({F}) (?:prints?|echo|output) (.+)`), makePrinter},
		{form(`overwrite(?: the)?(?: contents? of)?(?: the)?(?: file)? ({F}) with(?: the)?(?: text| line| contents?)?:? (.+)`), makeWrite(1, 2)},
		{form(`(?:write|put|save|store) ({L} (?:in|into|to|as) {F}(?:,? and|,) {L} (?:in|into|to|as) .+)`), makeWriteEach},
		{form(`(?:create|make|write|add|save|i need|i want|i would like|i'd like|give me) ` + aFile + `({F}),?(?: and)? (?:that|which|printing|to)(?: just| only)?(?: prints?| echoes| echo| outputs?)?(?: the)?(?: text| words?)? (.+)`), makePrinter},
		{form(`(?:i need|i want|i would like|i'd like|give me|there should be) ` + aFile + `({F}),?:? (?:with|containing|that says|that contains|which contains)(?: the)?(?: following)?(?: text| line| contents?| words?)?(?: of)?:? (.+?)(?: (?:in|inside) it)?`), makeWrite(1, 2)},
		{form(`(?:delete|remove|rm|erase)(?: the)?(?: files?)? (.+?) (?:by (?:running|using|calling)|using|with|via)(?: the)? (?:{L}|rm\b.*)`), makeRemove},
		{form(`(?:double-?check|check|verify|confirm)(?: it| that| this| the file)?(?: by (?:reading|printing|showing)(?: it| the file)?(?: back)?)?`), makeLookAgain},
		{form(`(?:read|cat|show|open|display|view|print)(?: me)? (?:it|the (?:new )?file)(?: back| again| to me)?`), makeLookAgain},
	}
})

// makeFix replaces a text wherever it is in a file: what was asked for is a file
// without it.
func makeFix(file, old, with int) func(*parser, []string) []step {
	return func(p *parser, m []string) []step {
		if !p.isFile(m[file], m[0]) || vague(m[old]) || vague(m[with]) {
			return nil
		}
		return p.edits(p.fileName(m[file]), m[old], m[with], true)
	}
}

// another is where what replaces a text ends, and the next to be replaced begins.
var another = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?is)^(.+?)(?:,? and |, )(.+?) (?:with|by|to|for|into) (.+)$`)
})

// edits are the changes of a file that one clause names: "a to b and c to d".
func (p *parser) edits(file, old, with string, all bool) (steps []step) {
	for {
		m := another().FindStringSubmatch(with)
		if m == nil {
			return append(steps, step{kind: edit, path: file, old: p.bare(old), text: p.bare(with), all: all})
		}
		steps = append(steps, step{kind: edit, path: file, old: p.bare(old), text: p.bare(m[1]), all: all})
		old, with = m[2], m[3]
	}
}

// each is a content and its file, and what comes behind them.
var each = form(`({L}) (?:in|into|to|as) ({F})(?:(?:,? and|,) (.+))?`)

// makeWriteEach writes several files that one clause names, each with its own.
func makeWriteEach(p *parser, m []string) (steps []step) {
	for rest := m[1]; rest != ""; {
		m := each().FindStringSubmatch(rest)
		if m == nil || !p.isFile(m[2], "") {
			return nil
		}
		steps, rest = append(steps, step{kind: write, path: p.name(m[2]), text: p.content(m[1])}), m[3]
	}
	return steps
}

func makeRedirect(p *parser, m []string) []step {
	if vague(m[1]) || !p.isFile(m[2], m[0]) {
		return nil
	}
	file := p.fileName(m[2])
	return []step{{kind: run, text: p.command(m[1]) + " > " + quote(file), path: file}}
}

// prints is the part of a clause that asks for a program of one line.
var prints = lazy.Regexp{Expr: `(?i)\s(?:prints?|printing|echoes|echo|outputs?)\s`}

// printers make a program that prints a text, by the end of its name.
var printers = map[string]func(text string) string{
	".sh":   func(s string) string { return "echo " + quote(s) + "\n" },
	".bash": func(s string) string { return "echo " + quote(s) + "\n" },
	".py":   func(s string) string { return "print(" + strconv.Quote(s) + ")\n" },
	".js":   func(s string) string { return "console.log(" + strconv.Quote(s) + ")\n" },
	".rb":   func(s string) string { return "puts " + quote(s) + "\n" },
	".go": func(s string) string {
		return fmt.Sprintf("package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Println(%q)\n}\n", s)
	},
}

func makePrinter(p *parser, m []string) []step {
	if !prints.Get().MatchString(m[0]) || vague(m[2]) || !p.isFile(m[1], m[0]) {
		return nil
	}
	name := p.name(m[1])
	printer, ok := printers[path.Ext(name)]
	if !ok {
		return nil
	}
	return []step{{kind: write, path: name, text: printer(strings.TrimSpace(p.bare(m[2])))}}
}

func makeLookAgain(p *parser, _ []string) []step {
	if p.file == "" {
		return nil
	}
	return []step{{kind: read, path: p.file}}
}
